//! A check leaves the store and its directory unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::{FILE_NAME, SqliteState, StateError, StoreCheck, StoreOptions};
use super::{fresh, open, set};

fn check(dir: &Path) -> Result<Option<StoreCheck>, StateError> {
    SqliteState::check(dir, &StoreOptions::default())
}

/// Every file with its content.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    });
    files.collect()
}

#[test]
fn a_check_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let absent = dir.path().join("absent");
    assert_eq!(check(&absent).unwrap(), None);
    assert!(!absent.exists());
    assert_eq!(check(dir.path()).unwrap(), None);
    assert!(contents(dir.path()).is_empty());
    fs::write(dir.path().join(FILE_NAME), "").unwrap();
    assert_eq!(check(dir.path()).unwrap(), None);
    let file = dir.path().join(FILE_NAME);
    assert!(matches!(
        check(&file),
        Err(StateError::NotADirectory { .. })
    ));
}

/// A link to itself: even the superuser cannot follow it.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_reached_is_an_error_and_not_an_empty_store() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE_NAME);
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let error = check(dir.path()).unwrap_err();
    assert!(matches!(error, StateError::Directory { .. }), "{error}");
    let text = error.with_cause_and_hint();
    assert!(text.contains("check the owner and mode"), "{text}");
}

#[tokio::test]
async fn a_healthy_store_is_left_unchanged() {
    let (dir, store) = fresh();
    set(&store, "a", "x", "1").await;
    set(&store, "b", "x", "2").await;
    let used = check(dir.path()).unwrap().expect("a store in use");
    assert_eq!((used.version, used.outdated, used.rows), (1, false, 2));
    assert_eq!(used.path, dir.path().join(FILE_NAME));

    // As after a crash: with writes that are only in the WAL.
    let crashed = tempfile::tempdir().unwrap();
    for (name, bytes) in contents(dir.path()) {
        fs::write(crashed.path().join(name), bytes).unwrap();
    }
    let wal = crashed.path().join(format!("{FILE_NAME}-wal"));
    let before = fs::read(&wal).unwrap();
    assert!(!before.is_empty());
    assert_eq!(check(crashed.path()).unwrap().unwrap().rows, 2);
    assert_eq!(fs::read(&wal).unwrap(), before);
    set(&open(crashed.path()), "a", "y", "3").await;

    store.close();
    let before = contents(dir.path());
    assert_eq!(check(dir.path()).unwrap().unwrap().rows, 2);
    assert_eq!(contents(dir.path()), before);
}

#[tokio::test]
async fn damage_of_any_page_is_found() {
    let (dir, store) = fresh();
    let long = format!("\"{}\"", "x".repeat(300));
    for n in 0..200 {
        set(&store, "a", &n.to_string(), &long).await;
    }
    store.close();
    let path = dir.path().join(FILE_NAME);
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    // Whole pages that opening does not read.
    bytes[half..half + 16_384].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = check(dir.path()).unwrap_err();
    assert!(matches!(error, StateError::Damaged { .. }), "{error}");

    fs::write(&path, "no database, but longer than one page".repeat(50)).unwrap();
    let error = check(dir.path()).unwrap_err();
    assert!(matches!(error, StateError::NotSqlite { .. }), "{error}");
}
