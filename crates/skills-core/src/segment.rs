//! The rule for one segment of a name: `[a-z0-9_-]{1,64}`.

use crate::Error;
use crate::escape::quote;
use crate::limits::SEGMENT_MAX;

/// Checks one segment. An error message begins with `what` ("id", "name", ...).
pub(crate) fn check(what: &str, segment: &str) -> Result<(), Error> {
    if segment.is_empty() {
        return Err(Error::invalid(what, "segments must be non-empty"));
    }
    let not_allowed = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    if let Some(c) = segment.chars().find(not_allowed) {
        return Err(Error::invalid(
            format!("{what} {}", quote(segment)),
            format!("has {c:?}; use lowercase letters, digits, `-` and `_`"),
        ));
    }
    if segment.len() > SEGMENT_MAX {
        return Err(Error::invalid(
            format!("{what} {}", quote(segment)),
            format!(
                "is too long: {} characters, at most {SEGMENT_MAX} between slashes",
                segment.len()
            ),
        ));
    }
    Ok(())
}
