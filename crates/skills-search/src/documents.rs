//! The documents of an index: what is known of each, and by which terms, vectors and triggers they
//! are found.

use std::collections::HashMap;
use std::sync::Arc;

use crate::counter::Counted;
use crate::dictionary::Term;
use crate::document::{Document, Group};
use crate::field::{FIELDS, FieldSet};
use crate::postings::{Postings, Slot, number_bytes, read_number};
use crate::reading::Reading;
use crate::triggers::Triggers;
use crate::vectors::{RowNumber, Vectors};

/// Free slots that are kept before all documents are renumbered.
const FREE_SLOTS_MIN: usize = 1024;

/// The most bytes of a term in the form that a document keeps: five of its number, one of fields.
const ENCODED_BYTES: usize = 6;

/// In the place of the group of a removed document.
pub(crate) const REMOVED: Group = Group::MAX;

/// All documents.
#[derive(Default)]
pub(crate) struct Documents {
    /// By term.
    pub postings: Vec<Postings>,
    pub vectors: Vectors,
    pub triggers: Triggers,
    /// By slot; none for a removed document.
    pub indexed: Vec<Option<Indexed>>,
    /// By slot: the number of words of each field. Apart, because every hit of a word reads it.
    pub lengths: Vec<Lengths>,
    /// By slot: the group, or [`REMOVED`]. Apart, because every request reads it.
    pub groups: Vec<Group>,
    /// By group and id.
    slots: Vec<HashMap<Arc<str>, Slot>>,
    live: usize,
    /// By field: the words of all documents.
    pub total_lengths: [u64; FIELDS],
    /// Reused between documents: the terms of one in the form that it keeps.
    encoded: Vec<u8>,
}

/// By field: the number of words.
pub(crate) type Lengths = [u32; FIELDS];

/// A document of the index.
pub(crate) struct Indexed {
    pub group: Group,
    pub id: Arc<str>,
    pub row: RowNumber,
    /// Its terms with their fields.
    terms: Box<[u8]>,
    /// Its trigger phrases.
    phrases: Box<[u32]>,
}

impl Documents {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// The documents with an id, in any group.
    pub(crate) fn slots_of(&self, id: &str) -> impl Iterator<Item = Slot> {
        self.slots
            .iter()
            .filter_map(move |slots| slots.get(id).copied())
    }

    pub(crate) fn slot(&self, group: Group, id: &str) -> Option<Slot> {
        self.slots.get(usize::from(group))?.get(id).copied()
    }

    /// Makes room for so many terms.
    pub(crate) fn reserve_terms(&mut self, terms: usize) {
        if self.postings.len() < terms {
            self.postings.resize_with(terms, Postings::default);
        }
    }

    /// Adds a document that was read, or replaces the one with its group and id. `number_of`: the
    /// numbers of the terms as they were read, for which there must be room.
    pub(crate) fn insert(
        &mut self,
        document: &Document<'_>,
        reading: &Reading,
        number_of: impl Fn(Term) -> Term,
    ) {
        self.remove(document.group, document.id);
        let slot = Slot::try_from(self.indexed.len()).expect("fewer than 4 Gi changes");
        let lengths = reading.lengths;
        let terms = self.post(slot, &reading.terms, number_of);
        let id: Arc<str> = document.id.into();
        let row = self.vectors.insert(slot, &reading.vector);
        for (sum, length) in self.total_lengths.iter_mut().zip(lengths) {
            *sum += u64::from(length);
        }
        self.lengths.push(lengths);
        self.groups.push(document.group);
        self.indexed.push(Some(Indexed {
            group: document.group,
            id: Arc::clone(&id),
            row,
            terms,
            phrases: self.triggers.insert(slot, document.triggers),
        }));
        let group = usize::from(document.group);
        if self.slots.len() <= group {
            self.slots.resize_with(group + 1, HashMap::new);
        }
        self.slots[group].insert(id, slot);
        self.live += 1;
    }

    /// Removes a document. Returns whether there was one.
    pub(crate) fn remove(&mut self, group: Group, id: &str) -> bool {
        let slots = self.slots.get_mut(usize::from(group));
        let Some(slot) = slots.and_then(|slots| slots.remove(id)) else {
            return false;
        };
        self.live -= 1;
        self.groups[slot as usize] = REMOVED;
        let Some(document) = self.indexed[slot as usize].take() else {
            return false;
        };
        let lengths = self.lengths[slot as usize];
        for (sum, length) in self.total_lengths.iter_mut().zip(lengths) {
            *sum -= u64::from(length);
        }
        let Self {
            indexed, postings, ..
        } = self;
        document.for_each_term(|term, _| {
            postings[term as usize].remove_one(|slot| indexed[slot as usize].is_some());
        });
        self.triggers.remove(&document.phrases);
        if let Some(moved) = self.vectors.remove(document.row)
            && let Some(moved) = &mut self.indexed[moved as usize]
        {
            moved.row = document.row;
        }
        if self.indexed.len() > 2 * self.live + FREE_SLOTS_MIN {
            self.renumber();
        }
        true
    }

    /// Adds the terms that were read to the postings. Returns them in the form that a document
    /// keeps.
    fn post(
        &mut self,
        slot: Slot,
        terms: &[Counted],
        number_of: impl Fn(Term) -> Term,
    ) -> Box<[u8]> {
        // Eight bytes are written for each, of which the next one overwrites what is not used.
        let room = ENCODED_BYTES * terms.len() + size_of::<u64>();
        if self.encoded.len() < room {
            self.encoded.resize(room, 0);
        }
        let mut at = 0;
        for &Counted {
            term,
            counts,
            fields,
        } in terms
        {
            let term = number_of(term);
            self.postings[term as usize].push(slot, counts, fields);
            let is_elsewhere = fields != FieldSet::BODY;
            let (number, length) = number_bytes(term << 1 | u32::from(is_elsewhere));
            let encoded = number | u64::from(fields.bits()) << (8 * length);
            self.encoded[at..at + size_of::<u64>()].copy_from_slice(&encoded.to_le_bytes());
            at += length + usize::from(is_elsewhere);
        }
        self.encoded[..at].into()
    }

    /// Closes the gaps that removed documents left in the numbers.
    fn renumber(&mut self) {
        let mut new_slots = vec![None; self.indexed.len()];
        let mut next: Slot = 0;
        for (new, document) in new_slots.iter_mut().zip(&self.indexed) {
            if document.is_some() {
                *new = Some(next);
                next += 1;
            }
        }
        let new_slot = |slot: Slot| new_slots[slot as usize];
        for postings in &mut self.postings {
            postings.rewrite(new_slot);
        }
        let moved = |slot: Slot| new_slot(slot).unwrap_or(slot);
        self.triggers.renumber(moved);
        self.vectors.renumber(moved);
        let slots = self.slots.iter_mut().flat_map(HashMap::values_mut);
        slots.for_each(|slot| *slot = moved(*slot));
        let mut indexed = self.indexed.iter();
        self.lengths
            .retain(|_| indexed.next().is_some_and(Option::is_some));
        self.indexed.retain(Option::is_some);
        self.groups.retain(|&group| group != REMOVED);
    }
}

impl Indexed {
    /// Visits its terms with their fields.
    pub(crate) fn for_each_term(&self, mut visit: impl FnMut(Term, FieldSet)) {
        let mut bytes = &*self.terms;
        while !bytes.is_empty() {
            let term = read_number(&mut bytes);
            let mut fields = FieldSet::BODY;
            if term & 1 != 0
                && let Some((&bits, rest)) = bytes.split_first()
            {
                fields = FieldSet::from_bits(bits);
                bytes = rest;
            }
            visit(term >> 1, fields);
        }
    }
}
