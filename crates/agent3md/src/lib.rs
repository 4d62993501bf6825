//! The agent.3md format: an agent in one text file.
//!
//! Start at [`Document`], the base format 3md (front matter and planes), and at [`Agent`], which
//! reads a document as an identity and skills, and routes to, returns and resolves them.
//! [`validate()`] reports what is wrong with a document; [`tool_text`] has the texts that an
//! agent's MCP server returns. [`TriggerIndex`] is the routing rule by itself: the registry uses
//! it for its own skills.
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
//! Deliberately absent: I/O, a protocol, and any knowledge of the registry. Everything is linear
//! in the size of the text, and nothing recurses.

pub mod limits;
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
pub use slug::{SlugError, Slugs, slug, slugs};
pub use span::{Span, locate_all};
pub use template::{Hazard, Placeholder, Template};
pub use token::{for_each_word, is_letter_or_number};
pub use validate::{validate, validate_document};
