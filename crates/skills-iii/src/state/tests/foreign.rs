//! Files that are foreign, damaged or of another version are left unchanged.

use std::fs;

use rusqlite::Connection;

use super::super::FILE_NAME;
use super::super::schema::{self, APPLICATION_ID, MIGRATIONS};
use super::*;

fn refused(dir: &Path) -> String {
    let error = SqliteState::open(dir, StoreOptions::default()).unwrap_err();
    format!("{error} ({})", error.hint().unwrap_or("no hint"))
        .replace(&dir.display().to_string(), "DIR")
        .replace('\\', "/")
}

#[track_caller]
fn check_untouched(contents: &[u8], expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE_NAME);
    fs::write(&path, contents).unwrap();
    assert_eq!(refused(dir.path()), expected);
    assert_eq!(fs::read(&path).unwrap(), contents, "the file was changed");
}

/// The bytes of a database that these statements create.
fn database(sql: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn a_file_that_is_not_a_database_is_left_unchanged() {
    const EXPECTED: &str = "DIR/state.db is not a SQLite database \
        (the file was left as it is; move it away or use another data directory)";
    check_untouched(b"x", EXPECTED);
    check_untouched(b"SQLite format 3", EXPECTED);
    check_untouched("# notes\n".repeat(2000).as_bytes(), EXPECTED);
}

#[test]
fn a_database_of_another_program_is_left_unchanged() {
    const EXPECTED: &str = "DIR/state.db is a SQLite database of another program \
        (the file was left as it is; move it away or use another data directory)";
    check_untouched(&database("CREATE TABLE t (x)"), EXPECTED);
    check_untouched(
        &database("PRAGMA application_id = 7; PRAGMA user_version = 1"),
        EXPECTED,
    );
    check_untouched(&database("PRAGMA user_version = 1"), EXPECTED);
    check_untouched(
        &database("PRAGMA journal_mode = WAL; CREATE TABLE t (x)"),
        EXPECTED,
    );
}

#[test]
fn another_programs_wal_is_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let busy = tempfile::tempdir().unwrap();
    let theirs = Connection::open(busy.path().join(FILE_NAME)).unwrap();
    theirs
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
        .unwrap();
    // As a killed program leaves them.
    let files = [FILE_NAME.to_owned(), format!("{FILE_NAME}-wal")];
    for file in &files {
        fs::copy(busy.path().join(file), dir.path().join(file)).unwrap();
    }
    let message = refused(dir.path());
    assert!(
        message.starts_with("DIR/state.db is a SQLite database of another program"),
        "{message}"
    );
    for file in &files {
        let (before, after) = (busy.path().join(file), dir.path().join(file));
        assert!(
            fs::read(before).unwrap() == fs::read(after).unwrap(),
            "{file} was touched"
        );
    }
}

#[test]
fn a_newer_database_is_left_unchanged() {
    let sql = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 99");
    check_untouched(
        &database(&sql),
        "DIR/state.db has schema version 99, and this program knows versions up to 1 \
         (the file was left as it is; update this program or use another data directory)",
    );
}

#[tokio::test]
async fn a_damaged_database_is_reported_and_left_alone() {
    let (dir, store) = fresh();
    for n in 0..200 {
        set(
            &store,
            "s",
            &n.to_string(),
            &format!("\"{}\"", "x".repeat(2000)),
        )
        .await;
    }
    store.close();
    let whole = fs::read(dir.path().join(FILE_NAME)).unwrap();

    // Cut in the middle: SQLite knows at once.
    let half = tempfile::tempdir().unwrap();
    fs::write(half.path().join(FILE_NAME), &whole[..whole.len() / 2]).unwrap();
    let message = refused(half.path());
    assert!(
        message.starts_with("DIR/state.db is damaged: "),
        "{message}"
    );
    assert_eq!(
        fs::read(half.path().join(FILE_NAME)).unwrap().len(),
        whole.len() / 2
    );

    // Damaged after the first page: an error at the open or at the read, never an empty list.
    let torn = tempfile::tempdir().unwrap();
    let mut bytes = whole.clone();
    bytes[4096..].fill(0x5a);
    fs::write(torn.path().join(FILE_NAME), &bytes).unwrap();
    let error = SqliteState::open(torn.path(), StoreOptions::default())
        .and_then(|store| store.list("s"))
        .unwrap_err();
    assert!(matches!(error, StateError::Damaged { .. }), "{error}");
    assert!(error.hint().unwrap().contains("backup"));
    assert!(
        fs::read(torn.path().join(FILE_NAME)).unwrap() == bytes,
        "the file was changed"
    );
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE_NAME), b"").unwrap();
    set(&open(dir.path()), "s", "k", "1").await;
    assert_eq!(list(&open(dir.path()), "s"), ["1"]);
}

#[tokio::test]
async fn an_empty_database_beside_a_wal_with_content_is_left_unchanged() {
    const EXPECTED: &str = "DIR/state.db has no content, but DIR/state.db-wal has \
        (nothing was changed; restore the database beside its `-wal`, or move the `-wal` away to \
        begin with an empty store)";
    let (used, store) = fresh();
    set(&store, "s", "k", "1").await;
    let wal = fs::read(used.path().join(format!("{FILE_NAME}-wal"))).unwrap();
    assert!(!wal.is_empty());
    for database in [Some(b""), None] {
        let dir = tempfile::tempdir().unwrap();
        let (path, wal_path) = (
            dir.path().join(FILE_NAME),
            dir.path().join(format!("{FILE_NAME}-wal")),
        );
        if let Some(bytes) = database {
            fs::write(&path, bytes).unwrap();
        }
        fs::write(&wal_path, &wal).unwrap();
        assert_eq!(refused(dir.path()), EXPECTED);
        SqliteState::check(dir.path(), &StoreOptions::default()).unwrap_err();
        assert_eq!(fs::read(&wal_path).unwrap(), wal, "the WAL was changed");

        fs::write(&wal_path, b"").unwrap();
        set(&open(dir.path()), "s", "k", "1").await;
    }
}

#[tokio::test]
async fn a_version_1_file_opens_with_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let tables = MIGRATIONS[0];
    let made = database(&format!(
        "{tables}
         PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;
         INSERT INTO scopes VALUES (1, 's');
         INSERT INTO entries VALUES (1, 1, 'a', '1'), (2, 1, 'b', '2');"
    ));
    fs::write(dir.path().join(FILE_NAME), made).unwrap();
    let store = open(dir.path());
    set(&store, "s", "c", "3").await;
    assert_eq!(list(&store, "s"), ["1", "2", "3"]);
}

#[test]
fn a_failed_migration_leaves_the_older_version_intact() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE_NAME);
    let mut connection = Connection::open(&path).unwrap();
    schema::prepare(&mut connection, &path, MIGRATIONS).unwrap();
    connection
        .execute("INSERT INTO scopes VALUES (1, 's')", [])
        .unwrap();

    let good = "ALTER TABLE scopes ADD COLUMN note TEXT NOT NULL DEFAULT 'kept'";
    let bad = "CREATE TABLE other (x); CREATE TABLE other (x)";
    schema::prepare(&mut connection, &path, &[MIGRATIONS[0], good, bad]).unwrap_err();
    assert_eq!(schema::version(&connection).unwrap(), 1);
    connection.prepare("SELECT note FROM scopes").unwrap_err();

    schema::prepare(&mut connection, &path, &[MIGRATIONS[0], good]).unwrap();
    assert_eq!(schema::version(&connection).unwrap(), 2);
    let note: String = connection
        .query_row("SELECT note FROM scopes", [], |row| row.get(0))
        .unwrap();
    assert_eq!(note, "kept");
    schema::prepare(&mut connection, &path, MIGRATIONS).unwrap_err();
}

#[tokio::test]
async fn writes_stop_when_a_newer_program_upgrades_the_file() {
    let (dir, store) = fresh();
    set(&store, "s", "k", "1").await;
    let newer = Connection::open(dir.path().join(FILE_NAME)).unwrap();
    newer.pragma_update(None, "user_version", 2).unwrap();
    let error = store
        .set("s".into(), "k".into(), json("2"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StateError::Newer { found: 2, .. }),
        "{error}"
    );
    assert_eq!(text(store.get("s", "k").unwrap()).as_deref(), Some("1"));
}

#[test]
fn a_path_that_is_a_file_is_an_error() {
    const EXPECTED: &str = "the data directory DIR is not a directory \
        (name a directory, or a path that does not exist)";
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"mine").unwrap();
    assert_eq!(refused(&file), EXPECTED);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(FILE_NAME)).unwrap();
    assert!(refused(dir.path()).starts_with("DIR/state.db is not a SQLite database"));
}

#[cfg(unix)]
#[test]
fn a_missing_directory_is_created_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/b");
    let store = open(&deep);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&deep), 0o700);
    for file in fs::read_dir(&deep).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(store);
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_without_write_permission_is_an_error() {
    // Not even root can create a file here.
    let dir = Path::new("/proc/self");
    let message = refused(dir);
    assert!(
        message.starts_with("could not open DIR/state.db for writing: "),
        "{message}"
    );
    assert!(message.contains("use another data directory"), "{message}");
    let message = refused(&dir.join("state"));
    assert!(
        message.starts_with("could not use the data directory DIR ("),
        "{message}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn writing_to_a_file_that_was_removed_is_an_error() {
    let (dir, store) = fresh();
    set(&store, "s", "k", "1").await;
    fs::remove_file(dir.path().join(FILE_NAME)).unwrap();
    let error = store
        .set("s".into(), "k".into(), json("2"))
        .await
        .unwrap_err();
    assert!(matches!(error, StateError::Replaced { .. }), "{error}");
}
