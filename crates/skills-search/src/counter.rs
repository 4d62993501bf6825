//! Counting the terms of a document.

use crate::dictionary::{STOP_WORD, Term};
use crate::documents::Lengths;
use crate::field::{FIELDS, Field, FieldSet};
use crate::postings::{Counts, fields_of};

/// How often a document has a term.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counted {
    pub term: Term,
    pub counts: Counts,
    pub fields: FieldSet,
}

/// The terms of one document. Its memory is reused for another one.
#[derive(Default)]
pub(crate) struct Counter {
    /// The terms in the order of their first use, then room for more.
    counted: Vec<Counted>,
    /// How many terms there are.
    known: usize,
    /// By term: where it is in `counted`, if that place has this term. Never cleared.
    places: Vec<u32>,
    /// By field: the number of words.
    lengths: Lengths,
}

impl Counter {
    pub(crate) fn clear(&mut self) {
        self.known = 0;
        self.lengths = [0; FIELDS];
    }

    /// Makes room for terms below this one, and for so many words.
    pub(crate) fn reserve(&mut self, terms: usize, words: usize) {
        if self.places.len() < terms {
            self.places.resize(terms, 0);
        }
        let room = self.known + words + 1;
        if self.counted.len() < room {
            self.counted.resize(room, Counted::default());
        }
    }

    /// Counts terms, for which there must be room. Without branches that depend on the words: to
    /// guess them wrong would take longer than the rest.
    #[inline]
    pub(crate) fn count(&mut self, field: Field, terms: impl Iterator<Item = Term>) {
        let field = field as usize;
        let Self {
            counted,
            known,
            places,
            lengths,
        } = self;
        let (mut new, mut length) = (*known, lengths[field]);
        for term in terms {
            let place = &mut places[term as usize];
            let last = *place as usize;
            let is_new = u8::from(last >= new) | u8::from(counted[last].term != term) == 1;
            // In the place of the next new term, whether this is one or not.
            counted[new] = Counted {
                term,
                ..Counted::default()
            };
            let at = if is_new { new } else { last };
            let count = &mut counted[at].counts[field];
            *count = count.saturating_add(1);
            #[expect(clippy::cast_possible_truncation, reason = "fewer than 4 Gi terms")]
            {
                *place = at as u32;
            }
            new += usize::from(is_new);
            length += u32::from(term != STOP_WORD);
        }
        *known = new;
        lengths[field] = length;
    }

    /// How many terms there are, that of stop words included.
    pub(crate) fn len(&self) -> usize {
        self.known
    }

    pub(crate) fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The terms that are not stop words, in the order of their first use.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Counted> {
        let terms = self.counted[..self.known].iter();
        let terms = terms.filter(|counted| counted.term != STOP_WORD);
        terms.map(|&Counted { term, counts, .. }| {
            if counts[..FIELDS - 1] == [0; FIELDS - 1] {
                let fields = FieldSet::BODY;
                return Counted {
                    term,
                    counts,
                    fields,
                };
            }
            let mut counts = counts;
            let [.., title, description, _, headings, body] = &mut counts;
            // A title is a heading as well, and a description often a paragraph.
            *headings = headings.saturating_sub(*title);
            *body = body.saturating_sub(*description);
            let fields = fields_of(counts);
            Counted {
                term,
                counts,
                fields,
            }
        })
    }
}
