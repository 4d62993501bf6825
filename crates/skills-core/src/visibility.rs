//! Who sees a skill: the index, search and routing, readers, or nobody.

use std::fmt;
use std::str::FromStr;

use crate::nearest::nearest;

/// How visible a skill is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Always in the index, whatever its budget.
    Pinned,
    /// In the index, and folded if the index exceeds its budget.
    #[default]
    Auto,
    /// In the index without its description.
    NameOnly,
    /// Listed and readable, but not in the index, in search or in routing.
    Manual,
    /// Not served at all.
    Off,
}

impl Visibility {
    const ALL: [Self; 5] = [
        Self::Pinned,
        Self::Auto,
        Self::NameOnly,
        Self::Manual,
        Self::Off,
    ];

    /// Its name in front matter and in `config.yaml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Auto => "auto",
            Self::NameOnly => "name-only",
            Self::Manual => "manual",
            Self::Off => "off",
        }
    }

    /// Whether the skill is listed and can be read.
    pub const fn is_served(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Whether the index, search and routing offer the skill.
    pub const fn is_offered(self) -> bool {
        matches!(self, Self::Pinned | Self::Auto | Self::NameOnly)
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Visibility {
    type Err = String;

    /// The error is a phrase whose subject is the value: "`pined` is not a visibility; ...".
    fn from_str(text: &str) -> Result<Self, String> {
        let written = text.trim();
        if let Some(found) = Self::ALL.iter().find(|value| value.as_str() == written) {
            return Ok(*found);
        }
        let names = || Self::ALL.iter().map(|value| value.as_str());
        let plain = written.to_lowercase().replace(['_', ' '], "-");
        let remedy = match nearest(&plain, names()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", names().collect::<Vec<_>>().join(", ")),
        };
        let shown: String = written.chars().take(40).collect();
        Err(format!("`{shown}` is not a visibility; {remedy}"))
    }
}
