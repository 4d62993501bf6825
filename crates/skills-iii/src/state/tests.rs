//! The guarantees of a store, on real files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::time::timeout;

use super::{Changes, OnCommit, SqliteState, StateChange, StateError, StoreOptions};

mod busy;
mod check;
mod damaged;
mod foreign;
mod model;
mod queue;
mod space;

const TIMEOUT: Duration = Duration::from_mins(1);

fn json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn open(dir: &Path) -> SqliteState {
    SqliteState::open(dir, StoreOptions::default()).unwrap()
}

fn fresh() -> (TempDir, SqliteState) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    (dir, store)
}

fn text(value: Option<Box<RawValue>>) -> Option<String> {
    value.map(|value| value.get().to_owned())
}

async fn set(store: &SqliteState, scope: &str, key: &str, value: &str) -> Option<String> {
    text(
        store
            .set(scope.into(), key.into(), json(value))
            .await
            .unwrap(),
    )
}

fn list(store: &SqliteState, scope: &str) -> Vec<String> {
    let mut values = Vec::new();
    store
        .for_each_row(scope, &mut |(_, value)| {
            values.push(value.unwrap().to_owned());
        })
        .unwrap();
    let whole = store.list(scope).unwrap();
    assert_eq!(whole.get(), format!("[{}]", values.join(",")));
    values
}

async fn next(changes: &mut Changes) -> String {
    match timeout(TIMEOUT, changes.recv())
        .await
        .expect("an event in time")
    {
        Some(StateChange::Row {
            scope,
            key,
            old,
            new,
        }) => {
            let show = |value| text(value).unwrap_or("-".into());
            format!("{scope}/{key}: {} > {}", show(old), show(new))
        }
        Some(StateChange::Reload) => "reload".into(),
        None => "closed".into(),
    }
}

#[tokio::test]
async fn commits_are_observed_with_their_writes() {
    let dir = tempfile::tempdir().unwrap();
    let writes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&writes);
    let options = StoreOptions {
        on_commit: Some(OnCommit::new(move |duration, count| {
            assert!(!duration.is_zero());
            counted.fetch_add(count, Ordering::Relaxed);
        })),
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), options).unwrap();
    let written = (0..20).map(|n| store.set("s".into(), n.to_string(), json("1")));
    for written in written.collect::<Vec<_>>() {
        written.await.unwrap();
    }
    store.close();
    assert_eq!(writes.load(Ordering::Relaxed), 20);
}

#[tokio::test]
async fn a_row_is_read_back_as_it_was_written() {
    let (_dir, store) = fresh();
    let odd = r#"{"b":1,"a":12345678901234567890123,"b": "\u0000 ü"}"#;
    assert_eq!(set(&store, "s", "k", odd).await, None);
    assert_eq!(text(store.get("s", "k").unwrap()).unwrap(), odd);
    assert_eq!(set(&store, "s", "k", "null").await.unwrap(), odd);
    assert_eq!(
        text(store.get("s", "k").unwrap()).unwrap(),
        "null",
        "a stored null is a row"
    );
    assert!(store.get("s", "other").unwrap().is_none());
    assert!(store.get("other", "k").unwrap().is_none());
}

#[tokio::test]
async fn a_list_keeps_the_order_of_insertion() {
    let (_dir, store) = fresh();
    for (key, value) in [("c", "1"), ("a", "2"), ("b", "3"), ("a", "4")] {
        set(&store, "s", key, value).await;
    }
    set(&store, "t", "a", "9").await;
    assert_eq!(
        list(&store, "s"),
        ["1", "4", "3"],
        "an overwritten row keeps its position"
    );
    assert_eq!(
        text(store.delete("s".into(), "c".into()).await.unwrap()).unwrap(),
        "1"
    );
    set(&store, "s", "c", "5").await;
    assert_eq!(
        list(&store, "s"),
        ["4", "3", "5"],
        "a row deleted and set again goes last"
    );
    assert!(list(&store, "unknown").is_empty());
}

#[tokio::test]
async fn an_emptied_scope_is_still_a_group() {
    let (_dir, store) = fresh();
    for scope in ["b", "é", "a", "B"] {
        set(&store, scope, "k", "1").await;
    }
    store.delete("a".into(), "k".into()).await.unwrap();
    assert!(
        store
            .delete("never".into(), "k".into())
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(store.groups().unwrap(), ["B", "a", "b", "é"]);
}

#[tokio::test]
async fn an_update_sees_the_row_and_replaces_it() {
    let (_dir, store) = fresh();
    let add = || {
        store.update(
            "s".into(),
            "n".into(),
            0,
            Box::new(|old| {
                let n: u32 = old.map_or(0, |old| old.get().parse().unwrap());
                Ok(json(&(n + 1).to_string()))
            }),
        )
    };
    let (first, second) = (add(), add());
    let (old, new) = first.await.unwrap();
    assert_eq!((text(old), new.get()), (None, "1"));
    let (old, new) = second.await.unwrap();
    assert_eq!((text(old).as_deref(), new.get()), (Some("1"), "2"));
}

#[tokio::test]
async fn a_rejected_update_changes_neither_its_row_nor_others() {
    let (_dir, store) = fresh();
    set(&store, "s", "a", "1").await;
    let before = store.set("s".into(), "b".into(), json("2"));
    let refused = store.update(
        "s".into(),
        "a".into(),
        0,
        Box::new(|_| {
            Err(StateError::Rejected {
                message: "no".into(),
            })
        }),
    );
    let panics = Box::new(|_: Option<&RawValue>| panic!("on purpose"));
    let panicked = store.update("new".into(), "a".into(), 0, panics);
    let after = store.set("s".into(), "c".into(), json("3"));
    before.await.unwrap();
    assert_eq!(refused.await.unwrap_err().to_string(), "no");
    assert!(matches!(panicked.await.unwrap_err(), StateError::Panicked));
    after.await.unwrap();
    assert_eq!(list(&store, "s"), ["1", "2", "3"]);
    assert_eq!(
        store.groups().unwrap(),
        ["s"],
        "a rejected update creates no scope"
    );
}

#[tokio::test]
async fn own_writes_are_published_once_and_in_order() {
    let (_dir, store) = fresh();
    set(&store, "s", "before", "0").await;
    let mut changes = store.changes();
    set(&store, "s", "a", "1").await;
    set(&store, "s", "a", "2").await;
    store.delete("s".into(), "a".into()).await.unwrap();
    store.delete("s".into(), "a".into()).await.unwrap();
    for expected in ["s/a: - > 1", "s/a: 1 > 2", "s/a: 2 > -", "s/a: - > -"] {
        assert_eq!(next(&mut changes).await, expected);
    }
    store.close();
    assert_eq!(
        next(&mut changes).await,
        "closed",
        "no event is published twice"
    );
}

#[tokio::test]
async fn writes_of_another_store_are_published_once_with_their_values() {
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (open(dir.path()), open(dir.path()));
    let mut changes = here.changes();
    set(&there, "s", "a", "1").await;
    set(&there, "s", "a", "2").await;
    set(&there, "s", "b", "3").await;
    there.delete("s".into(), "a".into()).await.unwrap();
    assert_eq!(list(&here, "s"), ["3"], "reads do not wait for the event");
    for expected in ["s/a: - > 1", "s/a: 1 > 2", "s/b: - > 3", "s/a: 2 > -"] {
        assert_eq!(next(&mut changes).await, expected);
    }
    set(&there, "s", "b", "4").await;
    set(&here, "s", "b", "5").await;
    assert_eq!(next(&mut changes).await, "s/b: 3 > 4", "in commit order");
    assert_eq!(next(&mut changes).await, "s/b: 4 > 5");
    here.close();
    assert_eq!(next(&mut changes).await, "closed");
}

#[tokio::test]
async fn a_store_that_falls_behind_the_log_publishes_a_reload() {
    let dir = tempfile::tempdir().unwrap();
    let never = StoreOptions {
        poll_interval: Duration::from_hours(1),
        ..StoreOptions::default()
    };
    let here = SqliteState::open(dir.path(), never).unwrap();
    let short = StoreOptions {
        log_len: 2,
        ..StoreOptions::default()
    };
    let there = SqliteState::open(dir.path(), short).unwrap();
    let mut changes = here.changes();
    let writes: Vec<_> = (0..600)
        .map(|n| there.set("s".into(), n.to_string(), json("1")))
        .collect();
    for write in writes {
        write.await.unwrap();
    }
    set(&there, "s", "x", "1").await;
    set(&here, "s", "y", "2").await;
    assert_eq!(next(&mut changes).await, "reload");
    assert_eq!(next(&mut changes).await, "s/y: - > 2");
}

#[tokio::test]
async fn a_subscriber_that_never_reads_gets_a_reload() {
    let dir = tempfile::tempdir().unwrap();
    let small = StoreOptions {
        max_events: 3,
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), small).unwrap();
    let mut slow = store.changes();
    for n in 0..5 {
        set(&store, "s", &n.to_string(), "1").await;
    }
    assert_eq!(next(&mut slow).await, "reload");
    assert_eq!(next(&mut slow).await, "s/4: - > 1");
    assert!(slow.try_recv().is_none());
}

#[tokio::test]
async fn closing_finishes_queued_writes() {
    let (dir, store) = fresh();
    let writes: Vec<_> = (0..500)
        .map(|n| store.set("s".into(), n.to_string(), json("1")))
        .collect();
    drop(store);
    for write in writes {
        write.await.unwrap();
    }
    let store = open(dir.path());
    assert_eq!(list(&store, "s").len(), 500);
    store.close();
    let late = store
        .set("s".into(), "k".into(), json("1"))
        .await
        .unwrap_err();
    assert_eq!(late.to_string(), "the store is closed");
    assert!(matches!(
        store.get("s", "k").unwrap_err(),
        StateError::Closed
    ));
}

#[tokio::test]
async fn values_above_the_limits_are_rejected_with_their_size() {
    let dir = tempfile::tempdir().unwrap();
    let small = StoreOptions {
        max_value: 8,
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), small).unwrap();
    let refused = store
        .set("s".into(), "k".into(), json("123456789"))
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the value has 9 bytes, and at most 8 are stored"
    );
    let made = Box::new(|_: Option<&RawValue>| Ok(json("123456789")));
    let refused = store
        .update("s".into(), "k".into(), 0, made)
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the value has 9 bytes, and at most 8 are stored"
    );
    let long = "k".repeat(1 << 15);
    let refused = store.set("s".into(), long, json("1")).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the key has 32768 bytes, and at most 16384 are stored"
    );
    let made = Box::new(|_: Option<&RawValue>| Ok(json("1")));
    let refused = store
        .update("s".into(), "k".into(), 9, made)
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the update has 9 bytes, and at most 8 are stored"
    );
    assert_eq!(
        set(&store, "s", "k", "12345678").await,
        None,
        "the next write is accepted"
    );
}

#[tokio::test]
async fn a_large_value_is_stored_unchanged() {
    let (dir, store) = fresh();
    let large = format!("\"{}\"", "x".repeat(20 << 20));
    set(&store, "s", "k", &large).await;
    set(&store, "s", "k", "1").await;
    set(&store, "s", "k", &large).await;
    store.close();
    assert_eq!(
        text(open(dir.path()).get("s", "k").unwrap()).unwrap(),
        large
    );
}
