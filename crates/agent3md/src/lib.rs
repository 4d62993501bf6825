//! The agent.3md format.

mod directive;
mod document;
mod error;
mod field;
mod letter;
mod number;
mod parse;
mod span;

pub use document::{Document, Plane, Swallowed};
pub use error::ParseError;
pub use field::{Field, Fields};
pub use number::js_number;
pub use span::Span;
