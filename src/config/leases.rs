//! The section `leases:` of the configuration.

use std::time::Duration;

use serde::Serialize;
use skills_core::LeaseSettings;
use skills_core::limits::MAX_LEASE_MS;

use super::SWITCH;
use super::node::Node;
use super::section::Section;

/// What happens to entries past their leases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaseConfig {
    /// Whether they are removed, and not only marked.
    pub remove: bool,
    /// How long they are marked before they are removed, in milliseconds.
    pub grace_ms: u64,
}

impl Default for LeaseConfig {
    fn default() -> Self {
        let LeaseSettings { remove, grace } = LeaseSettings::default();
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(MAX_LEASE_MS);
        Self { remove, grace_ms }
    }
}

impl LeaseConfig {
    /// Reads the section of the file.
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        let expected = format!("a number of milliseconds, at most {MAX_LEASE_MS}");
        let grace = |node: &Node| node.number().filter(|&grace| grace <= MAX_LEASE_MS);
        Self {
            remove: section
                .take("remove", SWITCH, Node::bool)
                .unwrap_or(default.remove),
            grace_ms: section
                .take("grace_ms", &expected, grace)
                .unwrap_or(default.grace_ms),
        }
    }

    pub(super) fn settings(&self) -> LeaseSettings {
        LeaseSettings {
            remove: self.remove,
            grace: Duration::from_millis(self.grace_ms),
        }
    }
}
