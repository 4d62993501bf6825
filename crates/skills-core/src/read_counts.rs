//! How many reads were answered from where, since the process started.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Origin;

/// What answered a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// The index, or a part of it.
    Index,
    /// A registered skill.
    Registered,
    /// A file: markdown, a file of a skill folder, or a 3md document.
    Files,
    /// The output of a function.
    Function,
}

impl ReadFrom {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Index, Self::Registered, Self::Files, Self::Function];

    /// What answers for the text of one origin.
    pub(crate) const fn of_origin(origin: Origin) -> Self {
        match origin {
            Origin::State => Self::Registered,
            Origin::Fs | Origin::Agent3md => Self::Files,
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Registered => "registered",
            Self::Files => "files",
            Self::Function => "function",
        }
    }
}

/// One number for each of [`ReadFrom::ALL`].
#[derive(Debug, Default)]
pub(crate) struct ReadCounts([AtomicU64; ReadFrom::ALL.len()]);

impl ReadCounts {
    pub(crate) fn add(&self, from: ReadFrom) {
        self.0[from as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, from: ReadFrom) -> u64 {
        self.0[from as usize].load(Ordering::Relaxed)
    }
}
