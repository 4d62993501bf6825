//! What a registration does whose id or name a document has already.

use std::str::FromStr;

use serde::Serialize;

/// What happens when a registration would hide a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnConflict {
    /// It hides the document; lists and the index mark it.
    #[default]
    Hide,
    /// The same, and the log has a warning.
    Warn,
    /// It is refused.
    Refuse,
}

impl OnConflict {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::Hide, Self::Warn, Self::Refuse];

    /// Its name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Warn => "warn",
            Self::Refuse => "refuse",
        }
    }
}

impl FromStr for OnConflict {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.into_iter();
        all.find(|value| value.as_str() == name).ok_or(())
    }
}
