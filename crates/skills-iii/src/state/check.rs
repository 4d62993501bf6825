//! Checks a store without creating or changing anything.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::{StateError, StoreOptions, file, schema, stored_value};

/// How many damaged rows a check names.
const MAX_DAMAGED_ROWS: usize = 1000;

/// The result of a successful check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    /// The database file.
    pub path: PathBuf,
    /// The version of its tables.
    pub version: i64,
    /// Whether this program will migrate them when it opens the store.
    pub outdated: bool,
    /// The number of rows of all scopes.
    pub rows: i64,
    /// Rows whose values are not JSON; at most the first 1000.
    pub damaged: Vec<DamagedRow>,
}

/// A row whose value is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    /// Its scope.
    pub scope: String,
    /// Its key.
    pub key: String,
    /// What is wrong with the value.
    pub problem: String,
}

/// Reads all of the store in a directory. None if the directory has no store.
pub(super) fn check(dir: &Path, options: &StoreOptions) -> Result<Option<StoreCheck>, StateError> {
    let Some(path) = file::existing(dir)? else {
        return Ok(None);
    };
    // A WAL that a crash left behind is recovered by the next writer, so closing must not remove
    // it. Without one, closing removes the files that reading creates.
    let keep_wal = std::fs::metadata(file::wal_of(&path)).is_ok_and(|wal| wal.len() > 0);
    let connection = file::open_reader(&path, options)?;
    let failed = |cause| StateError::from_sqlite(&path, "check", cause);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_wal)
        .map_err(failed)?;
    let current = schema::check(&connection, &path, schema::MIGRATIONS)?;
    let version = schema::version(&connection).map_err(failed)?;
    if version == 0 {
        return Ok(None);
    }
    let result = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let result = result.map_err(failed)?;
    if result != "ok" {
        return Err(StateError::Damaged {
            path,
            detail: result,
        });
    }
    let rows = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0));
    let rows = rows.map_err(failed)?;
    let damaged = damaged_rows(&connection).map_err(failed)?;
    Ok(Some(StoreCheck {
        version,
        outdated: !current,
        rows,
        damaged,
        path,
    }))
}

fn damaged_rows(connection: &Connection) -> rusqlite::Result<Vec<DamagedRow>> {
    let mut find = connection.prepare(
        "SELECT scopes.name, entries.key, entries.value
         FROM entries JOIN scopes ON scopes.id = entries.scope ORDER BY entries.id",
    )?;
    let mut rows = find.query([])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()?
        && damaged.len() < MAX_DAMAGED_ROWS
    {
        if let Err(problem) = stored_value::check(row.get_ref(2)?.as_bytes()?) {
            let name = |column| -> rusqlite::Result<String> {
                let bytes = row.get_ref(column)?.as_bytes()?;
                Ok(String::from_utf8_lossy(bytes).into_owned())
            };
            damaged.push(DamagedRow {
                scope: name(0)?,
                key: name(1)?,
                problem,
            });
        }
    }
    Ok(damaged)
}
