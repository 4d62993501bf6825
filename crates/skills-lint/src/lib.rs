//! What is wrong with skills, why, and the fix; and what in them must not be trusted.
//!
//! [`check`] takes documents and the lists of their files and returns [`Finding`]s: the rule,
//! where it is broken, a message, help, and for some rules a [`Fix`] as exact edits. [`RULES`] is
//! the table of all rules; `--explain`, `docs/lint.md` and the configuration are made from it.
//!
//! Start at [`check`]. `format`, `links`, `routing` and `trust` have the checks, `rules` the
//! table, `report` turns places into lines and columns and applies allow comments.
//!
//! Deliberately absent: I/O, a network, a model. A rule that exists elsewhere is called, not
//! repeated: front matter, links and hidden characters are those of `skills-core`, documents
//! those of `agent3md`. Every pass reads the text once, and what a pass does at one place is
//! limited, so any text is checked in linear time.

mod allow;
mod check;
mod cycles;
mod explain;
mod finding;
mod fix;
mod format;
mod input;
pub mod limits;
mod links;
mod markdown;
mod report;
mod routing;
mod rule;
mod rules;
mod suggestions;
mod trust;

pub use check::{check, check_text};
pub use explain::{explain, rules_document};
pub use finding::{Edit, Finding, Findings, Fix};
pub use fix::{apply, fixed_text};
pub use input::{Collection, File, Kind, KnownSkill, Skill, Unserved, is_registered};
pub use rule::{Group, Rule};
pub use rules::{RULES, find_rule};
