//! The section `sources:` of the configuration.

use serde::Serialize;
use skills_core::OnConflict;

use super::node::Node;
use super::section::Section;

/// How the sources of skills and prompts get on with each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceSettings {
    /// What a registration does whose id or name a file has already.
    pub on_conflict: OnConflict,
}

impl SourceSettings {
    /// Reads the section of the file.
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let parse = |node: &Node| node.text()?.parse().ok();
        let taken = section.take("on_conflict", "`hide`, `warn` or `refuse`", parse);
        Self {
            on_conflict: taken.unwrap_or_default(),
        }
    }
}
