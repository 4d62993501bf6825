//! Whether a store is well, found out without making or changing anything.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;

use super::{StateError, StoreOptions, file, schema};

/// A store that is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheck {
    /// The database file.
    pub path: PathBuf,
    /// The version of its tables.
    pub version: i64,
    /// Whether this program will have to bring them up to date first.
    pub outdated: bool,
    /// How many rows it holds, of all scopes.
    pub rows: i64,
}

/// Looks at the store in a directory, all of it. None if nothing was ever kept there.
pub(super) fn check(dir: &Path, options: &StoreOptions) -> Result<Option<StoreCheck>, StateError> {
    let Some(path) = file::existing(dir)? else {
        return Ok(None);
    };
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    // What a crash left there is for the next owner to take over. Without it, the files that
    // reading makes are to go again when we close.
    let left = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let connection = file::open_reader(&path, options)?;
    let failed = |cause| StateError::from_sqlite(&path, "check", cause);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, left)
        .map_err(failed)?;
    let current = schema::check(&connection, &path, schema::MIGRATIONS)?;
    let version = schema::version(&connection).map_err(failed)?;
    if version == 0 {
        return Ok(None);
    }
    let said = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let said = said.map_err(failed)?;
    if said != "ok" {
        return Err(StateError::Damaged { path, detail: said });
    }
    let rows = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0));
    let rows = rows.map_err(failed)?;
    Ok(Some(StoreCheck {
        version,
        outdated: !current,
        rows,
        path,
    }))
}
