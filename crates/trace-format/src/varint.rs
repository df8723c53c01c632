//! Unsigned LEB128: seven bits a byte, least significant first, the top bit set
//! on all bytes but the last.

/// Length of the longest encoding of a `u64`.
pub const MAX_LEN: usize = 10;

/// The reason why no number could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarintError {
    /// The bytes end inside the number.
    Truncated,
    /// The number does not fit 64 bits.
    Overflow,
}

/// Returns the encoding of `value` and its length.
#[inline]
pub fn encode(mut value: u64) -> ([u8; MAX_LEN], usize) {
    let mut bytes = [0; MAX_LEN];
    let mut len = 0;
    for byte in &mut bytes {
        len += 1;
        *byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            break;
        }
        *byte |= 0x80;
    }
    (bytes, len)
}

/// Reads the number at the start of `bytes`: its value and encoded length.
#[inline]
pub fn decode(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    // Most numbers have one byte, and nearly all others two or three.
    match *bytes {
        [a, ..] if a < 0x80 => Ok((u64::from(a), 1)),
        [a, b, ..] if b < 0x80 => Ok((u64::from(a & 0x7f) | u64::from(b) << 7, 2)),
        [a, b, c, ..] if c < 0x80 => {
            let low = u64::from(a & 0x7f) | u64::from(b & 0x7f) << 7;
            Ok((low | u64::from(c) << 14, 3))
        }
        _ => decode_long(bytes),
    }
}

#[cold]
fn decode_long(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(MAX_LEN).enumerate() {
        let is_last_possible = index + 1 == MAX_LEN;
        if is_last_possible && byte > 1 {
            return Err(VarintError::Overflow);
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((value, index + 1));
        }
    }
    Err(VarintError::Truncated)
}

/// Appends the encoding of `value` to `out`.
pub fn push(out: &mut Vec<u8>, value: u64) {
    let (bytes, len) = encode(value);
    out.extend_from_slice(&bytes[..len]);
}
