//! The words of all documents, and the terms they stand for: words with one stem are one term.
//!
//! All texts are in one buffer: most words are short, and an allocation for each would cost more
//! than the word.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::key::Key;
use crate::stem::{Script, stem};
use crate::stop_words::is_stop_word;
use crate::vectors::WordRows;
use crate::words::Word;

/// The number of a term.
pub(crate) type Term = u32;

/// The term of all stop words, which no document is found by.
pub(crate) const STOP_WORD: Term = 0;

/// Begins the text of a term that is a part of a word, so that it is not taken for a word.
const PART: char = '\u{2}';

/// Words of a script without a stemmer have trigrams from this length on.
const TRIGRAMS_FROM: usize = 4;

#[derive(Clone, Copy)]
struct Span {
    start: u32,
    bytes: u16,
}

/// A word as documents have it.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    key: Key,
    start: u32,
    pub term: Term,
    /// Its rows in the table of vectors.
    pub rows: WordRows,
    bytes: u8,
}

impl Known {
    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// Its number: no two words of a dictionary begin at one place.
    pub(crate) fn number(&self) -> WordNumber {
        self.start
    }

    fn span(&self) -> Span {
        Span {
            start: self.start,
            bytes: self.bytes.into(),
        }
    }
}

/// The number of a word: where its text begins.
pub(crate) type WordNumber = u32;

/// Words and terms.
pub(crate) struct Dictionary {
    texts: String,
    terms: Vec<Span>,
    by_text: HashTable<Term>,
    words: HashTable<Known>,
    hasher: DefaultHashBuilder,
    /// Random, so that nobody can write a text whose words have one hash.
    seeds: [u64; 2],
}

impl Default for Dictionary {
    fn default() -> Self {
        let stop_word = Span { start: 0, bytes: 0 };
        let hasher = DefaultHashBuilder::default();
        Self {
            seeds: [0, 1].map(|number: u64| hasher.hash_one(number)),
            texts: String::new(),
            terms: vec![stop_word],
            by_text: HashTable::new(),
            words: HashTable::new(),
            hasher,
        }
    }
}

impl Dictionary {
    /// How many terms there are.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The text of a term.
    pub(crate) fn text(&self, term: Term) -> &str {
        slice(&self.texts, self.terms[term as usize])
    }

    /// Whether a term is a whole word.
    pub(crate) fn is_word(&self, term: Term) -> bool {
        !self.text(term).starts_with(PART)
    }

    /// The term of a text.
    pub(crate) fn find(&self, text: &str) -> Option<Term> {
        let hash = self.hash(text);
        let same = |&term: &Term| self.text(term) == text;
        self.by_text.find(hash, same).copied()
    }

    /// The number of the next term.
    pub(crate) fn next_term(&self) -> Term {
        number(self.terms.len())
    }

    /// The texts of all terms but that of stop words, in order of their numbers.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        let spans = self.terms.iter().skip(1);
        spans.map(|&span| slice(&self.texts, span))
    }

    /// How many bytes the texts have.
    pub(crate) fn bytes(&self) -> u32 {
        number(self.texts.len())
    }

    /// A word as documents have it. `long` is its text if that is longer than its key.
    #[expect(
        clippy::inline_always,
        reason = "it is the innermost loop of reading a document"
    )]
    #[inline(always)]
    pub(crate) fn find_word(&self, key: Key, bytes: u8, long: &str) -> Option<&Known> {
        let hash = self.hash_word(key, bytes, long);
        self.words
            .find(hash, |known| self.is_word_of(known, key, bytes, long))
    }

    /// The same, not for the innermost loop.
    pub(crate) fn find_text(&self, key: Key, text: &str) -> Option<&Known> {
        let bytes = word_bytes(text);
        let hash = self.hash_word(key, bytes, text);
        self.words
            .find(hash, |known| self.is_word_of(known, key, bytes, text))
    }

    #[inline]
    fn is_word_of(&self, known: &Known, key: Key, bytes: u8, long: &str) -> bool {
        known.key == key
            && known.bytes == bytes
            && (usize::from(bytes) <= Key::BYTES || slice(&self.texts, known.span()) == long)
    }

    /// The words of documents that begin like this and are not stop words, with their terms.
    pub(crate) fn words_from(&self, start: &str) -> impl Iterator<Item = (&str, Term)> {
        let words = self.words().filter(|(_, known)| known.term != STOP_WORD);
        let words = words.map(|(word, known)| (word, known.term));
        words.filter(move |(word, _)| word.starts_with(start))
    }

    /// A text as bytes: a hash of `str` has a second step, for its end.
    fn hash(&self, text: &str) -> u64 {
        hash(&self.hasher, text)
    }

    #[inline]
    fn hash_word(&self, key: Key, bytes: u8, long: &str) -> u64 {
        hash_word(&self.hasher, self.seeds, key, bytes, long)
    }

    /// Adds a word that it does not have.
    pub(crate) fn add_word(&mut self, key: Key, text: &str, term: Term, rows: WordRows) -> Known {
        let of_term = self.terms.get(term as usize).copied();
        let of_term = of_term.filter(|&span| slice(&self.texts, span) == text);
        let span = of_term.unwrap_or_else(|| self.add_text(text));
        let known = Known {
            key,
            start: span.start,
            bytes: word_bytes(text),
            term,
            rows,
        };
        let hash = self.hash_word(key, known.bytes, text);
        let Self {
            words,
            texts,
            hasher,
            seeds,
            ..
        } = self;
        let rehash = |known: &Known| {
            let text = slice(texts, known.span());
            hash_word(hasher, *seeds, known.key, known.bytes, text)
        };
        words.insert_unique(hash, known, rehash);
        known
    }

    /// The term of a text, which gets the next number if it is new.
    pub(crate) fn find_or_add(&mut self, text: &str) -> Term {
        if let Some(term) = self.find(text) {
            return term;
        }
        let term = number(self.terms.len());
        let span = self.add_text(text);
        self.terms.push(span);
        let (texts, terms, hasher) = (&self.texts, &self.terms, &self.hasher);
        let rehash = |&term: &Term| hash(hasher, slice(texts, terms[term as usize]));
        self.by_text.insert_unique(hash(hasher, text), term, rehash);
        term
    }

    /// Its words, with their texts.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&str, &Known)> {
        let words = self.words.iter();
        words.map(|known| (slice(&self.texts, known.span()), known))
    }

    fn add_text(&mut self, text: &str) -> Span {
        let start = number(self.texts.len());
        self.texts.push_str(text);
        Span {
            start,
            bytes: u16::try_from(text.len()).expect("a short word"),
        }
    }
}

fn hash(hasher: &DefaultHashBuilder, text: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// One multiplication for a word that is known by its key: its two halves are folded, so that all
/// bits of the key reach all bits of the hash.
#[inline]
fn hash_word(hasher: &DefaultHashBuilder, seeds: [u64; 2], key: Key, bytes: u8, long: &str) -> u64 {
    if usize::from(bytes) > Key::BYTES {
        return hash(hasher, long);
    }
    let product = u128::from(key.0 ^ seeds[0]) * u128::from(key.1 ^ seeds[1]);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    {
        (product >> 64) as u64 ^ product as u64
    }
}

fn slice(texts: &str, Span { start, bytes }: Span) -> &str {
    let start = start as usize;
    &texts[start..start + usize::from(bytes)]
}

/// The length of a word. A word has at most `MAX_WORD_BYTES` before it is folded, and folding adds
/// few.
pub(crate) fn word_bytes(word: &str) -> u8 {
    u8::try_from(word.len()).expect("a word of at most 255 bytes")
}

/// A position as a number. 4 GiB of distinct words do not fit into memory either.
fn number(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 4 Gi words")
}

/// The text of the term of a word; none for a stop word.
pub(crate) fn stem_of(word: Word<'_>) -> Option<std::borrow::Cow<'_, str>> {
    match word.script {
        _ if is_stop_word(word.text) => None,
        Script::Stemmed(language) => Some(stem(language, word.text)),
        Script::Unstemmed | Script::Unspaced => Some(word.text.into()),
    }
}

/// Visits the texts of the terms that are parts of a word of a document: characters and bigrams in
/// a script without spaces, trigrams in a script without a stemmer.
pub(crate) fn for_each_part(word: Word<'_>, mut visit: impl FnMut(&str)) {
    let chars: Vec<char> = match word.script {
        Script::Stemmed(_) => return,
        Script::Unstemmed | Script::Unspaced => word.text.chars().collect(),
    };
    let sizes = match word.script {
        Script::Unspaced => 1..=2,
        _ if chars.len() < TRIGRAMS_FROM => return,
        _ => 3..=3,
    };
    let mut part = String::new();
    for size in sizes {
        for window in chars.windows(size) {
            part.clear();
            part.push(PART);
            part.extend(window);
            visit(&part);
        }
    }
}

/// The texts of the terms that a word of a request is looked up by, if it has to be looked up by
/// its parts: the largest ones that it has.
pub(crate) fn request_parts(word: Word<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    for_each_part(word, |part| parts.push(part.to_owned()));
    if word.script == Script::Unspaced && parts.len() > 1 {
        // PART and two characters.
        parts.retain(|part| part.chars().count() == 3);
    }
    parts
}
