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

/// A list grows by a part of its length.
const GROWTH: usize = 4;

/// Bytes of the end of a list.
const END_BYTES: usize = 27;

/// The most bytes of one entry: five of a slot, the fields, and a count for each.
const ENTRY_BYTES: usize = 5 + 1 + FIELDS;

/// The documents of one term. The end of the list is beside its head, in one cache line: most of
/// the time to add a document is that of the processor waiting for memory.
#[repr(align(64))]
pub(crate) struct Postings {
    /// By document: the difference of slots, then the counts.
    bytes: Vec<u8>,
    last: Slot,
    live: u32,
    dead: u32,
    end_bytes: u8,
    /// What comes after `bytes`.
    end: [u8; END_BYTES],
}

impl Default for Postings {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            last: 0,
            live: 0,
            dead: 0,
            end_bytes: 0,
            end: [0; END_BYTES],
        }
    }
}

impl Postings {
    /// How many documents contain the term.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Adds a document with a higher slot than all before it.
    #[inline]
    pub(crate) fn push(&mut self, slot: Slot, counts: Counts, fields: FieldSet) {
        let (number, length) = number_bytes(slot - self.last);
        self.last = slot;
        self.live += 1;
        let body = counts[FIELDS - 1];
        if fields == FieldSet::BODY && body <= BODY_ONLY_MAX {
            let entry = number | u64::from(body) << (8 * length);
            self.extend(&entry.to_le_bytes(), length + 1);
        } else {
            self.push_fields(&number.to_le_bytes()[..length], counts, fields);
        }
    }

    /// A byte with the fields, then a byte for each.
    #[inline(never)]
    fn push_fields(&mut self, number: &[u8], counts: Counts, fields: FieldSet) {
        let counts = counts.into_iter().filter(|&count| count > 0);
        let bytes = number.iter().copied();
        let bytes = bytes.chain([fields.bits() | 0x80]).chain(counts);
        let (mut entry, mut length) = ([0; ENTRY_BYTES], 0);
        for (place, byte) in entry.iter_mut().zip(bytes) {
            *place = byte;
            length += 1;
        }
        self.extend(&entry, length);
    }

    /// Adds the first bytes of these.
    #[inline]
    fn extend<const N: usize>(&mut self, entry: &[u8; N], length: usize) {
        let mut at = usize::from(self.end_bytes);
        if at + N > END_BYTES {
            self.flush();
            at = 0;
        }
        self.end[at..at + N].copy_from_slice(entry);
        #[expect(clippy::cast_possible_truncation, reason = "at most END_BYTES")]
        {
            self.end_bytes = (at + length) as u8;
        }
    }

    #[cold]
    fn flush(&mut self) {
        let end = &self.end[..usize::from(self.end_bytes)];
        if self.bytes.capacity() - self.bytes.len() < end.len() {
            // A list that doubles would leave a quarter of the memory empty.
            let more = (self.bytes.len() / GROWTH).max(END_BYTES);
            self.bytes.reserve_exact(more);
        }
        self.bytes.extend_from_slice(end);
        self.end_bytes = 0;
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
        let mut slot = 0;
        let end = &self.end[..usize::from(self.end_bytes)];
        for mut bytes in [self.bytes.as_slice(), end] {
            while !bytes.is_empty() {
                slot += read_number(&mut bytes);
                visit(slot, read_hit(&mut bytes));
            }
        }
    }
}

/// A number in groups of seven bits, the lowest first, and how many bytes that are. Most numbers
/// have at most three, without branches: how long a number is cannot be guessed.
#[inline]
pub(crate) fn number_bytes(number: u32) -> (u64, usize) {
    if number >= 1 << 21 {
        return long_number_bytes(number);
    }
    let (has_two, has_three) = (number > 0x7F, number > 0x3FFF);
    let groups = number & 0x7F | (number & 0x7F << 7) << 1 | (number & 0x7F << 14) << 2;
    let continued = u32::from(has_two) << 7 | u32::from(has_three) << 15;
    let length = 1 + usize::from(has_two) + usize::from(has_three);
    (u64::from(groups | continued), length)
}

#[cold]
fn long_number_bytes(number: u32) -> (u64, usize) {
    let (mut bytes, mut length, mut rest) = (0, 0, u64::from(number));
    while rest > 0x7F {
        bytes |= (rest & 0x7F | 0x80) << (8 * length);
        rest >>= 7;
        length += 1;
    }
    (bytes | rest << (8 * length), length + 1)
}

/// Reads a number from its [`number_bytes`].
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
    fn numbers_are_read_as_they_were_written() {
        for number in (0..32).flat_map(|bit| [(1_u32 << bit) - 1, 1 << bit, u32::MAX >> bit]) {
            let (bytes, length) = number_bytes(number);
            let bytes = bytes.to_le_bytes();
            let mut written = &bytes[..length];
            assert_eq!(read_number(&mut written), number);
            assert!(written.is_empty() && bytes[length..].iter().all(|&byte| byte == 0));
        }
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
