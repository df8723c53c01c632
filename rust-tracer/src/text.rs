//! Text as it comes from the JVM.
//!
//! The JVM's symbols are *modified* UTF-8 (Java Virtual Machine Specification,
//! section 4.4.7): NUL is two bytes and a character beyond the basic plane is a
//! pair of surrogates of three bytes each. A trace is plain UTF-8.

use std::borrow::Cow;

/// The most that is kept of a text, in bytes. No symbol is longer; a thread's
/// name can be.
pub(crate) const MAX_LEN: usize = 65_535;

/// `bytes` as UTF-8: modified UTF-8 is converted, everything else that is not
/// UTF-8 replaced by U+FFFD. Cut off after 65,535 bytes, or before the
/// first byte that needs conversion when memory is short.
pub fn from_jvm(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.get(..MAX_LEN).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => converted(bytes).map_or(Cow::Borrowed(valid_prefix(bytes)), Cow::Owned),
    }
}

fn valid_prefix(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// `None` when memory is short.
fn converted(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    // The longest replacement has three bytes for one.
    text.try_reserve_exact(bytes.len().saturating_mul(3)).ok()?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (character, len) = first_character(rest);
        text.push(character);
        rest = rest.get(len..).unwrap_or_default();
    }
    Some(text)
}

/// The first character of `bytes`, which are not empty, and its length.
fn first_character(bytes: &[u8]) -> (char, usize) {
    match *bytes {
        [byte, ..] if byte.is_ascii() => (byte.into(), 1),
        [0xc0, 0x80, ..] => ('\0', 2),
        [0xed, 0xa0..=0xaf, _, 0xed, 0xb0..=0xbf, _, ..] => surrogate_pair(bytes),
        _ => {
            let longest = bytes.get(..4).unwrap_or(bytes);
            match valid_prefix(longest).chars().next() {
                Some(character) => (character, character.len_utf8()),
                None => (char::REPLACEMENT_CHARACTER, 1),
            }
        }
    }
}

fn surrogate_pair(bytes: &[u8]) -> (char, usize) {
    let &[_, high_1, high_2, _, low_1, low_2, ..] = bytes else {
        return (char::REPLACEMENT_CHARACTER, 1);
    };
    let bits = |byte: u8, mask: u8| u32::from(byte & mask);
    let high = bits(high_1, 0x0f) << 6 | bits(high_2, 0x3f);
    let low = bits(low_1, 0x0f) << 6 | bits(low_2, 0x3f);
    let code_point = 0x1_0000_u32.saturating_add(high << 10 | low);
    (
        char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER),
        6,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_borrowed() {
        assert!(matches!(
            from_jvm("naïve \u{10ffff}".as_bytes()),
            Cow::Borrowed("naïve \u{10ffff}")
        ));
    }

    #[test]
    fn modified_utf8_is_converted() {
        // U+0000 and U+1F512, as the JVM writes them.
        let bytes = b"a\xc0\x80b\xed\xa0\xbd\xed\xb4\x92c";
        assert_eq!(from_jvm(bytes), "a\0b\u{1f512}c");
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        // A lone surrogate, a byte out of place, a character cut off.
        assert_eq!(from_jvm(b"a\xed\xa0\xbdb"), "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(from_jvm(b"\xff\xfe"), "\u{fffd}\u{fffd}");
        assert_eq!(from_jvm(b"\xc3\xa9\xe2\x82"), "é\u{fffd}\u{fffd}");
    }

    #[test]
    fn long_text_is_cut_off() {
        assert_eq!(from_jvm(&[b'x'; 100_000]).len(), MAX_LEN);
        let cut_inside_a_character = "é".repeat(40_000);
        assert!(from_jvm(cut_inside_a_character.as_bytes()).ends_with("é\u{fffd}"));
    }
}
