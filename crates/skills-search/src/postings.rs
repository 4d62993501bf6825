//! Which documents contain a term, and how often in which field: one compact list per term.
//!
//! A list only grows at its end, because a document gets a higher slot than all before it. The
//! entries of a removed document stay until half of a list is dead; then this list alone is
//! written again.

use crate::field::{FIELDS, FieldSet};

/// The number of a document. Never used twice between two renumberings.
pub(crate) type Slot = u32;

/// How often a term occurs, by field, at most 255 times.
pub(crate) type Counts = [u8; FIELDS];

/// How often a document has a term.
pub(crate) enum Hit {
    /// In its body only, as most.
    Body(u8),
    /// In several fields, or in another one.
    Fields(Counts),
}

impl Hit {
    fn counts(self) -> Counts {
        match self {
            Self::Fields(counts) => counts,
            Self::Body(count) => {
                let mut counts = Counts::default();
                counts[FIELDS - 1] = count;
                counts
            }
        }
    }
}

/// Entries that may be dead before a short list is written again.
const DEAD_MIN: u32 = 8;

/// The highest count in the body that fits in one byte, if no other field has the term.
const BODY_ONLY_MAX: u8 = 0x7F;

/// The documents of one term.
#[derive(Default)]
pub(crate) struct Postings {
    /// By document: the difference of slots, then the counts.
    bytes: Vec<u8>,
    last: Slot,
    live: u32,
    dead: u32,
}

impl Postings {
    /// How many documents contain the term.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Adds a document with a higher slot than all before it.
    #[inline]
    pub(crate) fn push(&mut self, slot: Slot, counts: Counts, fields: FieldSet) {
        write_number(&mut self.bytes, slot - self.last);
        write_counts(&mut self.bytes, counts, fields);
        self.last = slot;
        self.live += 1;
    }

    /// A document of the list was removed. `is_live` tells which are left.
    pub(crate) fn remove_one(&mut self, is_live: impl Fn(Slot) -> bool) {
        self.live -= 1;
        self.dead += 1;
        if self.dead > self.live.max(DEAD_MIN) {
            self.rewrite(|slot| is_live(slot).then_some(slot));
        }
    }

    /// Writes the list again with new slots, which must be in the same order, without the
    /// documents that have none.
    pub(crate) fn rewrite(&mut self, new_slot: impl Fn(Slot) -> Option<Slot>) {
        let mut rewritten = Self::default();
        self.for_each(|slot, hit| {
            if let Some(slot) = new_slot(slot) {
                let counts = hit.counts();
                rewritten.push(slot, counts, fields_of(counts));
            }
        });
        rewritten.bytes.shrink_to_fit();
        *self = rewritten;
    }

    /// Visits every entry, dead ones included, in order of their slots.
    #[inline]
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Slot, Hit)) {
        let mut bytes = self.bytes.as_slice();
        let mut slot = 0;
        while !bytes.is_empty() {
            slot += read_number(&mut bytes);
            visit(slot, read_hit(&mut bytes));
        }
    }
}

/// Writes a number in groups of seven bits, the lowest first.
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Reads a number that [`write_number`] wrote.
#[inline]
pub(crate) fn read_number(bytes: &mut &[u8]) -> u32 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

/// Most terms are only in the body, a few times: one byte. Otherwise a byte with the fields, then a
/// byte for each.
#[inline]
fn write_counts(bytes: &mut Vec<u8>, counts: Counts, fields: FieldSet) {
    let body = counts[FIELDS - 1];
    if fields == FieldSet::BODY && body <= BODY_ONLY_MAX {
        bytes.push(body);
        return;
    }
    bytes.push(fields.bits() | 0x80);
    bytes.extend(counts.into_iter().filter(|&count| count > 0));
}

#[inline]
fn read_hit(bytes: &mut &[u8]) -> Hit {
    let Some((&head, mut rest)) = bytes.split_first() else {
        return Hit::Body(0);
    };
    if head <= BODY_ONLY_MAX {
        *bytes = rest;
        return Hit::Body(head);
    }
    let mut counts = Counts::default();
    for (field, count) in counts.iter_mut().enumerate() {
        if head & (1 << field) != 0
            && let Some((&byte, tail)) = rest.split_first()
        {
            *count = byte;
            rest = tail;
        }
    }
    *bytes = rest;
    Hit::Fields(counts)
}

/// The fields with a count.
pub(crate) fn fields_of(counts: Counts) -> FieldSet {
    if counts[..FIELDS - 1] == [0; FIELDS - 1] && counts[FIELDS - 1] > 0 {
        return FieldSet::BODY;
    }
    let mut fields = FieldSet::default();
    for (field, _) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        fields.insert(field);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(postings: &Postings) -> Vec<(Slot, Counts)> {
        let mut entries = Vec::new();
        postings.for_each(|slot, hit| entries.push((slot, hit.counts())));
        entries
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let written = [
            (0, [0, 0, 0, 0, 0, 1]),
            (1, [0, 0, 0, 0, 0, 127]),
            (130, [0, 0, 0, 0, 0, 128]),
            (70_000, [1, 2, 0, 255, 0, 255]),
            (4_000_000_000, [0, 0, 0, 0, 3, 0]),
        ];
        let mut postings = Postings::default();
        for (slot, counts) in &written {
            postings.push(*slot, *counts, fields_of(*counts));
        }
        assert_eq!(entries(&postings), written);
        assert_eq!(postings.live(), 5);
    }

    #[test]
    fn a_list_with_many_dead_entries_is_written_again() {
        let mut postings = Postings::default();
        for slot in 0..100 {
            let counts = [0, 1, 0, 0, 0, 0];
            postings.push(slot, counts, fields_of(counts));
        }
        for removed in 0..60 {
            postings.remove_one(|slot| slot > removed);
        }
        assert_eq!(postings.live(), 40);
        assert!(entries(&postings).len() < 60);
        postings.rewrite(|slot| (slot >= 60).then(|| slot - 60));
        assert_eq!(entries(&postings)[39], (39, [0, 1, 0, 0, 0, 0]));
    }
}
