//! Bytes of a class file, big-endian: checked reading, and writing.

use crate::outcome::Malformed;

/// Reads from a slice, never beyond its end.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Returns the number of bytes read.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.offset == self.bytes.len()
    }

    /// Returns the bytes read since `start`.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.offset).unwrap_or_default()
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let rest = self.bytes.get(self.offset..);
        let array = rest.and_then(|rest| rest.first_chunk::<N>());
        let array = *array.ok_or(self.malformed("the end"))?;
        self.offset += N;
        Ok(array)
    }

    #[inline]
    pub(crate) fn u1(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u2(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u4(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads the next `len` bytes.
    #[inline]
    pub(crate) fn slice(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let end = self.offset.checked_add(len);
        let slice = end.and_then(|end| self.bytes.get(self.offset..end));
        let slice = slice.ok_or(self.malformed("the end"))?;
        self.offset += len;
        Ok(slice)
    }

    /// Reads bytes that follow their length in four bytes.
    pub(crate) fn slice_with_length(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.u4()?;
        self.slice(len as usize)
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed {
            what,
            offset: self.offset,
        }
    }
}

/// Appends big-endian numbers.
pub(crate) trait Put {
    fn put_u1(&mut self, value: u8);
    fn put_u2(&mut self, value: u16);
    fn put_u4(&mut self, value: u32);
    fn put(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u1(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u2(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_u4(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
