//! The limits of this crate. `docs/limits.md` lists them.

use std::time::Duration;

/// Bytes of a form. A body of the largest size fits even if every byte is escaped, and so does one
/// that is several times too large, which comes back with its error.
pub const MAX_FORM_BYTES: usize = 4 << 20;
/// Bytes of all forms in progress.
pub const MAX_FORMS_BYTES: usize = 32 << 20;
/// How long a form may take to arrive.
pub const FORM_TIMEOUT: Duration = Duration::from_secs(30);
/// Open pages that are told of changes.
pub const MAX_PAGE_STREAMS: usize = 64;
/// Names of skills and prompts in one event. An event for more says that anything may have changed.
pub const MAX_EVENT_NAMES: usize = 64;
/// How long two texts are compared before the comparison gets coarser.
pub const DIFF_TIMEOUT: Duration = Duration::from_millis(100);
