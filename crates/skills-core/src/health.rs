//! What is wrong with a registry, in groups: the findings of `skills doctor`.

use std::sync::Arc;

use crate::{Error, Pending, Skipped};

/// What a finding is about, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingGroup {
    /// The engine cannot be used, or another worker has a part of the registry.
    Engine,
    /// The state cannot be read.
    Store,
    /// The configuration has a setting that is not used.
    Configuration,
    /// A row of state that cannot be served.
    Damaged,
    /// A file or a skill that is not served.
    NotServed,
    /// A document whose id or name another entry has.
    Hidden,
    /// An entry that is served and has a mistake.
    ToCorrect,
    /// An entry that could be better.
    Advice,
    /// What is in order.
    Well,
}

impl FindingGroup {
    /// Every group, in order.
    pub const ALL: [Self; 9] = [
        Self::Engine,
        Self::Store,
        Self::Configuration,
        Self::Damaged,
        Self::NotServed,
        Self::Hidden,
        Self::ToCorrect,
        Self::Advice,
        Self::Well,
    ];

    /// The heading for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Engine => "Engine",
            Self::Store => "Store",
            Self::Configuration => "Configuration",
            Self::Damaged => "Damaged rows",
            Self::NotServed => "Not served",
            Self::Hidden => "Hidden by another entry",
            Self::ToCorrect => "To correct",
            Self::Advice => "Advice",
            Self::Well => "In order",
        }
    }

    /// The name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Store => "store",
            Self::Configuration => "configuration",
            Self::Damaged => "damaged",
            Self::NotServed => "not_served",
            Self::Hidden => "hidden",
            Self::ToCorrect => "to_correct",
            Self::Advice => "advice",
            Self::Well => "well",
        }
    }

    /// Whether something has to be done.
    pub const fn is_problem(self) -> bool {
        !matches!(self, Self::Advice | Self::Well)
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthFinding {
    /// What it is about.
    pub group: FindingGroup,
    /// Where: a path, an address, or the scope and the key of a row.
    pub place: String,
    /// What was found, and the remedy.
    pub reason: String,
}

impl HealthFinding {
    /// A finding.
    pub fn new(group: FindingGroup, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            group,
            place: place.into(),
            reason: reason.into(),
        }
    }

    /// The same for an entry that a list leaves out.
    pub fn of_skipped(group: FindingGroup, skipped: Skipped) -> Self {
        Self::new(group, skipped.place, skipped.reason)
    }
}

/// Looks for findings in what the registry does not know: files, the configuration, the store.
pub type Check = Arc<dyn Fn() -> Pending<'static, Result<Vec<HealthFinding>, Error>> + Send + Sync>;
