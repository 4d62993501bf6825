//! The words of a document between splitting it and looking them up. Many words are split, then
//! looked up, then counted: short loops whose turns do not depend on each other, so that the
//! processor waits for the memory of several words at once.

use std::ops::Range;

use crate::dictionary::word_bytes;
use crate::field::Field;
use crate::key::{Key, PlainWord};
use crate::stem::Script;
use crate::words::Word;

/// Words that are kept before they are looked up: few enough for the nearest cache.
const TOKENS_MAX: usize = 512;

/// A word of a document.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub key: Key,
    /// Where its text begins, if it is longer than its key.
    start: u32,
    pub bytes: u8,
    script: Script,
    pub joined: bool,
}

impl Token {
    /// Whether it is one term, without parts that are terms as well.
    pub(crate) fn is_one_term(&self) -> bool {
        matches!(self.script, Script::Stemmed(_))
    }
}

/// Where words are from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub field: Field,
    /// Whether the vector of the document has them.
    pub has_meaning: bool,
}

/// Words of a document, in order.
#[derive(Default)]
pub(crate) struct Tokens {
    all: Vec<Token>,
    /// The origin of words, and where the next ones begin.
    origins: Vec<(Origin, usize)>,
    /// The texts of those that are longer than their keys.
    long: String,
}

impl Tokens {
    pub(crate) fn is_full(&self) -> bool {
        self.all.len() >= TOKENS_MAX
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.origins.clear();
        self.long.clear();
    }

    #[inline]
    pub(crate) fn push_plain(&mut self, key: Key, bytes: usize) {
        self.all.push(Token {
            key,
            start: 0,
            bytes: u8::try_from(bytes).unwrap_or_default(),
            script: PlainWord::SCRIPT,
            joined: false,
        });
    }

    pub(crate) fn push(&mut self, word: Word<'_>) {
        let Word {
            text,
            key,
            script,
            joined,
        } = word;
        let mut start = 0;
        if text.len() > Key::BYTES {
            start = u32::try_from(self.long.len()).unwrap_or_default();
            self.long.push_str(text);
        }
        self.all.push(Token {
            key,
            start,
            bytes: word_bytes(text),
            script,
            joined,
        });
    }

    /// The words after the last origin are from this one.
    pub(crate) fn end(&mut self, origin: Origin) {
        self.origins.push((origin, self.all.len()));
    }

    pub(crate) fn all(&self) -> &[Token] {
        &self.all
    }

    /// The places of words of each origin.
    pub(crate) fn by_origin(&self) -> impl Iterator<Item = (Origin, Range<usize>)> {
        let mut start = 0;
        self.origins.iter().map(move |&(origin, end)| {
            let range = start..end;
            start = end;
            (origin, range)
        })
    }

    /// The text of a word that is longer than its key.
    #[inline]
    pub(crate) fn long(&self, token: &Token) -> &str {
        if usize::from(token.bytes) <= Key::BYTES {
            return "";
        }
        let start = token.start as usize;
        &self.long[start..start + usize::from(token.bytes)]
    }

    /// Visits a word with its text.
    pub(crate) fn with_word<T>(&self, token: &Token, visit: impl FnOnce(Word<'_>) -> T) -> T {
        let &Token {
            key,
            script,
            joined,
            ..
        } = token;
        let visit = |text: &str| {
            visit(Word {
                text,
                key,
                script,
                joined,
            })
        };
        let bytes = usize::from(token.bytes);
        if bytes <= Key::BYTES {
            key.with_text(bytes, visit)
        } else {
            visit(self.long(token))
        }
    }
}
