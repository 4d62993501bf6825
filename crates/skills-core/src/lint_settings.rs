//! What an operator decides about findings in skills.
//!
//! The rules themselves are in a crate above this one; the registry carries these settings to
//! the operations that apply them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not what the author intended, or to be judged by a person.
    Warning,
    /// A rule of a format is broken, or the text must not be trusted.
    Error,
}

impl Severity {
    /// Its name in output and configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not the name of a severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSeverity;

impl FromStr for Severity {
    type Err = NoSeverity;

    fn from_str(text: &str) -> Result<Self, NoSeverity> {
        let all = [Self::Note, Self::Warning, Self::Error];
        let found = all.into_iter().find(|severity| severity.as_str() == text);
        found.ok_or(NoSeverity)
    }
}

/// Severities by the code of a rule, and the codes that refuse a registration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintSettings {
    /// Severities other than the default ones; `None` turns a rule off.
    pub severities: BTreeMap<String, Option<Severity>>,
    /// The codes whose findings refuse a skill at registration.
    pub refuse: BTreeSet<String>,
}
