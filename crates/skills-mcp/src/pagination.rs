//! Pages of long lists. A cursor names the last entry of the page before, so that entries added or
//! removed between two pages neither repeat nor hide others.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use super::error_code;

/// Large, because some clients request only the first page.
const PAGE_SIZE: usize = 1000;
const CURSOR_PREFIX: &str = "after:";

/// The entries of the requested page, and the cursor of the next page if there is one. `entries`
/// must be sorted by `key`.
pub fn paginate<T>(
    request: Option<PaginatedRequestParams>,
    entries: Vec<T>,
    key: impl Fn(&T) -> String,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => {
            let last = cursor.strip_prefix(CURSOR_PREFIX).ok_or_else(|| {
                let shown: String = cursor.chars().take(80).collect();
                error_code::invalid(format!(
                    "cursor {shown:?} is not from this list; omit it to start at the beginning"
                ))
            })?;
            entries.partition_point(|entry| key(entry).as_str() <= last)
        }
    };
    let more = entries.len() > start + PAGE_SIZE;
    let found: Vec<T> = entries.into_iter().skip(start).take(PAGE_SIZE).collect();
    let next = found.last().filter(|_| more);
    let next = next.map(|entry| format!("{CURSOR_PREFIX}{}", key(entry)));
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
        let all: Vec<String> = (0..=2 * PAGE_SIZE).map(|n| format!("{n:05}")).collect();
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
    fn a_cursor_of_another_list_is_refused_and_one_of_a_removed_entry_is_not() {
        let all = vec!["a".to_owned(), "c".to_owned()];
        let error = paginate(Some(at(Some("7".into()))), all.clone(), Clone::clone).unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("\"7\""), "{error}");
        let (found, next) = paginate(Some(at(Some("after:b".into()))), all, Clone::clone).unwrap();
        assert_eq!((found, next), (vec!["c".to_owned()], None));
    }
}
