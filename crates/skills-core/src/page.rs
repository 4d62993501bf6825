//! Pages of a list of skills.
//!
//! A cursor names the last id of the page before, so that skills that come and go between two
//! pages neither repeat nor hide others, and a cursor never expires.

use crate::escape::quote;
use crate::limits::LIST_MAX;
use crate::{Error, SkillId};

const AFTER: &str = "after:";

/// Which page of a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRequest<'a> {
    /// At most this many entries; without it, all that follow.
    pub limit: Option<usize>,
    /// The cursor of the page before; without it, the list from its beginning.
    pub cursor: Option<&'a str>,
    /// The beginning of the ids that are listed.
    pub prefix: &'a str,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries.
    pub entries: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<String>,
    /// How many entries the whole list has.
    pub total: usize,
}

/// The requested page of entries in byte order of their ids.
pub fn page<T>(
    entries: Vec<T>,
    request: PageRequest<'_>,
    id: impl Fn(&T) -> &SkillId,
) -> Result<Page<T>, Error> {
    let PageRequest {
        limit,
        cursor,
        prefix,
    } = request;
    if let Some(limit) = limit.filter(|limit| !(1..=LIST_MAX).contains(limit)) {
        let problem = format!("must be a number from 1 to {LIST_MAX}, not {limit}");
        return Err(Error::invalid("limit", problem));
    }
    let last = cursor
        .map(|cursor| parse_cursor(cursor, prefix))
        .transpose()?;
    let mut entries = entries;
    entries.retain(|entry| id(entry).as_str().starts_with(prefix));
    let total = entries.len();
    let start = last.map_or(0, |last| {
        entries.partition_point(|entry| *id(entry) <= last)
    });
    let mut entries = entries.split_off(start);
    let more = limit.is_some_and(|limit| limit < entries.len());
    entries.truncate(limit.unwrap_or(usize::MAX));
    let next = entries.last().filter(|_| more);
    let cursor = next.map(|last| format!("{AFTER}{}", id(last)));
    Ok(Page {
        entries,
        cursor,
        total,
    })
}

fn parse_cursor(cursor: &str, prefix: &str) -> Result<SkillId, Error> {
    let id = cursor.strip_prefix(AFTER).and_then(|id| id.parse().ok());
    id.filter(|id: &SkillId| id.as_str().starts_with(prefix))
        .ok_or_else(|| {
            Error::invalid_hint(
                format!("cursor {}", quote(cursor)),
                "is not from this list",
                "leave it out to start at the beginning, with the same prefix for every page",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> Vec<SkillId> {
        let id = |n: usize| format!("s{n:03}").parse().unwrap();
        (0..count).map(id).collect()
    }

    #[track_caller]
    fn check(request: PageRequest<'_>, expected: &str) {
        let got = match page(ids(25), request, |id| id) {
            Ok(page) => {
                let ids: Vec<_> = page.entries.iter().map(SkillId::as_str).collect();
                format!("{} of {}, {:?}", ids.join(" "), page.total, page.cursor)
            }
            Err(error) => error.to_text(),
        };
        assert!(got.contains(expected), "{got:?} has no {expected:?}");
    }

    #[test]
    fn pages() {
        let request = PageRequest::default();
        let limit = |n| Some(n);
        check(request, "s024 of 25, None");
        check(
            PageRequest {
                limit: limit(2),
                ..request
            },
            "s000 s001 of 25, Some(\"after:s001\")",
        );
        check(
            PageRequest {
                limit: limit(2),
                cursor: Some("after:s022"),
                ..request
            },
            "s023 s024 of 25, None",
        );
        check(
            PageRequest {
                limit: limit(1),
                cursor: Some("after:s0105"),
                ..request
            },
            "s011 of 25",
        );
        check(
            PageRequest {
                limit: limit(2),
                prefix: "s02",
                ..request
            },
            "s020 s021 of 5, Some(\"after:s021\")",
        );
        check(
            PageRequest {
                cursor: Some("after:s001"),
                prefix: "s02",
                ..request
            },
            "cursor `after:s001` is not from this list",
        );
        check(
            PageRequest {
                cursor: Some("after:Q"),
                ..request
            },
            "leave it out",
        );
        check(
            PageRequest {
                cursor: Some("7"),
                ..request
            },
            "is not from this list",
        );
        check(
            PageRequest {
                limit: limit(0),
                ..request
            },
            "from 1 to 1000, not 0",
        );
        check(
            PageRequest {
                limit: limit(1001),
                ..request
            },
            "not 1001",
        );
    }
}
