//! Encoding of numbers and texts in recordings with `compressed integers` (JDK:
//! `jdk.jfr.internal.consumer.RecordingInput` and `StringParser`).

/// The bytes of a recording under construction.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
}

impl Encoder {
    /// The first byte of a text: its encoding.
    const NO_TEXT: u8 = 0;
    const CONSTANT: u8 = 2;
    const UTF_8: u8 = 3;

    /// Adds a number: seven bits a byte, the lowest first, as long as there are more; a ninth byte
    /// has eight.
    pub(super) fn number(&mut self, number: u64) {
        let mut left = number;
        for _ in 0..8 {
            if left < 0x80 {
                break;
            }
            self.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.bytes.push(left as u8);
    }

    /// Adds a signed number.
    pub(super) fn signed(&mut self, number: i64) {
        self.number(number as u64);
    }

    /// Adds an `int`, of which readers take 32 bits.
    pub(super) fn int(&mut self, number: i32) {
        self.number(u64::from(number as u32));
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.bytes.push(u8::from(flag));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes.push(Self::UTF_8);
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds a text, or its absence.
    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.bytes.push(Self::NO_TEXT),
        }
    }

    /// Adds a text that is a constant.
    pub(super) fn text_constant(&mut self, key: u64) {
        self.bytes.push(Self::CONSTANT);
        self.number(key);
    }

    /// Adds an event of a type: its size in bytes, which includes the size itself, its type, and
    /// what `write` adds.
    pub(super) fn event(&mut self, event_type: u64, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; SIZE_BYTES]);
        self.number(event_type);
        write(self);
        let size = self.bytes.len() - start;
        self.bytes[start..start + SIZE_BYTES].copy_from_slice(&padded(size));
    }
}

/// The bytes of a size that is filled in later. A chunk is far smaller than their limit.
const SIZE_BYTES: usize = 4;

/// Encodes a number in exactly `SIZE_BYTES` bytes: the higher ones add no bits.
fn padded(number: usize) -> [u8; SIZE_BYTES] {
    let byte = |at: usize| (number >> (7 * at)) as u8 & 0x7f;
    [byte(0) | 0x80, byte(1) | 0x80, byte(2) | 0x80, byte(3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a number as `RecordingInput.readLong` does.
    fn read(bytes: &mut impl Iterator<Item = u8>) -> u64 {
        let mut number = 0;
        for at in 0..9 {
            let byte = u64::from(bytes.next().expect("a byte"));
            if at == 8 {
                return number | byte << 56;
            }
            number |= (byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    #[test]
    fn numbers_are_read_as_they_were() {
        let powers = (0..64).map(|bit| 1_u64 << bit);
        let mut numbers: Vec<_> = powers.flat_map(|power| [power - 1, power]).collect();
        numbers.push(u64::MAX);
        let mut encoder = Encoder::default();
        for &number in &numbers {
            encoder.number(number);
        }
        let mut bytes = encoder.bytes.into_iter();
        for number in numbers {
            assert_eq!(read(&mut bytes), number);
        }
        assert_eq!(bytes.next(), None);
    }

    #[test]
    fn the_size_of_an_event_counts_itself() {
        for len in [0, 1, 127, 128, 100_000] {
            let mut encoder = Encoder::default();
            encoder.event(300, |event| event.bytes.resize(event.bytes.len() + len, 7));
            let size = encoder.bytes.len() as u64;
            let mut bytes = encoder.bytes.into_iter();
            assert_eq!(read(&mut bytes), size);
            assert_eq!(read(&mut bytes), 300);
            assert_eq!(bytes.len(), len);
        }
    }
}
