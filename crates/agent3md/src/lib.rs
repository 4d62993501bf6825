//! The agent.3md format: one text file that is a whole agent.
//!
//! [`Document`] is the base format, 3md: front matter and planes. [`Agent`] reads a document as
//! an identity and skills, and routes, gets and resolves them. [`validate()`] says what is wrong
//! with a document; [`tool_text`] holds the texts an agent's MCP server sends.
//!
//! ```
//! let text = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n\
//!     @plane z=1 label=search triggers=\"find code\" tool=\"rg {pattern}\" inputs=pattern\nLook.\n";
//! let agent = agent3md::Agent::parse(text)?;
//! let best = &agent.route("Find the code, please")[0];
//! assert_eq!(best.skill.name, "search");
//! let values = [("pattern".to_owned(), "it's".to_owned())].into();
//! assert_eq!(best.skill.argv(&values).unwrap().unwrap(), ["rg", "it's"]);
//! assert!(agent3md::validate(text).is_ok());
//! # Ok::<(), agent3md::LoadError>(())
//! ```
//!
//! Absent on purpose: I/O of any kind, a protocol, and any knowledge of the registry. Everything
//! is linear in the size of the text, and nothing recurses.

pub mod tool_text;

mod agent;
mod command;
mod directive;
mod document;
mod error;
mod field;
mod finding;
mod graph;
mod input;
mod json;
mod link;
mod number;
mod parse;
mod route;
mod rows;
mod slug;
mod span;
mod template;
mod token;
mod validate;

pub use agent::{Agent, Identity, Skill, SkillSelector};
pub use command::{CommandError, Values};
pub use document::{Document, Plane, UnclosedFence};
pub use error::{LoadError, ParseError};
pub use field::{Field, Fields, csv};
pub use finding::{Finding, Level, Rule, ValidationReport};
pub use input::{INPUT_TYPES, Input};
pub use json::Manifest;
pub use link::{Link, links, rewrite_links};
pub use number::js_number;
pub use route::{Match, TriggerIndex};
pub use slug::{SLUG_MAX, SlugError, Slugs, slug, slugs};
pub use span::Span;
pub use template::{Hazard, Placeholder, Template};
pub use token::is_letter_or_number;
pub use validate::{validate, validate_document};
