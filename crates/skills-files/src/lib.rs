//! Sources of the registry on disk: folders of markdown and `.3md` documents, with a
//! watcher that reports their changes.
//!
//! Every listing walks the folders, and every body is read when it is requested; what is
//! remembered between calls is only what was parsed from files that have not changed. A
//! file that matches a pattern and cannot be served is reported with its path and a
//! reason.
//!
//! The crate knows no engine, no registry and no surface: it implements
//! [`skills_core::Source`] and returns reports and changes as data.
//!
//! Start at [`Sources`], which combines [`Folder`] (markdown) and [`agents::Agents`]
//! (`.3md`).

pub mod agents;
mod blocking;
mod cache;
mod file_set;
mod markdown;
mod pattern;
mod read_file;
mod rfc3339;
mod scan;
mod singleflight;
mod snapshot;
mod sources;
mod stamp;
mod watch;

pub use markdown::{Folder, FolderReport, LoadedFile};
pub use pattern::PatternMatches;
pub use read_file::{FileContent, ReadFileError, read_file, read_up_to};
pub use rfc3339::rfc3339;
pub use snapshot::Snapshot;
pub use sources::{SourceChanges, Sources, SourcesReport};
pub use watch::{Watcher, watch_file};
