//! What is known about one rule.

use skills_core::Severity;

/// One rule. Its code is stable: configurations and allow comments name it.
#[derive(Debug, Eq)]
pub struct Rule {
    /// Its code: a letter for the group and a number.
    pub code: &'static str,
    /// Its group.
    pub group: Group,
    /// Its severity unless it is configured.
    pub severity: Severity,
    /// What it finds, as a short phrase.
    pub title: &'static str,
    /// Why that matters, and what to do.
    pub why: &'static str,
    /// A text with a finding.
    pub bad: &'static str,
    /// A text without one.
    pub good: &'static str,
    /// Whether some findings have a fix that `--fix` applies.
    pub fixable: bool,
}

/// Rules with one code are one rule.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Rule {
    /// A rule without a fix.
    pub(crate) const fn new(
        code: &'static str,
        group: Group,
        severity: Severity,
        [title, why]: [&'static str; 2],
        [bad, good]: [&'static str; 2],
    ) -> Self {
        Self {
            code,
            group,
            severity,
            title,
            why,
            bad,
            good,
            fixable: false,
        }
    }

    /// The same rule, with fixes.
    pub(crate) const fn fixable(self) -> Self {
        Self {
            fixable: true,
            ..self
        }
    }
}

/// A group of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The form of a skill: front matter, text, files.
    Format,
    /// Links between skills and files.
    Links,
    /// How requests find a skill.
    Routing,
    /// What must not be trusted.
    Trust,
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 4] = [Self::Format, Self::Links, Self::Routing, Self::Trust];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Format => "Format",
            Self::Links => "Links",
            Self::Routing => "Routing",
            Self::Trust => "Trust",
        }
    }
}
