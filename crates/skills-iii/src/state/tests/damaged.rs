//! A row whose value is not JSON: other rows are not affected, and it can be replaced.

use rusqlite::Connection;

use super::super::{DamagedRow, FILE_NAME};
use super::*;

/// A store with the rows `a`, `b` and `c`; `b` has this value, as another program or a failing
/// disk left it.
async fn damaged(value: &[u8]) -> (TempDir, SqliteState) {
    let (dir, store) = fresh();
    for (key, value) in [("a", "1"), ("b", "2"), ("c", "3")] {
        set(&store, "s", key, value).await;
    }
    Connection::open(dir.path().join(FILE_NAME))
        .unwrap()
        .execute(
            "UPDATE entries SET value = CAST(?1 AS TEXT) WHERE key = 'b'",
            [value],
        )
        .unwrap();
    (dir, store)
}

/// Values that are not JSON, and what is said about them.
const VALUES: &[(&[u8], &str)] = &[
    (b"\"\xff\"", "it is not UTF-8: "),
    (b"no json", "it is not JSON: "),
    (b"{\"a\":", "it is not JSON: "),
    (b"", "it is not JSON: "),
];

#[tokio::test]
async fn only_the_reads_of_its_own_key_fail() {
    for (value, problem) in VALUES {
        let (dir, store) = damaged(value).await;
        let error = store.get("s", "b").unwrap_err();
        let expected = format!("the value of `b` in `s` is damaged: {problem}");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert_eq!(error.hint(), Some("write the row again, or delete it"));
        assert_eq!(store.list("s").unwrap().get(), "[1,3]");
        assert_eq!(store.list_shared("s".into()).await.unwrap().get(), "[1,3]");
        assert_eq!(text(store.get("s", "a").unwrap()).as_deref(), Some("1"));

        let mut rows = Vec::new();
        let mut visit = |(key, value): (&str, Result<&str, String>)| {
            rows.push((key.to_owned(), value.map(str::to_owned)));
        };
        store.for_each_row("s", &mut visit).unwrap();
        let visited = std::str::from_utf8(value).map(str::to_owned);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1].0, "b");
        assert_eq!(rows[1].1.as_ref().ok(), visited.as_ref().ok());

        let checked = SqliteState::check(dir.path(), &StoreOptions::default());
        let [found] = &checked.unwrap().unwrap().damaged[..] else {
            panic!("one row is damaged")
        };
        let DamagedRow { scope, key, .. } = found;
        assert_eq!((scope.as_str(), key.as_str()), ("s", "b"));
        assert!(found.problem.starts_with(problem), "{}", found.problem);
    }
}

#[tokio::test]
async fn it_can_be_overwritten_and_deleted_but_not_updated() {
    for (value, _) in VALUES {
        let readable = serde_json::to_string(&String::from_utf8_lossy(value)).unwrap();
        let (_dir, store) = damaged(value).await;
        let keep = Box::new(|old: Option<&RawValue>| Ok(old.unwrap().to_owned()));
        let error = store.update("s".into(), "b".into(), 0, keep).await;
        let error = error.unwrap_err();
        assert!(matches!(error, StateError::DamagedRow { .. }), "{error}");
        let mut changes = store.changes();
        assert_eq!(set(&store, "s", "b", "4").await.as_ref(), Some(&readable));
        assert_eq!(list(&store, "s"), ["1", "4", "3"]);
        assert_eq!(next(&mut changes).await, format!("s/b: {readable} > 4"));

        let (_dir, store) = damaged(value).await;
        let old = store.delete("s".into(), "b".into()).await.unwrap();
        assert_eq!(text(old), Some(readable));
        assert_eq!(list(&store, "s"), ["1", "3"]);
    }
}

#[tokio::test]
async fn another_process_is_told_of_the_replacement() {
    for (value, _) in VALUES {
        let (dir, here) = damaged(value).await;
        let mut changes = here.changes();
        let there = open(dir.path());
        set(&there, "s", "b", "4").await;
        set(&there, "s", "c", "5").await;
        let readable = serde_json::to_string(&String::from_utf8_lossy(value)).unwrap();
        assert_eq!(next(&mut changes).await, format!("s/b: {readable} > 4"));
        assert_eq!(next(&mut changes).await, "s/c: 3 > 5");
    }
}

#[tokio::test]
async fn a_scope_whose_name_is_not_text_does_not_hide_the_others() {
    let (dir, store) = fresh();
    set(&store, "a", "k", "1").await;
    set(&store, "b", "k", "1").await;
    Connection::open(dir.path().join(FILE_NAME))
        .unwrap()
        .execute(
            "UPDATE scopes SET name = CAST(x'ff' AS TEXT) WHERE name = 'b'",
            [],
        )
        .unwrap();
    assert_eq!(store.groups().unwrap(), ["a", "\u{fffd}"]);
}
