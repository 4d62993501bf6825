//! Reading a document: which terms it has, how often in which field, and what it means. A
//! dictionary is only looked into, so that several threads read documents at once.

use std::mem;
use std::ops::Range;

use crate::counter::{Counted, Counter};
use crate::dictionary::{Dictionary, WordNumber};
use crate::document::Document;
use crate::documents::Lengths;
use crate::field::Field;
use crate::headings::for_each_line;
use crate::limits::MAX_VECTOR_BODY_BYTES;
use crate::new_words::{Found, NO_WORD, NewWords};
use crate::tokens::{Origin, Tokens};
use crate::vectors::{DocumentMeaning, Vector};
use crate::words::{Run, Runs, for_each_word_of_run};

/// What was read from a document.
pub(crate) struct Reading {
    /// Its terms, in the order of their first use; new ones as [`NewWords`] numbers them.
    pub terms: Vec<Counted>,
    /// By field: the number of words.
    pub lengths: Lengths,
    /// What the document means.
    pub vector: Vector,
}

/// Reads documents, one after the other. Its memory is reused between them.
#[derive(Default)]
pub(crate) struct Reader {
    /// The words that the dictionary does not have.
    new: NewWords,
    tokens: Tokens,
    /// What was found for each of the tokens.
    found: Vec<Found>,
    counter: Counter,
    meaning: Meaning,
    /// A word without capitals and accents.
    folded: String,
}

impl Reader {
    /// Reads a document. `body_weight`: the share of the body in the vector.
    pub(crate) fn read(
        &mut self,
        dictionary: &Dictionary,
        document: &Document<'_>,
        body_weight: f32,
    ) -> Reading {
        self.counter.clear();
        self.meaning.clear();
        for (field, text) in [
            (Field::Id, document.id),
            (Field::Title, document.title),
            (Field::Description, document.description),
        ] {
            self.text(dictionary, field, text);
        }
        for trigger in document.triggers {
            self.text(dictionary, Field::Triggers, trigger);
        }
        let mut left = MAX_VECTOR_BODY_BYTES;
        for_each_line(document.body, |rest, length, is_heading| {
            let origin = Origin {
                field: if is_heading {
                    Field::Headings
                } else {
                    Field::Body
                },
                has_meaning: left > 0,
            };
            left = left.saturating_sub(self.split(dictionary, origin, rest, length));
        });
        self.look_up(dictionary);
        let mut terms = Vec::with_capacity(self.counter.len());
        terms.extend(self.counter.terms());
        Reading {
            terms,
            lengths: self.counter.lengths(),
            vector: self.meaning.parts.vector(body_weight),
        }
    }

    /// The texts of the new terms of what was read since the last call.
    pub(crate) fn terms_since_last_call(&mut self) -> Vec<Box<str>> {
        self.new.terms_since_last_call()
    }

    /// The words that the dictionary does not have. The next ones are collected anew.
    pub(crate) fn take_new(&mut self) -> NewWords {
        mem::take(&mut self.new)
    }

    fn text(&mut self, dictionary: &Dictionary, field: Field, text: &str) {
        let origin = Origin {
            field,
            has_meaning: matches!(field, Field::Title | Field::Description),
        };
        self.split(dictionary, origin, text, text.len());
    }

    /// Splits the words of a text that begin before `end`. Returns how many bytes they have, with
    /// one between two of them.
    fn split(&mut self, dictionary: &Dictionary, origin: Origin, text: &str, end: usize) -> usize {
        let (mut bytes, mut folded) = (0, mem::take(&mut self.folded));
        for run in Runs::new(text, end) {
            match run {
                Run::Plain(word) => {
                    self.make_room(dictionary, origin);
                    bytes += word.bytes + 1;
                    self.tokens.push_plain(word.key, word.bytes);
                }
                Run::Other(run) => for_each_word_of_run(run, &mut folded, &mut |word| {
                    self.make_room(dictionary, origin);
                    bytes += word.text.len() + 1;
                    self.tokens.push(word);
                }),
            }
        }
        self.folded = folded;
        self.tokens.end(origin);
        bytes
    }

    #[inline]
    fn make_room(&mut self, dictionary: &Dictionary, origin: Origin) {
        if self.tokens.is_full() {
            self.tokens.end(origin);
            self.look_up(dictionary);
        }
    }

    /// Looks up and counts the words that were split.
    fn look_up(&mut self, dictionary: &Dictionary) {
        let Self {
            new,
            tokens,
            found,
            counter,
            meaning,
            folded: _,
        } = self;
        let mut are_one_term = true;
        found.clear();
        found.extend(tokens.all().iter().map(|token| {
            are_one_term &= token.is_one_term();
            let known = dictionary.find_word(token.key, token.bytes, tokens.long(token));
            known.map_or_else(
                || tokens.with_word(token, |word| new.find_or_add(dictionary, word)),
                Found::of,
            )
        }));
        counter.reserve(new.all_terms(dictionary), found.len());
        for (origin, range) in tokens.by_origin() {
            let found = &found[range.clone()];
            counter.count(origin.field, found.iter().map(|found| found.term));
            if origin.has_meaning {
                meaning.add(origin.field, tokens, range, found);
            }
        }
        if !are_one_term {
            self.count_parts(dictionary);
        }
        self.tokens.clear();
    }

    /// Counts the terms that are parts of the words that were split.
    #[cold]
    fn count_parts(&mut self, dictionary: &Dictionary) {
        let mut terms = Vec::new();
        for (origin, range) in self.tokens.by_origin() {
            terms.clear();
            for token in &self.tokens.all()[range] {
                self.tokens.with_word(token, |word| {
                    let visit = |term| terms.push(term);
                    self.new.for_each_part(dictionary, word, visit);
                });
            }
            let all_terms = self.new.all_terms(dictionary);
            self.counter.reserve(all_terms, terms.len());
            self.counter.count(origin.field, terms.iter().copied());
        }
    }
}

/// Collects what a document means.
#[derive(Default)]
struct Meaning {
    parts: DocumentMeaning,
    /// The words of title and description.
    head: Vec<WordNumber>,
    /// How many of them the body has repeated.
    repeated: usize,
}

impl Meaning {
    fn clear(&mut self) {
        self.parts.clear();
        self.head.clear();
        self.repeated = 0;
    }

    /// Adds words. Those of title and description with which most bodies begin count once.
    fn add(&mut self, field: Field, tokens: &Tokens, range: Range<usize>, found: &[Found]) {
        let is_head = matches!(field, Field::Title | Field::Description);
        for (token, found) in tokens.all()[range].iter().zip(found) {
            if found.number == NO_WORD {
                continue;
            }
            if is_head {
                self.head.push(found.number);
            } else if self.head.get(self.repeated) == Some(&found.number) {
                self.repeated += 1;
                continue;
            }
            if token.joined {
                continue;
            }
            if found.rows.need_word() {
                tokens.with_word(token, |word| self.parts.add(field, found.rows, word.text));
            } else {
                self.parts.add(field, found.rows, "");
            }
        }
    }
}
