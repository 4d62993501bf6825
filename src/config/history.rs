//! The section `history:` of the configuration.

use std::ops::RangeInclusive;

use serde::Serialize;
use skills_core::limits::{DEFAULT_VERSIONS, MAX_VERSIONS};

use super::section::Section;

/// What is kept of skills and prompts that change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistorySettings {
    /// How many versions of each; 0: none.
    pub versions: usize,
}

const VERSIONS: RangeInclusive<usize> = 0..=MAX_VERSIONS;

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            versions: DEFAULT_VERSIONS,
        }
    }
}

impl HistorySettings {
    /// Reads the section of the file.
    pub(super) fn read(&mut self, section: &mut Section<'_>) {
        if let Some(versions) = section.take_number("versions", &VERSIONS) {
            self.versions = versions;
        }
    }
}
