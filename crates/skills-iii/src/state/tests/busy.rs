//! Another process holds the lock: writes wait, then fail with an error; reads still work.

use rusqlite::Connection;

use super::super::FILE_NAME;
use super::*;

#[tokio::test]
async fn a_lock_held_too_long_fails_the_write_and_not_the_reads() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        busy_timeout: Duration::from_millis(50),
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), options).unwrap();
    set(&store, "s", "k", "1").await;
    let other = Connection::open(dir.path().join(FILE_NAME)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store
        .set("s".into(), "k".into(), json("2"))
        .await
        .unwrap_err();
    assert!(matches!(error, StateError::Busy { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("stayed locked by another process"),
        "{error}"
    );
    assert_eq!(text(store.get("s", "k").unwrap()).as_deref(), Some("1"));
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(set(&store, "s", "k", "3").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_write_waits_until_a_lock_is_released() {
    let (dir, store) = fresh();
    let other = Connection::open(dir.path().join(FILE_NAME)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut write = store.set("s".into(), "k".into(), json("1"));
    timeout(Duration::from_millis(20), &mut write)
        .await
        .unwrap_err();
    other.execute_batch("COMMIT").unwrap();
    timeout(TIMEOUT, write).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_idle_store_holds_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    // A poll for changes takes a read lock for a moment, possibly when the test checks.
    let idle = StoreOptions {
        poll_interval: Duration::from_hours(1),
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), idle).unwrap();
    set(&store, "s", "k", "1").await;
    store.list("s").unwrap();
    let other = Connection::open(dir.path().join(FILE_NAME)).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    // Writes, and checkpoints the whole WAL, which a reader would prevent.
    other.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    let blocked: i64 = other
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(blocked, 0);
}
