//! The kinds of errors, which programs decide on.

/// The closed set of kinds. Each surface has one table from kinds to its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The request breaks a rule; repeating it has no use.
    Invalid,
    /// The requested thing does not exist.
    NotFound,
    /// The requested thing must not be reached this way.
    Forbidden,
    /// The request contradicts what is stored now.
    Conflict,
    /// A function returned an error; repeating the call is of no use.
    Failed,
    /// The engine, or a function that it needs, cannot be reached or cannot serve now.
    Unavailable,
    /// The engine or a function exceeded its timeout.
    TimedOut,
    /// Stored data cannot be decoded.
    Broken,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Invalid,
        Self::NotFound,
        Self::Forbidden,
        Self::Conflict,
        Self::Failed,
        Self::Unavailable,
        Self::TimedOut,
        Self::Broken,
    ];

    /// Its name on every surface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Conflict => "conflict",
            Self::Failed => "failed",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Broken => "broken",
        }
    }
}
