//! Sources of the registry on disk: markdown files as skills and prompts, and the skills of
//! `.3md` documents.
//!
//! Every listing walks the folders, and a body is read when it is requested; only what was
//! parsed from unchanged files is remembered between calls. A file that matches a pattern
//! and cannot be served is reported with its path and a reason.
//!
//! The crate does not know the registry, an engine, the configuration or a surface: it
//! takes patterns, implements [`skills_core::Source`], and returns reports and changes as
//! data. It keeps no markdown bodies in memory, and it does not take from an
//! event what changed: an event causes a walk.
//!
//! Start at [`Sources`]. A listing goes from there to `file_set` (walk, parse, remove
//! duplicates), `scan` (the walk), `cache` (what is remembered) and `markdown` or
//! [`agents`] (one file). `markdown/lookup` finds one skill without a walk. [`SourceChanges`]
//! waits for `watch` and compares two `snapshot`s.

pub mod agents;
mod blocking;
mod bodies;
mod bundle;
mod bundled_files;
mod cache;
mod changes;
mod file_set;
mod folder;
mod folders;
mod generated;
pub mod limits;
mod markdown;
mod open_file;
mod original;
mod pattern;
mod read_file;
mod reason;
mod rfc3339;
mod scan;
mod singleflight;
mod snapshot;
mod sources;
mod stamp;
#[cfg(test)]
mod tests;
mod text_file;
mod watch;

pub use changes::SourceChanges;
pub use folder::{MarkdownFile, MarkdownFolder};
pub use folders::{Folders, places};
pub use markdown::{FolderReport, LoadedFile};
pub use pattern::PatternMatches;
pub use read_file::{FileContent, ReadFileError, read_file, read_named_file, read_up_to};
pub use rfc3339::{clock_time, rfc3339};
pub use snapshot::Snapshot;
pub use sources::{Sources, SourcesReport};
pub use watch::watch_file;
