//! The first bytes of a word as two numbers: most words are read, hashed and compared by them, eight
//! bytes at a time, without a step for each letter.

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

    #[inline]
    fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (halves, _) = bytes.as_chunks();
        Self(u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]))
    }

    #[inline]
    fn cut(self, bytes: usize) -> Self {
        let mask = |bytes: usize| {
            let bits = u64::BITS - 8 * u32::try_from(bytes).unwrap_or_default();
            u64::MAX.checked_shr(bits).unwrap_or(0)
        };
        Self(
            self.0 & mask(bytes.min(8)),
            self.1 & mask(bytes.saturating_sub(8)),
        )
    }
}

/// A word of lowercase ASCII letters and digits; its first letter may be a capital.
pub(crate) struct PlainWord {
    /// The key of the word in lowercase.
    pub key: Key,
    /// Its length.
    pub bytes: usize,
    /// Whether it begins with a capital.
    pub is_capital: bool,
}

impl PlainWord {
    /// The plain word at the beginning of a text, if it ends before the [`Key::BYTES`]th byte of it
    /// and is not followed by another letter.
    #[inline]
    pub(crate) fn at_start(text: &[u8]) -> Option<Self> {
        let first: &[u8; Key::BYTES] = text.first_chunk()?;
        let is_capital = first[0].is_ascii_uppercase();
        let mut key = Key::from_bytes(first);
        key.0 |= u64::from(is_capital) * 0x20;
        let low = plain_bytes(key.0);
        let bytes = low + usize::from(low == 8) * plain_bytes(key.1);
        let after = *first.get(bytes)?;
        let is_word = bytes > 0 && after.is_ascii() && !after.is_ascii_alphanumeric();
        is_word.then(|| Self {
            key: key.cut(bytes),
            bytes,
            is_capital,
        })
    }
}

/// How many of the first bytes are lowercase ASCII letters or digits.
#[inline]
fn plain_bytes(bytes: u64) -> usize {
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    const HIGHEST: u64 = all(0x80);
    let low = bytes & !HIGHEST;
    // The highest bit of each byte tells whether it is at least this one.
    let at_least = |byte: u8| low + all(0x80 - byte);
    let letters = at_least(b'a') ^ at_least(b'z' + 1);
    let digits = at_least(b'0') ^ at_least(b'9' + 1);
    let others = !((letters | digits) & !bytes) & HIGHEST;
    (others.trailing_zeros() / 8) as usize
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
            assert_eq!(word.is_capital, text != text[..word.bytes], "for {text:?}");
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
        check("send", None);
        check("sendEmail to them", None);
        check("-send the message", None);
        check("café is not plain", None);
        check("é is not plain at all", None);
    }

    #[test]
    fn every_byte_is_a_letter_or_not() {
        for byte in 0..=u8::MAX {
            let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let bytes = u64::from_le_bytes([b'a', byte, 0, 0, 0, 0, 0, 0]);
            assert_eq!(plain_bytes(bytes), 1 + usize::from(is_plain), "{byte}");
        }
    }
}
