//! What must be registered for a write to happen: compare and set.

use std::fmt;

use crate::Digest;
use crate::row::Row;
use crate::row_slot::RowSlot;

/// What must be registered under a name before a write replaces it. Documents of sources do not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Anything, or nothing.
    #[default]
    Any,
    /// Nothing.
    Absent,
    /// Content with this digest.
    Digest(Digest),
}

/// What is registered instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Current {
    /// Nothing.
    Absent,
    /// Content with this digest.
    Digest(Digest),
    /// A row that cannot be decoded.
    Damaged,
}

impl Current {
    pub(crate) fn of<T: Row>(slot: Option<&RowSlot<T>>) -> Self {
        match slot {
            None => Self::Absent,
            Some(RowSlot::Row(row)) => Self::Digest(row.digest()),
            Some(RowSlot::Damaged(_)) => Self::Damaged,
        }
    }

    /// The digest, if there is one.
    pub const fn digest(self) -> Option<Digest> {
        match self {
            Self::Digest(digest) => Some(digest),
            Self::Absent | Self::Damaged => None,
        }
    }
}

impl Precondition {
    /// Whether a write may replace `current`.
    pub(crate) fn allows(self, current: Current) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => current == Current::Absent,
            Self::Digest(digest) => current == Current::Digest(digest),
        }
    }
}

/// Completes "skill `a` ...".
impl fmt::Display for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("is not registered"),
            Self::Digest(digest) => write!(f, "is registered with the digest {digest}"),
            Self::Damaged => f.write_str("is stored but cannot be read, so it has no digest"),
        }
    }
}

/// Completes "expected ...".
impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Absent => f.write_str("nothing registered"),
            Self::Digest(digest) => write!(f, "{digest}"),
        }
    }
}
