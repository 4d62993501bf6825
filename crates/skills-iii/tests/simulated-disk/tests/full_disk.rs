//! A full disk: a checkpoint makes space, failures are logged and counted, and space that is freed
//! is used.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::value::{RawValue, to_raw_value};
use simulated_disk::Disk;
use skills_iii::state::{SqliteState, StateError, StoreOptions};
use tracing_subscriber::fmt::MakeWriter;

fn value(bytes: usize) -> Box<RawValue> {
    to_raw_value(&"x".repeat(bytes)).unwrap()
}

/// Keeps no past writes, so that overwriting a row needs no space in the database.
fn options() -> StoreOptions {
    StoreOptions {
        log_len: 1,
        log_bytes: 1,
        ..StoreOptions::default()
    }
}

#[tokio::test]
async fn a_checkpoint_makes_the_space_of_the_wal_available() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::install(dir.path());
    let set = |store: &SqliteState, n: usize| {
        let key = (n % 3).to_string();
        store.set("s".into(), key, value(100_000))
    };
    // The database has the space that it needs after this is closed.
    let store = SqliteState::open(dir.path(), options()).unwrap();
    for n in 0..12 {
        set(&store, n).await.unwrap();
    }
    store.close();
    let store = SqliteState::open(dir.path(), options()).unwrap();
    // Far less than the WAL grows to before SQLite makes a checkpoint of its own.
    disk.set_max_bytes(Some(disk.used_bytes() + (1 << 20)));
    for n in 0..50 {
        set(&store, n)
            .await
            .unwrap_or_else(|error| panic!("write {n}: {error}"));
    }
    assert!(store.write_problem().is_none());
}

#[tokio::test]
async fn a_full_disk_is_reported_once_and_space_that_is_freed_is_used() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(log.clone())
        .init();
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::install(dir.path());
    let store = SqliteState::open(dir.path(), options()).unwrap();
    let set = |n: usize| store.set("s".into(), n.to_string(), value(100_000));
    set(0).await.unwrap();
    disk.set_max_bytes(Some(disk.used_bytes()));
    for n in 1..50 {
        let error = set(n).await.unwrap_err();
        assert!(matches!(error, StateError::Full { .. }), "{error}");
    }
    let problem = store.write_problem().expect("writes fail");
    assert!(matches!(problem, StateError::Full { .. }), "{problem}");
    assert!(store.get("s", "0").unwrap().is_some(), "reads still work");
    let (text, dir) = (log.text(), dir.path().display().to_string());
    // Another test may log too.
    let lines = text.lines().filter(|line| line.contains(&dir));
    let lines = lines.filter(|line| line.contains("writes fail"));
    assert_eq!(lines.count(), 1, "{text}");
    assert!(text.contains("no space left to write"), "{text}");

    disk.set_max_bytes(None);
    set(1).await.unwrap();
    assert!(store.write_problem().is_none());
    assert_eq!(log.text().matches("writes succeed again").count(), 1);
}

/// Collects the log. The writer logs from a thread of its own, so a subscriber of the test's thread
/// would not see it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
