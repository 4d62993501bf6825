//! The SHA-256 digest of a file.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::escape::quote;

/// A SHA-256 digest. Its text is `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list of skills prints thousands, and formatting each byte would take most of its time.
        let mut text = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
        for (digits, byte) in text[7..].chunks_exact_mut(2).zip(self.0) {
            digits[0] = HEX[usize::from(byte >> 4)];
            digits[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bytes = || -> Option<[u8; 32]> {
            let digits = text.strip_prefix("sha256:")?.as_bytes();
            let digit = |digit: u8| HEX.iter().position(|known| *known == digit);
            let byte = |pair: &[u8]| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok();
            let pairs = digits.chunks_exact(2);
            let is_whole = pairs.remainder().is_empty();
            let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
            bytes.filter(|_| is_whole)?.try_into().ok()
        };
        bytes().map(Self).ok_or_else(|| {
            Error::invalid_hint(
                format!("digest {}", quote(text)),
                "is not `sha256:` and 64 lowercase hexadecimal digits",
                "`skills history ID --json` has the whole digest",
            )
        })
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_printed_with_its_algorithm() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        let short = &digest.to_string()[..70];
        for text in [
            "",
            "sha256:",
            short,
            "sha512:00",
            &digest.to_string().to_uppercase(),
        ] {
            text.parse::<Digest>().unwrap_err();
        }
    }
}
