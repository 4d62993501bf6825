//! How the file is found, opened and set up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::is_busy;
use super::{StateError, StoreOptions, schema};

/// The database's name in the data directory.
pub const FILE_NAME: &str = "state.db";

/// No database is shorter than one page of the smallest size.
const SHORTEST_DATABASE: u64 = 512;

/// SQLite takes a file of one byte for an empty one and would overwrite it; on macOS it makes
/// such files itself.
const SHORTEST_STRANGER: u64 = if cfg!(target_os = "macos") { 2 } else { 1 };

/// Statements kept prepared by each connection: more than there are.
const STATEMENTS: usize = 32;

/// Makes the directory if need be and answers where the database is.
pub(super) fn locate(dir: &Path) -> Result<PathBuf, StateError> {
    if existing(dir)?.is_none() {
        create(dir).map_err(|cause| StateError::Directory {
            path: dir.to_owned(),
            cause: Arc::new(cause),
        })?;
    }
    Ok(dir.join(FILE_NAME))
}

/// Where the database is, if there is one; an error if what is there can be none.
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
    match fs::metadata(&path) {
        Ok(found)
            if !found.is_file()
                || (SHORTEST_STRANGER..SHORTEST_DATABASE).contains(&found.len()) =>
        {
            Err(StateError::NotSqlite { path })
        }
        Ok(_) => Ok(Some(path)),
        Err(_) => Ok(None),
    }
}

/// Opens the writing connection: checks whose file it is, brings it up to date, switches to WAL.
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
        keep_private(path);
    }
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(failed)?;
    // Until we know that the file is ours, closing it must not move its WAL into it.
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
    keep_statements(&connection).map_err(failed)?;
    // Power must not be able to take back an acknowledged write. `fullfsync` is what makes that
    // true on macOS and does nothing elsewhere.
    for (pragma, value) in [
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),
        ("checkpoint_fullfsync", "ON"),
        ("temp_store", "MEMORY"),
        // Rows of 2 KiB are common, and of those a page of 4 KiB holds one. For new files only.
        ("page_size", "8192"),
        // KiB, for what is written over and over; SQLite's own 2 MiB are read again all the time.
        ("cache_size", "-32768"),
    ] {
        connection
            .pragma_update(None, pragma, value)
            .map_err(failed)?;
    }
    // The tables come before WAL: from its first commit on, the file itself says whose it is.
    schema::prepare(&mut connection, path, schema::MIGRATIONS)?;
    use_wal(&connection, path, options)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .map_err(failed)?;
    // 16 MiB: under load a page is written back once for many commits, and what has to be read
    // after a crash stays a matter of milliseconds.
    connection
        .pragma_update(None, "wal_autocheckpoint", 2000)
        .map_err(failed)?;
    // A WAL that grew while a reader held it back is cut again.
    connection
        .pragma_update(None, "journal_size_limit", 16 << 20)
        .map_err(failed)?;
    if let Some(pages) = options.max_pages {
        connection
            .pragma_update(None, "max_page_count", pages)
            .map_err(failed)?;
    }
    Ok(connection)
}

/// Opens a connection that can only read.
pub(super) fn open_reader(path: &Path, options: &StoreOptions) -> Result<Connection, StateError> {
    // Read-write at the file level, since a reader may have to recover the WAL; `query_only`
    // keeps it from writing rows. Never created: only `open_writer` knows how.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |cause| StateError::from_sqlite(path, "open", cause);
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(failed)?;
    keep_statements(&connection).map_err(failed)?;
    connection
        .pragma_update(None, "query_only", "ON")
        .map_err(failed)?;
    Ok(connection)
}

/// Statements are planned once per connection.
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Else SQLite, as bundled (with STAT4), plans a statement anew for every new key it is given:
    // several times the cost of the read itself.
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
            // SQLite does not wait for this lock by itself: the switch could deadlock with
            // another process that is switching too.
            Err(error) if is_busy(&error) && start.elapsed() < options.busy_timeout => {
                std::thread::sleep(super::write::BUSY_PAUSE);
            }
            Err(error) => return Err(StateError::from_sqlite(path, "open", error)),
        }
    }
}

/// What tells one file from another that took its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(Option<(u64, u64)>);

impl Identity {
    /// The identity of the file that has this path now.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(
            fs::metadata(path)
                .ok()
                .map(|found| (found.dev(), found.ino())),
        )
    }

    /// Elsewhere an open file cannot be removed or replaced.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> Self {
        Self(None)
    }
}

#[cfg(unix)]
fn create(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let above = |dir: &Path| match dir.parent() {
        Some(above) if above.as_os_str().is_empty() => PathBuf::from("."),
        Some(above) => above.to_owned(),
        None => dir.to_owned(),
    };
    let changed: Vec<_> = dir
        .ancestors()
        .take_while(|dir| !dir.exists())
        .map(above)
        .collect();
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    // Else a power cut could take back the directory with everything acknowledged in it.
    for above in changed {
        if let Err(error) = fs::File::open(&above).and_then(|above| above.sync_all()) {
            tracing::debug!(path = %above.display(), %error, "could not sync the directory");
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn create(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// What people registered is for them. By path, not by handle: see [`open_writer`].
#[cfg(unix)]
fn keep_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        tracing::warn!(path = %path.display(), %error, "could not make the database private");
    }
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) {}
