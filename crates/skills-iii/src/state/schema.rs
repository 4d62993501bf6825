//! The tables, and the migration of older files.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::StateError;

/// "skls": marks our files among SQLite databases.
pub(super) const APPLICATION_ID: i64 = 0x736b_6c73;

/// Step `n` (from 0) migrates version `n` to `n + 1`. Steps are never changed or removed.
pub(super) const MIGRATIONS: &[&str] = &[
    // `entries.id` grows, so it is the insertion order. The index on `scope` contains it, so a
    // list is one ordered scan.
    //
    // `log.old` is the value that a write replaced (NULL: there was no row). The value that it
    // wrote is the `old` of the key's next log row, or the row itself: values are not stored
    // twice. `log.total` is the running size of the log, by which its oldest part is pruned.
    "CREATE TABLE scopes (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE
     ) STRICT;
     CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        key TEXT NOT NULL,
        value TEXT NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX entries_by_key ON entries (scope, key);
     CREATE INDEX entries_in_order ON entries (scope);
     CREATE TABLE log (
        seq INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes (id),
        key TEXT NOT NULL,
        old TEXT,
        total INTEGER NOT NULL
     ) STRICT;",
];

/// The version that this program writes.
pub(super) fn latest(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

/// Reads the version of an open database.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA user_version")?
        .query_row([], |row| row.get(0))
}

/// Checks that the file is ours and migrates it to the newest version.
///
/// An empty file is a new store. All steps happen in one transaction: another process sees the
/// old schema or the new one.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), StateError> {
    let failed = |cause| StateError::from_sqlite(path, "read", cause);
    // One snapshot for all reads. Otherwise another process could create the tables between two
    // reads, and the mixture would look like a foreign file.
    let snapshot = connection.transaction().map_err(failed)?;
    if check(&snapshot, path, migrations)? {
        return Ok(());
    }
    drop(snapshot);
    // Immediate: of two processes that migrate, the second must see the result of the first.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    if check(&transaction, path, migrations)? {
        return Ok(());
    }
    let failed = |cause| StateError::from_sqlite(path, "prepare the tables of", cause);
    let from = version(&transaction).map_err(failed)?;
    for migration in migrations.iter().skip(usize::try_from(from).unwrap_or(0)) {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    for (pragma, value) in [
        ("application_id", APPLICATION_ID),
        ("user_version", latest(migrations)),
    ] {
        let updated = transaction.pragma_update(None, pragma, value);
        updated.map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    // The tables of a new file are nothing to tell.
    if from > 0 {
        let (path, to) = (path.display(), latest(migrations));
        tracing::info!(%path, from, to, "converted the state tables");
    }
    Ok(())
}

/// Whether the file has the newest version; an error if it must not be changed.
pub(super) fn check(
    connection: &Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<bool, StateError> {
    let read = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let failed = |cause| StateError::from_sqlite(path, "read", cause);
    let id = read("PRAGMA application_id").map_err(failed)?;
    let found = version(connection).map_err(failed)?;
    let objects = read("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    if id == 0 && found == 0 && objects == 0 {
        return Ok(false);
    }
    if id != APPLICATION_ID {
        return Err(StateError::Foreign {
            path: path.to_owned(),
        });
    }
    let supported = latest(migrations);
    if found > supported {
        return Err(StateError::Newer {
            path: path.to_owned(),
            found,
            supported,
        });
    }
    if found < 0 {
        let detail = format!("schema version {found} does not exist");
        return Err(StateError::Damaged {
            path: path.to_owned(),
            detail,
        });
    }
    Ok(found == supported)
}
