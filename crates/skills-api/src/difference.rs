//! What changed from one text to another: one rule for every surface that shows it.

use std::time::Duration;

use similar::TextDiff;

/// Unchanged lines around a change.
pub const CONTEXT: usize = 3;

/// Compares two texts by lines. After `limit` the rest is compared in larger pieces: what is shown
/// still leads from one text to the other.
pub fn compare<'a>(old: &'a str, new: &'a str, limit: Duration) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(limit).diff_lines(old, new)
}
