//! The place of the word vectors in a build without them: nothing has a meaning.

use crate::field::Field;
use crate::postings::Slot;
use crate::words::Word;

/// Whether there is a table.
pub(crate) const ENABLED: bool = false;

/// The number of a document's vector.
pub(crate) type RowNumber = u32;

#[derive(Default)]
pub(crate) struct Vectors;

pub(crate) enum RequestVector {}

/// The rows of a word.
#[derive(Clone, Copy)]
pub(crate) struct WordRows;

impl WordRows {
    pub(crate) const NONE: Self = Self;

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn need_word(self) -> bool {
        false
    }

    pub(crate) fn of(_: Word<'_>) -> Self {
        Self
    }
}

/// The vector of a document.
pub(crate) struct Vector;

/// What the parts of a document mean.
#[derive(Default)]
pub(crate) struct DocumentMeaning;

impl DocumentMeaning {
    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn clear(&mut self) {}

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn add(&mut self, _: Field, _: WordRows, _: &str) {}

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn vector(&self, _: f32) -> Vector {
        Vector
    }
}

impl Vectors {
    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn insert(&mut self, _: Slot, _: &Vector) -> RowNumber {
        0
    }

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn remove(&mut self, _: RowNumber) -> Option<Slot> {
        None
    }

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn renumber(&mut self, _: impl Fn(Slot) -> Slot) {}

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn for_each(&self, request: &RequestVector, _: impl FnMut(Slot, f32)) {
        match *request {}
    }

    #[expect(clippy::unused_self, reason = "as with vectors")]
    pub(crate) fn contributions(&self, request: &RequestVector, _: RowNumber) -> Vec<f32> {
        match *request {}
    }
}

impl RequestVector {
    pub(crate) fn of(_: &str, _: &[String]) -> Option<Self> {
        None
    }
}
