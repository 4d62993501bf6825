//! Finds, creates and opens the database file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::is_busy;
use super::{StateError, StoreOptions, schema};

/// The name of the database in the data directory.
pub const FILE_NAME: &str = "state.db";

/// A database has at least one page of the smallest size.
const MIN_DATABASE_BYTES: u64 = 512;

/// A shorter file may be overwritten. SQLite treats a file of one byte as empty; on macOS it
/// creates such files itself.
const MIN_FOREIGN_BYTES: u64 = if cfg!(target_os = "macos") { 2 } else { 1 };

/// Prepared statements that each connection keeps: more than it uses.
const MAX_CACHED_STATEMENTS: usize = 32;

/// Creates the directory if it does not exist, and returns the path of the database.
pub(super) fn locate(dir: &Path) -> Result<PathBuf, StateError> {
    if existing(dir)?.is_none() {
        create(dir).map_err(|cause| StateError::Directory {
            path: dir.to_owned(),
            cause: Arc::new(cause),
        })?;
    }
    Ok(dir.join(FILE_NAME))
}

/// The path of the database if it exists; an error if the file cannot be a database.
pub(super) fn existing(dir: &Path) -> Result<Option<PathBuf>, StateError> {
    match fs::metadata(dir) {
        Ok(found) if found.is_dir() => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() != io::ErrorKind::NotADirectory => {
            return Err(StateError::Directory {
                path: dir.to_owned(),
                cause: Arc::new(error),
            });
        }
        Ok(_) | Err(_) => {
            return Err(StateError::NotADirectory {
                path: dir.to_owned(),
            });
        }
    }
    let path = dir.join(FILE_NAME);
    let wal = wal_of(&path);
    // Before the size of the database: another process that creates the store writes the database
    // first.
    let has_wal = fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0);
    match fs::metadata(&path) {
        Ok(found)
            if !found.is_file()
                || (MIN_FOREIGN_BYTES..MIN_DATABASE_BYTES).contains(&found.len()) =>
        {
            Err(StateError::NotSqlite { path })
        }
        Ok(found) if found.len() >= MIN_DATABASE_BYTES => Ok(Some(path)),
        _ if has_wal => Err(StateError::Emptied { path, wal }),
        Ok(_) => Ok(Some(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StateError::Directory {
            path: dir.to_owned(),
            cause: Arc::new(error),
        }),
    }
}

/// The path of a database's WAL.
pub(super) fn wal_of(path: &Path) -> PathBuf {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    wal.into()
}

/// Opens the connection of the writer: checks and migrates the schema, and switches to WAL.
///
/// The file is only ever opened through SQLite. Closing a plain handle to it would drop the locks
/// that another store in this process holds on it (POSIX locks belong to the process).
pub(super) fn open_writer(path: &Path, options: &StoreOptions) -> Result<Connection, StateError> {
    let new = !path.exists();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |cause| StateError::from_sqlite(path, "open", cause);
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    if new {
        make_private(path);
    }
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(failed)?;
    // Until the file is known to be ours, closing it must not checkpoint its WAL.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(failed)?;
    if connection.is_readonly("main").map_err(failed)? {
        let detail = "the file is read-only".to_owned();
        return Err(StateError::Unwritable {
            path: path.to_owned(),
            detail,
        });
    }
    configure_statements(&connection).map_err(failed)?;
    let set = |pragma, value| {
        connection
            .pragma_update(None, pragma, value)
            .map_err(failed)
    };
    // A power cut must not undo an acknowledged write. On macOS that takes `fullfsync`, which has
    // no effect elsewhere.
    for (pragma, value) in [
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),
        ("checkpoint_fullfsync", "ON"),
        ("temp_store", "MEMORY"),
        // Rows of 2 KiB are common, and a page of 4 KiB has space for only one. New files only.
        ("page_size", "8192"),
        // KiB. With SQLite's default of 2 MiB, pages that are written often are read again often.
        ("cache_size", "-32768"),
    ] {
        set(pragma, value)?;
    }
    // Before WAL, so that the file has its application id from its first commit on.
    schema::prepare(&mut connection, path, schema::MIGRATIONS)?;
    use_wal(&connection, path, options)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map_err(failed)?;
    let set = |pragma, value: u32| {
        connection
            .pragma_update(None, pragma, value)
            .map_err(failed)
    };
    // Pages, 16 MiB: under load a page is checkpointed once for many commits, and recovery after
    // a crash still takes milliseconds.
    set("wal_autocheckpoint", 2000)?;
    // Truncates a WAL that grew because a reader delayed the checkpoint.
    set("journal_size_limit", 16 << 20)?;
    if let Some(pages) = options.max_pages {
        set("max_page_count", pages)?;
    }
    Ok(connection)
}

/// Opens a connection for reading.
pub(super) fn open_reader(path: &Path, options: &StoreOptions) -> Result<Connection, StateError> {
    // Read-write at the file level, since a reader may have to recover the WAL; `query_only`
    // prevents writes of rows. Without the flag to create: only `open_writer` creates the file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |cause| StateError::from_sqlite(path, "open", cause);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(failed)?;
    configure_statements(&connection).map_err(failed)?;
    connection
        .pragma_update(None, "query_only", "ON")
        .map_err(failed)?;
    Ok(connection)
}

/// Makes each connection plan a statement only once.
fn configure_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    // The bundled SQLite (with STAT4) would otherwise plan a statement again for every new key,
    // which costs several times the read itself.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn use_wal(connection: &Connection, path: &Path, options: &StoreOptions) -> Result<(), StateError> {
    let start = Instant::now();
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |row| {
            row.get::<_, String>(0)
        });
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let detail = format!(
                    "its file system has no shared memory, which several processes need \
                     (journal mode stays `{mode}`)"
                );
                return Err(StateError::Unwritable {
                    path: path.to_owned(),
                    detail,
                });
            }
            // SQLite does not wait for this lock, because two processes that switch at the same
            // time could deadlock.
            Err(error) if is_busy(&error) && start.elapsed() < options.busy_timeout => {
                std::thread::sleep(super::write::LOCK_RETRY_DELAY);
            }
            Err(error) => return Err(StateError::from_sqlite(path, "open", error)),
        }
    }
}

/// Distinguishes a file from another one that has replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(Option<(u64, u64)>);

impl Identity {
    /// The identity of the file at this path.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(
            fs::metadata(path)
                .ok()
                .map(|found| (found.dev(), found.ino())),
        )
    }

    /// On other systems an open file cannot be removed or replaced.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Self {
        Self(None)
    }
}

#[cfg(unix)]
fn create(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let parent = |dir: &Path| match dir.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => dir.to_owned(),
    };
    let missing = dir.ancestors().take_while(|dir| !dir.exists());
    let changed: Vec<_> = missing.map(parent).collect();
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    // Without a sync, a power cut could undo the creation of the directory and lose the database.
    for parent in changed {
        if let Err(error) = fs::File::open(&parent).and_then(|parent| parent.sync_all()) {
            tracing::debug!(path = %parent.display(), %error, "could not sync the directory");
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn create(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Only the owner may read the file. By path, not by handle: see [`open_writer`].
#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        tracing::warn!(path = %path.display(), %error, "could not make the database private");
    }
}

#[cfg(not(unix))]
fn make_private(_path: &Path) {}
