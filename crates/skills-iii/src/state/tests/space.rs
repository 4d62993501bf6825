//! A full disk: writes fail with an error, reads still work, and writes work again after space is freed.

use super::*;

fn small_store(dir: &Path) -> SqliteState {
    // 100 pages, and almost no log, so that a delete frees space.
    SqliteState::open(
        dir,
        StoreOptions {
            max_pages: Some(100),
            log_bytes: 1,
            ..StoreOptions::default()
        },
    )
    .unwrap()
}

fn page_of_text() -> String {
    format!("\"{}\"", "x".repeat(10_000))
}

#[tokio::test]
async fn a_full_disk_fails_the_write_and_keeps_serving_reads() {
    let dir = tempfile::tempdir().unwrap();
    let store = small_store(dir.path());
    let mut changes = store.changes();
    let mut kept = 0;
    let error = loop {
        let value = json(&page_of_text());
        match store.set("s".into(), kept.to_string(), value).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StateError::Full { .. }), "{error}");
    assert!(
        error.to_string().contains("no space left to write"),
        "{error}"
    );
    assert!(error.to_string().contains("state.db"), "{error}");
    let problem = store.write_problem().expect("writes fail");
    assert!(matches!(problem, StateError::Full { .. }), "{problem}");
    assert!(kept > 10, "only {kept} rows fitted");
    assert_eq!(list(&store, "s").len(), kept);
    assert!(store.get("s", "0").unwrap().is_some());

    store.delete("s".into(), "0".into()).await.unwrap();
    store.delete("s".into(), "1".into()).await.unwrap();
    let again = set(&store, "s", "again", "1").await;
    assert_eq!(again, None, "there is space again");
    assert!(store.write_problem().is_none());
    store.close();

    let mut published = 0;
    while changes.recv().await.is_some() {
        published += 1;
    }
    assert_eq!(published, kept + 3, "failed writes are not published");
    assert_eq!(list(&open(dir.path()), "s").len(), kept - 1);
}

#[tokio::test]
async fn a_write_that_does_not_fit_fails_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = small_store(dir.path());
    // Holds the writer until everything below is queued, so that it is one batch.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let gate = store.update(
        "s".into(),
        "gate".into(),
        0,
        Box::new(move |_| {
            let _ = wait.recv();
            Ok(json("0"))
        }),
    );
    let small = store.set("s".into(), "small".into(), json("1"));
    let count = |old: Option<&RawValue>| {
        let n: u32 = old.map_or(0, |old| old.get().parse().unwrap());
        Ok(json(&(n + 1).to_string()))
    };
    let counted = store.update("s".into(), "n".into(), 0, Box::new(count));
    let counted_again = store.update("s".into(), "n".into(), 0, Box::new(count));
    let huge = store.set(
        "s".into(),
        "huge".into(),
        json(&format!("\"{}\"", "x".repeat(1 << 20))),
    );
    let last = store.set("s".into(), "last".into(), json("2"));
    go.send(()).unwrap();
    gate.await.unwrap();
    small.await.unwrap();
    counted.await.unwrap();
    counted_again.await.unwrap();
    assert!(matches!(huge.await.unwrap_err(), StateError::Full { .. }));
    last.await.unwrap();
    assert_eq!(list(&store, "s"), ["0", "1", "2", "2"]);
}

#[tokio::test]
async fn the_space_of_deleted_rows_is_given_back_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        log_bytes: 1,
        ..StoreOptions::default()
    };
    let store = SqliteState::open(dir.path(), options).unwrap();
    for number in 0..200 {
        let value = json(&page_of_text());
        store
            .set("s".into(), number.to_string(), value)
            .await
            .unwrap();
    }
    for number in 1..200 {
        store.delete("s".into(), number.to_string()).await.unwrap();
    }
    let freed = store.compact().await.unwrap();
    assert!(freed > 1_500_000, "{freed} bytes");
    let length = std::fs::metadata(dir.path().join("state.db"))
        .unwrap()
        .len();
    assert!(length < 500_000, "{length} bytes are left");
    assert_eq!(list(&store, "s").len(), 1);
    // Another process has the file open too.
    let other = open(dir.path());
    store.compact().await.unwrap();
    set(&other, "s", "more", "1").await;
    assert_eq!(list(&store, "s").len(), 2);
}

#[tokio::test]
async fn a_replaced_value_is_not_in_the_file_after_it_was_compacted() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    set(&store, "s", "replaced", "\"first secret\"").await;
    set(&store, "s", "replaced", "1").await;
    set(&store, "s", "deleted", "\"second secret\"").await;
    store.delete("s".into(), "deleted".into()).await.unwrap();
    // It has read all of this, and follows the changes.
    let other = open(dir.path());
    let mut changes = other.changes();
    store.compact().await.unwrap();
    set(&store, "s", "replaced", "2").await;
    loop {
        match changes.recv().await.unwrap() {
            StateChange::Row { new, .. } if new.is_some() => break,
            StateChange::Reload => break,
            StateChange::Row { .. } => {}
        }
    }
    assert_eq!(list(&other, "s"), ["2"]);
    set(&store, "s", "more", "3").await;
    let change = changes.recv().await.unwrap();
    assert!(matches!(change, StateChange::Row { key, .. } if key == "more"));
    drop(changes);
    other.close();
    store.close();
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("secret"), "{}", path.display());
    }
    let again = open(dir.path());
    assert_eq!(list(&again, "s"), ["2", "3"]);
}
