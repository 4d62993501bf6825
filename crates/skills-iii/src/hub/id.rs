//! Ids and names that workers choose.

use std::borrow::Cow;

use crate::limits::MAX_ID_BYTES;
use crate::message::ErrorBody;

/// How much of a long id is shown.
const SHOWN_BYTES: usize = 64;

/// Refuses an id that is too long to be kept and logged.
pub(super) fn check_id(what: &str, id: &str) -> Result<(), ErrorBody> {
    let bytes = id.len();
    if bytes <= MAX_ID_BYTES {
        return Ok(());
    }
    let message = format!(
        "the {what} `{}` has {bytes} bytes; at most {MAX_ID_BYTES} are allowed",
        abbreviate(id)
    );
    Err(ErrorBody::new("id_too_long", message))
}

/// The beginning of a long id.
pub(super) fn abbreviate(id: &str) -> Cow<'_, str> {
    if id.len() <= MAX_ID_BYTES {
        return Cow::Borrowed(id);
    }
    let end = id.floor_char_boundary(SHOWN_BYTES);
    Cow::Owned(format!("{}...", &id[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_at_most_a_kibibyte() {
        let id = "\u{e9}".repeat(MAX_ID_BYTES / 2);
        assert_eq!(check_id("id", &id), Ok(()));
        let error = check_id("trigger id", &format!("{id}x")).unwrap_err();
        assert_eq!(error.code, "id_too_long");
        let shown = "\u{e9}".repeat(SHOWN_BYTES / 2);
        assert_eq!(
            error.message,
            format!("the trigger id `{shown}...` has 1025 bytes; at most 1024 are allowed")
        );
    }
}
