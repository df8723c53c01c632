//! Cursors over the bytes of a segment or of a chunk's payload.

use crate::error::{DoesNotFit, Malformed};
use crate::varint::{self, VarintError};

/// Writes into a slice of fixed size.
pub(crate) struct ByteWriter<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> ByteWriter<'a> {
    /// Creates a writer that appends to the first `len` of `bytes`.
    pub(crate) fn append(bytes: &'a mut [u8], len: usize) -> Self {
        Self { bytes, len }
    }

    /// Returns the number of bytes written, including those before the start.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn byte(&mut self, value: u8) -> Result<(), DoesNotFit> {
        let place = self.bytes.get_mut(self.len).ok_or(DoesNotFit)?;
        *place = value;
        self.len += 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn varint(&mut self, value: impl Into<u64>) -> Result<(), DoesNotFit> {
        let mut value = value.into();
        while value >= 0x80 {
            self.byte((value & 0x7f) as u8 | 0x80)?;
            value >>= 7;
        }
        self.byte(value as u8)
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), DoesNotFit> {
        self.varint(text.len() as u64)?;
        let end = self.len.checked_add(text.len()).ok_or(DoesNotFit)?;
        let place = self.bytes.get_mut(self.len..end).ok_or(DoesNotFit)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Reads from a slice.
#[derive(Clone, Debug)]
pub(crate) struct ByteReader<'a> {
    rest: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        let (&byte, rest) = self.rest.split_first().ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Malformed> {
        let (value, len) = varint::decode(self.rest).map_err(|error| match error {
            VarintError::Truncated => Malformed::Truncated,
            VarintError::Overflow => Malformed::TooLarge,
        })?;
        self.rest = &self.rest[len..];
        Ok(value)
    }

    /// Reads a varint that must not exceed the range of `T`.
    #[inline]
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.varint()?).map_err(|_| Malformed::TooLarge)
    }

    /// Reads the next `len` bytes.
    pub(crate) fn slice(&mut self, len: u64) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(len).map_err(|_| Malformed::Truncated)?;
        let (slice, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(slice)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let len = self.varint()?;
        std::str::from_utf8(self.slice(len)?).map_err(|_| Malformed::Text)
    }
}
