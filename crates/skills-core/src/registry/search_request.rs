//! What a search or a routed request may ask for, and the cursors of its pages.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Search;
use super::resources::skill_of;
use crate::limits::{DEFAULT_MATCHES, MAX_MATCHES, REQUEST_MAX};
use crate::{Error, FILE_SCHEME, ResourceUri, SCHEME};

pub(super) fn check_request(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::invalid_hint(
            "text",
            "must be non-empty",
            "say what is to be done, in the user's words",
        ));
    }
    if text.len() > REQUEST_MAX {
        let problem = format!("is too large: {} bytes, at most {REQUEST_MAX}", text.len());
        return Err(Error::invalid("text", problem));
    }
    Ok(())
}

/// What the index is asked for: the id, if the text is the address of a skill.
pub(super) fn asked_text(text: &str) -> Cow<'_, str> {
    let address = text.trim();
    if !address.starts_with(SCHEME) && !address.starts_with(FILE_SCHEME) {
        return text.into();
    }
    let uri = address.parse::<ResourceUri>().ok();
    match uri.as_ref().and_then(skill_of) {
        Some(id) => id.as_str().to_owned().into(),
        None => text.into(),
    }
}

/// The number of matches; the hint says how to get more than the most.
pub(super) fn check_limit(limit: Option<usize>, more: &'static str) -> Result<usize, Error> {
    match limit {
        None => Ok(DEFAULT_MATCHES),
        Some(limit @ 1..=MAX_MATCHES) => Ok(limit),
        Some(limit) => Err(Error::invalid_hint(
            "limit",
            format!("is {limit}, not 1 to {MAX_MATCHES}"),
            if limit == 0 {
                "leave it out for the usual number"
            } else {
                more
            },
        )),
    }
}

/// Cursors of another search, or of other entries, have another fingerprint.
pub(super) fn cursor_fingerprint(search: &Search<'_>, entries: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Search {
        text,
        prefix,
        origin,
        completes,
        limit: _,
        cursor: _,
    } = search;
    (text, prefix, origin, completes, entries).hash(&mut hasher);
    hasher.finish()
}

pub(super) fn parse_cursor(cursor: &str, fingerprint: u64) -> Result<usize, Error> {
    let offset = cursor.split_once('.').and_then(|(offset, of)| {
        let is_same = u64::from_str_radix(of, 16) == Ok(fingerprint);
        offset.parse().ok().filter(|_| is_same)
    });
    offset.ok_or_else(|| {
        let cursor: String = cursor.chars().take(80).collect();
        Error::invalid_hint(
            "cursor",
            format!("{cursor:?} is not of this search, or something changed since"),
            "search again without `cursor`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_and_oversized_requests_are_refused() {
        let refused = |text: &str| check_request(text).unwrap_err().to_string();
        assert_eq!(refused(" \n"), "text must be non-empty");
        assert!(refused(&"a".repeat(REQUEST_MAX + 1)).contains("too large: 262145 bytes"));
    }

    #[test]
    fn an_address_of_a_skill_asks_for_its_id() {
        let check = |text: &str, expected: &str| assert_eq!(asked_text(text), expected);
        check(" iii://git/commit\n", "git/commit");
        check("iii://git/commit#usage", "git/commit");
        check("iii://git/commit?toc", "git/commit");
        check("iii://@files/git/commit", "git/commit");
        check("iii://git/commit@3", "git/commit");
        check("skill://git/commit/SKILL.md", "git/commit");
        // Anything else is words.
        for text in [
            "git/commit",
            "iii://skills",
            "read iii://git",
            "iii://Git x",
            "skill://a/b.md",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_cursor_belongs_to_one_search() {
        let search = Search {
            text: "mail",
            ..Search::default()
        };
        let own = cursor_fingerprint(&search, 7);
        assert_eq!(parse_cursor(&format!("20.{own:016x}"), own).unwrap(), 20);
        for cursor in ["", "20", "20.", "x.0", "20.0000000000000007", "-1.7"] {
            let error = parse_cursor(cursor, own).unwrap_err();
            assert!(error.to_text().contains("without `cursor`"), "{cursor}");
        }
        assert_ne!(cursor_fingerprint(&search, 8), own);
    }
}
