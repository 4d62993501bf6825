//! Long lists in pages: a cursor says after which entry to go on, so that entries which
//! come and go in between neither repeat nor hide others.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use super::error_code;

/// How many entries a page has. Some clients never ask for a second one.
const PAGE: usize = 1000;
const AFTER: &str = "after:";

/// The entries of the page asked for, and the cursor of the next if there is one.
/// `key` is ascending in `entries`.
pub fn paginate<T>(
    request: Option<PaginatedRequestParams>,
    entries: Vec<T>,
    key: impl Fn(&T) -> String,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => {
            let last = cursor.strip_prefix(AFTER).ok_or_else(|| {
                let shown: String = cursor.chars().take(80).collect();
                error_code::invalid(format!(
                    "cursor {shown:?} is not one of this list; leave it out to begin at the start"
                ))
            })?;
            entries.partition_point(|entry| key(entry).as_str() <= last)
        }
    };
    let more = entries.len() > start + PAGE;
    let found: Vec<T> = entries.into_iter().skip(start).take(PAGE).collect();
    let next = found.last().filter(|_| more);
    let next = next.map(|entry| format!("{AFTER}{}", key(entry)));
    Ok((found, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cursor: Option<String>) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(cursor)
    }

    #[test]
    fn every_entry_is_on_exactly_one_page() {
        let all: Vec<String> = (0..=2 * PAGE).map(|n| format!("{n:05}")).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let (found, next) = paginate(Some(at(cursor)), all.clone(), Clone::clone).unwrap();
            seen.extend(found);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_foreign_cursor_is_refused_and_a_vanished_entry_is_not() {
        let all = vec!["a".to_owned(), "c".to_owned()];
        let error = paginate(Some(at(Some("7".into()))), all.clone(), Clone::clone).unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("\"7\""), "{error}");
        let (found, next) = paginate(Some(at(Some("after:b".into()))), all, Clone::clone).unwrap();
        assert_eq!((found, next), (vec!["c".to_owned()], None));
    }
}
