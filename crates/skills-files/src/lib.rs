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
mod markdown;
mod pattern;
mod scan;
mod singleflight;
mod snapshot;
mod sources;
mod stamp;
mod watch;

pub use markdown::{Folder, FolderReport, LoadedFile};
pub use pattern::PatternMatches;
pub use snapshot::Snapshot;
pub use sources::{SourceChanges, Sources, SourcesReport};
pub use watch::{Watcher, watch_file};
