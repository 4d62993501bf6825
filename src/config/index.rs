//! The section `index:` of the configuration.

use std::ops::RangeInclusive;

use serde::Serialize;
use skills_core::index::MIN_BYTES;
use skills_core::limits::INDEX_BYTES;

use super::section::Section;

/// How long the index may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexSettings {
    /// The most bytes of a text of the index; beyond, subtrees are folded.
    pub max_bytes: usize,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            max_bytes: INDEX_BYTES,
        }
    }
}

const MAX_BYTES: RangeInclusive<usize> = MIN_BYTES..=(16 << 20);

impl IndexSettings {
    /// Reads the section of the file.
    pub(super) fn read(&mut self, section: &mut Section<'_>) {
        if let Some(bytes) = section.take_number("max_bytes", &MAX_BYTES) {
            self.max_bytes = bytes;
        }
    }
}
