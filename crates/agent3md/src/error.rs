//! Errors of parsing and loading a document.

use crate::number::js_number;
use crate::span::Span;

/// The first error of a document, in reading order.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The first line that is not blank is not `---`.
    #[error("{at}: the document does not begin with a `---` line")]
    MissingFrontmatter {
        /// The line that is there instead.
        at: Span,
    },
    /// The front matter has a line without a colon, or no end.
    #[error("{at}: {detail}")]
    InvalidFrontmatter {
        /// The invalid line; the opening `---` if the front matter has no end.
        at: Span,
        /// What is wrong.
        detail: String,
    },
    /// No `3md` key, or one without a value.
    #[error("{at}: the front matter names no `3md` version")]
    MissingVersion {
        /// The empty `3md` line, or the opening `---`.
        at: Span,
    },
    /// A directive has no `z`.
    #[error("{at}: this @plane has no z")]
    MissingPlanePosition {
        /// The directive.
        at: Span,
    },
    /// A directive is malformed.
    #[error("{at}: {detail}")]
    InvalidPlaneDirective {
        /// The invalid token.
        at: Span,
        /// What is wrong.
        detail: String,
    },
    /// Two planes have the same position.
    #[error("{at}: z={} is already taken by the plane on line {}", js_number(*.z), .first.line)]
    DuplicatePlane {
        /// The later directive.
        at: Span,
        /// The position.
        z: f64,
        /// The earlier directive.
        first: Span,
    },
}

impl ParseError {
    /// The name of the error, the same in every implementation of the format.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MissingFrontmatter { .. } => "missingFrontmatter",
            Self::InvalidFrontmatter { .. } => "invalidFrontmatter",
            Self::MissingVersion { .. } => "missingVersion",
            Self::MissingPlanePosition { .. } => "missingPlanePosition",
            Self::InvalidPlaneDirective { .. } => "invalidPlaneDirective",
            Self::DuplicatePlane { .. } => "duplicatePlane",
        }
    }

    /// Where it is.
    pub fn at(&self) -> &Span {
        match self {
            Self::MissingFrontmatter { at }
            | Self::InvalidFrontmatter { at, .. }
            | Self::MissingVersion { at }
            | Self::MissingPlanePosition { at }
            | Self::InvalidPlaneDirective { at, .. }
            | Self::DuplicatePlane { at, .. } => at,
        }
    }

    /// How to correct it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::MissingFrontmatter { .. } => "start the file with `---`, `3md: 1.0`, `---`",
            Self::InvalidFrontmatter { .. } => {
                "write `key: value` lines and close the block with `---`"
            }
            Self::MissingVersion { .. } => "add `3md: 1.0` to the front matter",
            Self::MissingPlanePosition { .. } => "add a position, such as `@plane z=1`",
            Self::InvalidPlaneDirective { .. } => {
                "write `@plane z=1 label=\"name\"`: key=value pairs, quoted where they hold spaces"
            }
            Self::DuplicatePlane { .. } => "give each plane a z of its own",
        }
    }
}

/// A quoted excerpt of the document for a message: one line of limited length.
pub(crate) fn excerpt(text: &str) -> String {
    const EXCERPT_MAX_CHARS: usize = 40;
    match text.char_indices().nth(EXCERPT_MAX_CHARS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Why a text cannot be loaded as an agent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It is not a 3md document.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// It has front matter and nothing else.
    #[error("the document has no planes")]
    NoPlanes,
}

impl LoadError {
    /// How to correct it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Parse(error) => error.hint(),
            Self::NoPlanes => {
                "add `@plane z=0 kind=identity` and the agent's text below the front matter"
            }
        }
    }
}
