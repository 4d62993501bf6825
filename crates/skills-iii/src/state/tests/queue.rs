//! The queue of writes is bounded by the bytes of every kind of write, and serves callers in turn.

use std::sync::mpsc;

use super::super::{Op, StateFuture, Updated};
use super::*;

/// Occupies the writer until the returned end is dropped.
fn occupy(store: &SqliteState) -> (mpsc::Sender<()>, StateFuture<Updated>) {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Box::new(move |_: Option<&RawValue>| {
        let _ = wait.recv();
        Ok(json("0"))
    });
    (go, store.update("gate".into(), "k".into(), 0, wait))
}

#[tokio::test]
async fn an_update_counts_the_bytes_that_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let small = StoreOptions {
        max_queued: 1 << 20,
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), small).unwrap();
    let (go, occupied) = occupy(&store);
    let updates: Vec<_> = (0..8)
        .map(|n| {
            let made = Box::new(|_: Option<&RawValue>| Ok(json("1")));
            store.update("s".into(), n.to_string(), 300 << 10, made)
        })
        .collect();
    drop(go);
    occupied.await.unwrap();
    let mut accepted = 0;
    for update in updates {
        match update.await {
            Ok(_) => accepted += 1,
            Err(error) => assert!(matches!(error, StateError::Overloaded { .. }), "{error}"),
        }
    }
    assert_eq!(accepted, 3);
    assert_eq!(set(&store, "s", "0", "2").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_write_above_the_limit_fits_an_empty_queue() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = StoreOptions {
        max_queued: 1,
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), tiny).unwrap();
    for n in 0..3 {
        assert_eq!(set(&store, "s", &n.to_string(), "1").await, None);
    }
}

#[tokio::test]
async fn writes_of_many_large_rows_are_committed_in_parts_and_in_order() {
    let (_dir, store) = fresh();
    let large = format!("\"{}\"", "x".repeat(5 << 20));
    for key in ["a", "b", "c", "d"] {
        set(&store, "s", key, &large).await;
    }
    let mut changes = store.changes();
    let (go, occupied) = occupy(&store);
    let deleted = ["a", "b", "c", "d", "a"].map(|key| store.delete("s".into(), key.into()));
    let last = store.set("s".into(), "a".into(), json("1"));
    drop(go);
    occupied.await.unwrap();
    for (n, deleted) in deleted.into_iter().enumerate() {
        assert_eq!(deleted.await.unwrap().is_some(), n < 4);
    }
    assert!(last.await.unwrap().is_none());
    assert_eq!(list(&store, "s"), ["1"]);
    assert_eq!(next(&mut changes).await, "gate/k: - > 0");
}

#[tokio::test]
async fn many_large_writes_of_one_caller_do_not_delay_the_write_of_another() {
    let (_dir, store) = fresh();
    let mut changes = store.changes();
    let (go, occupied) = occupy(&store);
    let large = format!("\"{}\"", "x".repeat(2 << 20));
    let write = |caller: &str, key: &str, value: &str| {
        let (caller, scope) = (Some(caller.into()), "s".into());
        store.write(caller, scope, key.into(), Op::Set(json(value)))
    };
    let many: Vec<_> = (0..8)
        .map(|n| write("many", &format!("many-{n}"), &large))
        .collect();
    let other = ["first", "second"].map(|key| write("other", key, "1"));
    drop(go);
    occupied.await.unwrap();
    for written in many.into_iter().chain(other) {
        written.await.unwrap();
    }
    let mut order = Vec::new();
    while order.len() < 11 {
        let change = next(&mut changes).await;
        order.extend(change.split_once(':').map(|(row, _)| row.to_owned()));
    }
    let expected = ["gate/k", "s/many-0", "s/first", "s/second", "s/many-1"];
    assert_eq!(order[..5], expected);
}
