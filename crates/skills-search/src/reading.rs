//! Reading a document: which terms it has, how often in which field, and what it means.

use crate::dictionary::{Dictionary, Term, WordNumber};
use crate::document::Document;
use crate::field::{FIELDS, Field};
use crate::headings::for_each_line;
use crate::index::Lengths;
use crate::limits::MAX_VECTOR_BODY_BYTES;
use crate::postings::Counts;
use crate::vectors::DocumentMeaning;
use crate::words::for_each_word;

/// What was read from the last document. Its memory is reused for the next one.
#[derive(Default)]
pub(crate) struct Reading {
    /// The terms with their counts; in order once [`Self::document`] has returned.
    pub terms: Vec<(Term, Counts)>,
    /// By field: the number of words.
    pub lengths: Lengths,
    /// What the document means.
    pub meaning: DocumentMeaning,
    /// By term: where it is in `terms`, if that place has this term. Never cleared.
    places: Vec<u32>,
    /// The words of title and description.
    head: Vec<WordNumber>,
}

impl Reading {
    /// Reads a document.
    pub(crate) fn document(&mut self, document: &Document<'_>, dictionary: &mut Dictionary) {
        self.terms.clear();
        self.head.clear();
        self.lengths = [0; FIELDS];
        self.meaning.clear();
        self.text(Field::Id, document.id, dictionary);
        for (field, text) in [
            (Field::Title, document.title),
            (Field::Description, document.description),
        ] {
            for_each_word(text, |word| {
                let terms = self.terms_of(field);
                if let Some((number, rows)) = dictionary.for_each_term(word, terms) {
                    self.head.push(number);
                    if !word.joined {
                        self.meaning.add(field, rows, word.text);
                    }
                }
            });
        }
        for trigger in document.triggers {
            self.text(Field::Triggers, trigger, dictionary);
        }
        self.body(document.body, dictionary);
        self.terms.sort_unstable_by_key(|&(term, _)| term);
    }

    /// The vector has the words at the beginning that title and description do not have: most
    /// bodies begin with them.
    fn body(&mut self, body: &str, dictionary: &mut Dictionary) {
        let mut left = MAX_VECTOR_BODY_BYTES;
        let mut repeated = 0;
        for_each_line(body, |line, is_heading| {
            let field = if is_heading {
                Field::Headings
            } else {
                Field::Body
            };
            if left == 0 {
                return self.text(field, line, dictionary);
            }
            for_each_word(line, |word| {
                let known = dictionary.for_each_term(word, self.terms_of(field));
                if word.joined && left == 0 {
                    return;
                }
                left = left.saturating_sub(word.text.len() + 1);
                let Some((number, rows)) = known else {
                    return;
                };
                if self.head.get(repeated) == Some(&number) {
                    repeated += 1;
                } else if !word.joined {
                    self.meaning.add(field, rows, word.text);
                }
            });
        });
    }

    fn text(&mut self, field: Field, text: &str, dictionary: &mut Dictionary) {
        for_each_word(text, |word| {
            dictionary.for_each_term(word, self.terms_of(field));
        });
    }

    /// Counts the terms of a word.
    #[inline]
    fn terms_of(&mut self, field: Field) -> impl FnMut(Term) {
        let Self {
            terms,
            lengths,
            places,
            ..
        } = self;
        let field = field as usize;
        move |term| {
            lengths[field] += 1;
            let at = term as usize;
            if at >= places.len() {
                places.resize(at + 1, 0);
            }
            match terms.get_mut(places[at] as usize) {
                Some((known, counts)) if *known == term => {
                    counts[field] = counts[field].saturating_add(1);
                }
                _ => {
                    #[expect(clippy::cast_possible_truncation, reason = "fewer than 4 Gi terms")]
                    let place = terms.len() as u32;
                    places[at] = place;
                    let mut counts = Counts::default();
                    counts[field] = 1;
                    terms.push((term, counts));
                }
            }
        }
    }
}
