//! How a version is named: by its number, or by the beginning of its digest.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::escape::quote;

/// The least digits of a digest that name a version.
const LEAST_DIGITS: usize = 4;
/// The digits of a whole digest.
const DIGITS: usize = 64;

/// A version of an entry: `3`, or `sha256:ab12`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VersionRef {
    /// The version with this number.
    Number(u64),
    /// The version whose digest begins with these hexadecimal digits.
    Digest(Box<str>),
}

impl FromStr for VersionRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let refuse = |problem: String, hint: &str| {
            Err(Error::invalid_hint(
                format!("version {}", quote(text)),
                problem,
                hint,
            ))
        };
        if let Some(digits) = text.strip_prefix("sha256:") {
            let is_hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
            if !digits.bytes().all(is_hex) || digits.len() > DIGITS {
                let problem = format!("is not `sha256:` and at most {DIGITS} of 0-9 and a-f");
                return refuse(problem, HINT);
            }
            if digits.len() < LEAST_DIGITS {
                let problem = format!("has too few digits: at least {LEAST_DIGITS}");
                return refuse(problem, HINT);
            }
            return Ok(Self::Digest(digits.into()));
        }
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return refuse("is not a number from 1 or a digest".into(), HINT);
        }
        match text.parse() {
            Ok(0) => refuse("must be at least 1".into(), HINT),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => refuse("is too large".into(), HINT),
        }
    }
}

const HINT: &str = "write a number such as `3`, or the beginning of a digest such as `sha256:ab12`";

impl fmt::Display for VersionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Digest(digits) => write!(f, "sha256:{digits}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = match text.parse::<VersionRef>() {
            Ok(version) => version.to_string(),
            Err(error) => error.to_text(),
        };
        assert!(got.contains(expected), "for {text:?}: {got:?}");
    }

    #[test]
    fn versions() {
        check("1", "1");
        check(" 3 ", "3");
        check("007", "7");
        check("18446744073709551615", "18446744073709551615");
        check("sha256:ab12", "sha256:ab12");
        check(&format!("sha256:{}", "0".repeat(64)), "sha256:000");
        check("0", "version `0` must be at least 1");
        check("", "is not a number from 1 or a digest");
        check("-1", "is not a number from 1 or a digest");
        check("1.5", "is not a number");
        check("v3", "is not a number");
        check("latest", "is not a number");
        check("18446744073709551616", "is too large");
        check(&"9".repeat(10_000), "is too large");
        check("sha256:", "has too few digits: at least 4");
        check("sha256:abc", "has too few digits");
        check("sha256:AB12", "of 0-9 and a-f");
        check("sha256:xyzw", "of 0-9 and a-f");
        check(&format!("sha256:{}", "0".repeat(65)), "at most 64");
    }
}
