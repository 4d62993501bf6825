//! The first bytes of a word as two numbers: most words are read, hashed and compared by them, eight
//! bytes at a time, without a step for each letter.

use crate::stem::{Language, Script};

/// The first bytes of a word; zeros after a shorter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub u64, pub u64);

impl Key {
    /// Words up to this length are known by their key alone.
    pub(crate) const BYTES: usize = 16;

    /// The key of a word.
    pub(crate) fn of(word: &str) -> Self {
        let bytes = &word.as_bytes()[..word.len().min(Self::BYTES)];
        let mut padded = [0; Self::BYTES];
        padded[..bytes.len()].copy_from_slice(bytes);
        Self::from_bytes(&padded)
    }

    /// Visits the word of so many bytes that has this key.
    pub(crate) fn with_text<T>(self, bytes: usize, visit: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; Self::BYTES];
        let (halves, _) = text.as_chunks_mut();
        halves[0] = self.0.to_le_bytes();
        halves[1] = self.1.to_le_bytes();
        visit(str::from_utf8(&text[..bytes]).unwrap_or_default())
    }

    #[inline]
    fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (halves, _) = bytes.as_chunks();
        Self(u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]))
    }
}

/// A word of lowercase ASCII letters and digits; its first letter may be a capital.
pub(crate) struct PlainWord {
    /// The key of the word in lowercase.
    pub key: Key,
    /// Its length.
    pub bytes: usize,
}

impl PlainWord {
    /// Its script.
    pub(crate) const SCRIPT: Script = Script::Stemmed(Language::English);

    /// The plain word at the beginning of a text, if it is shorter than [`Key::BYTES`] and not
    /// followed by another letter.
    #[inline]
    pub(crate) fn at_start(text: &[u8]) -> Option<Self> {
        match text.first_chunk() {
            Some(first) => Self::at_start_of(first),
            None => Self::at_start_of_short(text),
        }
    }

    /// The same for a short text, as if spaces followed.
    #[inline(never)]
    fn at_start_of_short(text: &[u8]) -> Option<Self> {
        let mut padded = [b' '; Key::BYTES];
        padded[..text.len()].copy_from_slice(text);
        Self::at_start_of(&padded)
    }

    #[inline]
    fn at_start_of(first: &[u8; Key::BYTES]) -> Option<Self> {
        let is_capital = first[0].is_ascii_uppercase();
        let mut key = Key::from_bytes(first);
        key.0 |= u64::from(is_capital) * 0x20;
        let (others, later) = (others(key.0), others(key.1));
        // All bits or none: no branch that depends on the length of the word.
        let is_long = u64::from(others == 0).wrapping_neg();
        let end = others.trailing_zeros()
            + (later.trailing_zeros() & u32::from(is_long != 0).wrapping_neg());
        let bytes = (end / 8) as usize;
        let is_word = bytes > 0 && is_separator(*first.get(bytes)?);
        is_word.then(|| Self {
            key: Key(key.0 & below(others), key.1 & below(later) & is_long),
            bytes,
        })
    }
}

/// Whether a byte is ASCII, and neither a letter nor a digit.
#[inline]
pub(crate) fn is_separator(byte: u8) -> bool {
    const SEPARATORS: [bool; 256] = {
        let mut separators = [false; 256];
        let mut byte = 0_u8;
        while byte < 0x80 {
            separators[byte as usize] = !byte.is_ascii_alphanumeric();
            byte += 1;
        }
        separators
    };
    SEPARATORS[usize::from(byte)]
}

/// The highest bit of each byte that is no lowercase ASCII letter and no digit.
#[inline]
fn others(bytes: u64) -> u64 {
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    const HIGHEST: u64 = all(0x80);
    let low = bytes & !HIGHEST;
    // The highest bit of each byte tells whether it is at least this one.
    let at_least = |byte: u8| low + all(0x80 - byte);
    let letters = at_least(b'a') ^ at_least(b'z' + 1);
    let digits = at_least(b'0') ^ at_least(b'9' + 1);
    !((letters | digits) & !bytes) & HIGHEST
}

/// All bits of the bytes before the first one whose highest bit is set.
#[inline]
fn below(highest: u64) -> u64 {
    let first = highest & highest.wrapping_neg();
    (first >> 7).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = PlainWord::at_start(text.as_bytes());
        let word = |word: PlainWord| {
            let text = text[..word.bytes].to_ascii_lowercase();
            assert_eq!(word.key, Key::of(&text), "for {text:?}");
            text
        };
        assert_eq!(found.map(word).as_deref(), expected, "for {text:?}");
    }

    #[test]
    fn plain_words_end_before_the_sixteenth_byte() {
        check("send the message", Some("send"));
        check("s3-bucket and more", Some("s3"));
        check("k8s\0and some more", Some("k8s"));
        check("abcdefgh and more", Some("abcdefgh"));
        check("abcdefghijklmno ", Some("abcdefghijklmno"));
        check("abcdefghijklmnop ", None);
        check("abcdefghijklmno", Some("abcdefghijklmno"));
        check("abcdefghijklmnop", None);
        check("send", Some("send"));
        check("Send it", Some("send"));
        check("", None);
        check("sendEmail to them", None);
        check("Send it to all of them", Some("send"));
        check("-send the message", None);
        check("café is not plain", None);
        check("é is not plain at all", None);
        check("né", None);
    }

    #[test]
    fn every_byte_is_a_letter_or_not() {
        for byte in 0..=u8::MAX {
            let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let bytes = u64::from_le_bytes([b'a', byte, 0, 0, 0, 0, 0, 0]);
            let plain = others(bytes).trailing_zeros() / 8;
            assert_eq!(plain, 1 + u32::from(is_plain), "{byte}");
            assert_eq!(
                is_separator(byte),
                byte.is_ascii() && !byte.is_ascii_alphanumeric()
            );
        }
    }
}
