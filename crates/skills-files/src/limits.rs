//! The limits of this crate. `docs/limits.md` lists them.

/// Bytes of a `.3md` document. A larger one is skipped with a report.
pub const DOCUMENT_MAX: usize = 5_242_880;
/// Files and folders that a walk visits for one pattern. The walk then stops with a report.
pub const SCAN_ENTRIES_MAX: usize = 100_000;
/// Folders inside folders that a walk enters. Deeper ones are skipped with a report.
pub const SCAN_DEPTH_MAX: usize = 64;
/// Folders inside a hidden folder in which skills are looked for, to report them. Deeper ones are
/// left out without a report.
pub const HIDDEN_DEPTH_MAX: usize = 3;
/// Files and folders of a hidden folder that are visited for that. The search then ends.
pub const HIDDEN_ENTRIES_MAX: usize = 1_000;
/// Skipped files that are reported for one pattern. The rest is counted.
pub const SCAN_REPORTS_MAX: usize = 1_000;
/// Names that the text of a prompt has and its `arguments` do not, reported for one file. The rest
/// is counted.
pub const MAX_UNDECLARED_NAMES: usize = 20;
/// Folders that are watched. If there are more, all are polled.
pub const WATCHED_FOLDERS_MAX: usize = 4_096;
/// Bytes of a pattern. A longer one is reported and matches nothing.
pub const MAX_PATTERN_BYTES: usize = 4_096;
/// Opening braces of a pattern. One with more is reported and matches nothing.
pub const MAX_PATTERN_BRACES: usize = 32;
