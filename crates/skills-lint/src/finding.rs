//! What a check returns.

use std::ops::Range;
use std::sync::Arc;

use agent3md::Span;
use skills_core::Severity;

use crate::rule::Rule;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Its severity, as configured.
    pub severity: Severity,
    /// The file, as [`crate::File::shown`] names it.
    pub file: Arc<str>,
    /// Where it is. An empty file, or a finding about a whole file, has line 1 and column 1.
    pub at: Span,
    /// What is wrong, with the exact characters escaped.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// An exact and safe correction.
    pub fix: Option<Fix>,
}

/// All findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The findings by file, line and column.
    pub all: Vec<Finding>,
    /// Those that allow comments silence.
    pub allowed: Vec<Finding>,
}

impl Findings {
    /// The number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        let is_counted = |finding: &&Finding| finding.severity == severity;
        self.all.iter().filter(is_counted).count()
    }
}

/// A correction of one file that does not change what the author says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an imperative.
    pub title: String,
    /// The edits, in order and apart from each other.
    pub edits: Vec<Edit>,
}

/// Replaces a range of bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes.
    pub bytes: Range<usize>,
    /// The new text.
    pub text: String,
}
