//! Reading a document: which terms it has, how often in which field, and what it means.

use crate::dictionary::{Dictionary, STOP_WORD, Term, WordNumber};
use crate::document::Document;
use crate::field::{FIELDS, Field};
use crate::headings::for_each_line;
use crate::index::Lengths;
use crate::limits::MAX_VECTOR_BODY_BYTES;
use crate::near::Near;
use crate::postings::Counts;
use crate::vectors::{DocumentMeaning, WordRows};
use crate::words::{Word, for_each_word, for_each_word_until};

/// How often a document has a term.
#[derive(Clone, Copy, Default)]
struct Counted {
    term: Term,
    /// By field, in eight bits each.
    counts: u64,
}

/// What was read from a document. Its memory is reused for another one.
#[derive(Default)]
pub(crate) struct Reading {
    /// The terms, then room for one more.
    counted: Vec<Counted>,
    /// How many terms there are.
    known: usize,
    /// By field: the number of words.
    pub lengths: Lengths,
    /// What the document means.
    pub meaning: DocumentMeaning,
    /// How many terms the dictionary has.
    pub all_terms: usize,
}

impl Reading {
    fn clear(&mut self) {
        self.known = 0;
        self.lengths = [0; FIELDS];
        self.meaning.clear();
    }

    /// Its terms with their counts, in the order of their first use.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (Term, Counts)> {
        let terms = self.counted[..self.known].iter();
        let terms = terms.filter(|counted| counted.term != STOP_WORD);
        terms.map(|counted| {
            let [counts @ .., _, _] = counted.counts.to_le_bytes();
            (counted.term, counts)
        })
    }
}

/// Reads documents, one after the other: new words get the next numbers.
#[derive(Default)]
pub(crate) struct Reader {
    pub dictionary: Dictionary,
    pub near: Near,
    /// By term: where it is in the `counted` of the current document, if that place has this term.
    /// Never cleared.
    places: Vec<u32>,
    /// The words of title and description of the current document.
    head: Vec<WordNumber>,
}

impl Reader {
    /// Reads a document.
    pub(crate) fn read(&mut self, document: &Document<'_>, reading: &mut Reading) {
        reading.clear();
        self.head.clear();
        let known = self.dictionary.len();
        self.text(Field::Id, document.id, reading);
        for (field, text) in [
            (Field::Title, document.title),
            (Field::Description, document.description),
        ] {
            for_each_word(text, |word| {
                if let Some((number, rows)) = self.word(field, word, reading) {
                    self.head.push(number);
                    if !word.joined {
                        reading.meaning.add(field, rows, word.text);
                    }
                }
            });
        }
        for trigger in document.triggers {
            self.text(Field::Triggers, trigger, reading);
        }
        self.body(document.body, reading);
        self.add_near(known);
        reading.all_terms = self.dictionary.len();
    }

    /// The vector has the words at the beginning that title and description do not have: most
    /// bodies begin with them.
    fn body(&mut self, body: &str, reading: &mut Reading) {
        let mut left = MAX_VECTOR_BODY_BYTES;
        let mut repeated = 0;
        for_each_line(body, |rest, length, is_heading| {
            let field = if is_heading {
                Field::Headings
            } else {
                Field::Body
            };
            if left == 0 {
                return for_each_word_until(rest, length, |word| {
                    self.word(field, word, reading);
                });
            }
            for_each_word_until(rest, length, |word| {
                let known = self.word(field, word, reading);
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
                    reading.meaning.add(field, rows, word.text);
                }
            });
        });
    }

    fn text(&mut self, field: Field, text: &str, reading: &mut Reading) {
        for_each_word(text, |word| {
            self.word(field, word, reading);
        });
    }

    /// Counts the terms of a word.
    #[inline]
    fn word(
        &mut self,
        field: Field,
        word: Word<'_>,
        reading: &mut Reading,
    ) -> Option<(WordNumber, WordRows)> {
        let places = &mut self.places;
        self.dictionary
            .for_each_term(word, |term| reading.count(field, term, places))
    }

    /// New terms can be found by words that nearly are them.
    fn add_near(&mut self, known: usize) {
        for number in known..self.dictionary.len() {
            let term = Term::try_from(number).unwrap_or_default();
            if self.dictionary.is_word(term) {
                self.near.insert(term, self.dictionary.text(term));
            }
        }
    }
}

impl Reading {
    /// Counts a term. Without branches that depend on the words: to guess them wrong would take
    /// longer than the rest.
    #[inline]
    fn count(&mut self, field: Field, term: Term, places: &mut Vec<u32>) {
        let Self { counted, known, .. } = self;
        let shift = 8 * field as u32;
        self.lengths[field as usize] += u32::from(term != STOP_WORD);
        let at = term as usize;
        if at >= places.len() {
            places.resize(at + 1, 0);
        }
        if *known >= counted.len() {
            counted.resize(2 * *known + 1, Counted::default());
        }
        let last = places[at] as usize;
        let found = counted[last.min(*known)];
        let is_new = u64::from(last >= *known) | u64::from(found.term != term);
        // All bits or none.
        let new = is_new.wrapping_neg();
        let place = select(new, *known as u64, last as u64);
        let counts = found.counts & !new;
        let is_full = counts >> shift & 0xFF == 0xFF;
        let counts = counts + (u64::from(!is_full) << shift);
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 4 Gi terms")]
        {
            places[at] = place as u32;
            counted[place as usize] = Counted { term, counts };
        }
        *known += usize::from(is_new == 1);
    }
}

/// The bits of `a` where the mask has them, and of `b` elsewhere.
fn select(mask: u64, a: u64, b: u64) -> u64 {
    a & mask | b & !mask
}
