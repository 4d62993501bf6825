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
struct Known {
    key: Key,
    start: u32,
    term: Term,
    /// Its rows in the table of vectors.
    rows: WordRows,
    bytes: u8,
}

impl Known {
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
}

impl Default for Dictionary {
    fn default() -> Self {
        let stop_word = Span { start: 0, bytes: 0 };
        Self {
            texts: String::new(),
            terms: vec![stop_word],
            by_text: HashTable::new(),
            words: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
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

    /// Visits the terms of a word of a document. New ones get a number. Returns the word, unless
    /// its script has no words.
    #[inline]
    pub(crate) fn for_each_term(
        &mut self,
        word: Word<'_>,
        mut visit: impl FnMut(Term),
    ) -> Option<(WordNumber, WordRows)> {
        let mut known = None;
        if word.script != Script::Unspaced {
            let Known {
                term, rows, start, ..
            } = self.find_or_add_word(word);
            visit(term);
            known = Some((start, rows));
        }
        if !matches!(word.script, Script::Stemmed(_)) {
            for_each_part(word, |part| visit(self.find_or_add(part)));
        }
        known
    }

    #[inline]
    fn find_or_add_word(&mut self, word: Word<'_>) -> Known {
        let Word { text, key, .. } = word;
        let hash = hash_word(&self.hasher, key, text);
        let is_same = |known: &Known| {
            known.key == key
                && usize::from(known.bytes) == text.len()
                && (text.len() <= Key::BYTES || slice(&self.texts, known.span()) == text)
        };
        match self.words.find(hash, is_same) {
            Some(known) => *known,
            None => self.add_word(word, hash),
        }
    }

    /// The words of documents that begin like this and are not stop words, with their terms.
    pub(crate) fn words_from(&self, start: &str) -> impl Iterator<Item = (&str, Term)> {
        let words = self.words.iter().filter(|known| known.term != STOP_WORD);
        let words = words.map(|known| (slice(&self.texts, known.span()), known.term));
        words.filter(move |(word, _)| word.starts_with(start))
    }

    /// A text as bytes: a hash of `str` has a second step, for its end.
    #[inline]
    fn hash(&self, text: &str) -> u64 {
        hash(&self.hasher, text)
    }

    #[cold]
    fn add_word(&mut self, word: Word<'_>, hash: u64) -> Known {
        let (term, span) = match stem_of(word) {
            None => (STOP_WORD, self.add_text(word.text)),
            Some(stem) => {
                let term = self.find_or_add(&stem);
                let span = if *stem == *word.text {
                    self.terms[term as usize]
                } else {
                    self.add_text(word.text)
                };
                (term, span)
            }
        };
        let known = Known {
            key: word.key,
            start: span.start,
            // A word has at most `MAX_WORD_BYTES` before it is folded, and folding adds few.
            bytes: u8::try_from(span.bytes).expect("a word of at most 255 bytes"),
            term,
            rows: WordRows::of(word),
        };
        let (texts, hasher) = (&self.texts, &self.hasher);
        let rehash = |known: &Known| hash_word(hasher, known.key, slice(texts, known.span()));
        self.words.insert_unique(hash, known, rehash);
        known
    }

    fn find_or_add(&mut self, text: &str) -> Term {
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

#[inline]
fn hash_word(hasher: &DefaultHashBuilder, key: Key, word: &str) -> u64 {
    if word.len() > Key::BYTES {
        return hash(hasher, word);
    }
    let mut hasher = hasher.build_hasher();
    hasher.write_u64(key.0);
    hasher.write_u64(key.1);
    hasher.finish()
}

fn slice(texts: &str, Span { start, bytes }: Span) -> &str {
    let start = start as usize;
    &texts[start..start + usize::from(bytes)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::for_each_word;

    fn terms(dictionary: &mut Dictionary, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        for_each_word(text, |word| {
            dictionary.for_each_term(word, |term| terms.push(term));
        });
        let terms = terms.into_iter().filter(|&term| term != STOP_WORD);
        let text = |term: Term| dictionary.text(term).replace(PART, "");
        terms.map(text).collect()
    }

    #[test]
    fn words_with_one_stem_are_one_term() {
        let mut dictionary = Dictionary::default();
        let found = terms(&mut dictionary, "The deployments deployed: deploy them");
        assert_eq!(found, ["deploy", "deploy", "deploy"]);
        assert_eq!(dictionary.len(), 2, "with the term of stop words");
        assert_eq!(terms(&mut dictionary, "книгами книги"), ["книг", "книг"]);
    }

    #[test]
    fn other_scripts_have_parts() {
        let mut dictionary = Dictionary::default();
        let found = terms(&mut dictionary, "搜索码 שלום");
        assert_eq!(
            found,
            ["搜", "索", "码", "搜索", "索码", "שלום", "שלו", "לום"]
        );
        let term = dictionary.find("שלום").unwrap();
        assert!(dictionary.is_word(term) && !dictionary.is_word(1));
    }
}
