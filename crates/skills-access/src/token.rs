//! Which texts can be tokens.

use crate::limits::MAX_TOKEN_BYTES;

/// Why a text cannot be a token. The text itself is not repeated: it may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// There is no text.
    #[error("it is empty")]
    Empty,
    /// A header cannot carry this character, or not unchanged.
    #[error("its character {position} is not visible ASCII, or a space at an end")]
    Character {
        /// Counted from 1.
        position: usize,
    },
    /// It is too long for a header.
    #[error("it has more than {MAX_TOKEN_BYTES} bytes")]
    TooLong,
}

/// Checks that clients can send the token in a header, which loses spaces at its ends: visible ASCII
/// characters, and spaces between them.
pub fn check_token(token: &str) -> Result<(), InvalidToken> {
    if token.is_empty() {
        return Err(InvalidToken::Empty);
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(InvalidToken::TooLong);
    }
    let last = token.chars().count() - 1;
    let is_inner = |at| at > 0 && at < last;
    let is_valid = |at, c: char| c.is_ascii_graphic() || (c == ' ' && is_inner(at));
    let invalid = token.chars().enumerate().find(|(at, c)| !is_valid(*at, *c));
    match invalid {
        Some((at, _)) => Err(InvalidToken::Character { position: at + 1 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let check = |token: &str, expected| assert_eq!(check_token(token), expected, "{token:?}");
        let character = |position| Err(InvalidToken::Character { position });
        check("s3cret", Ok(()));
        check("a.b_c~d+e/f=", Ok(()));
        check("", Err(InvalidToken::Empty));
        check(" ", character(1));
        check("a b", Ok(()));
        check(" a", character(1));
        check("a ", character(2));
        check("secret\n", character(7));
        check("sécret", character(2));
        check(&"x".repeat(MAX_TOKEN_BYTES), Ok(()));
        check(&"x".repeat(MAX_TOKEN_BYTES + 1), Err(InvalidToken::TooLong));
    }
}
