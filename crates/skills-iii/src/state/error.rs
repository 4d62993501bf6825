//! The errors of a store, with hints.

use std::error::Error as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Why an operation of the store failed.
///
/// Cheap to clone: every write of a failed batch gets a copy.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The data directory is not a directory.
    #[error("the data directory {} is not a directory", path.display())]
    NotADirectory {
        /// The path that was given.
        path: PathBuf,
    },
    /// The data directory could not be created or read.
    #[error("could not use the data directory {}", path.display())]
    Directory {
        /// The path that was given.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: Arc<io::Error>,
    },
    /// The database, or the directory around it, cannot be written or opened.
    #[error("could not open {} for writing: {detail}", path.display())]
    Unwritable {
        /// The database file.
        path: PathBuf,
        /// The error of SQLite.
        detail: String,
    },
    /// The file is not a SQLite database, or its first page is damaged.
    #[error("{} is not a SQLite database", path.display())]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// The file is a SQLite database of another program.
    #[error("{} is a SQLite database of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer version of this program.
    #[error(
        "{} has schema version {found}, and this program knows versions up to {supported}",
        path.display()
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The newest version this program can use.
        supported: i64,
    },
    /// The database is damaged. Nothing was changed.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The value of one row is not JSON. Other rows are not affected.
    #[error("the value of `{key}` in `{scope}` is damaged: {problem}")]
    DamagedRow {
        /// The row's scope.
        scope: String,
        /// The row's key.
        key: String,
        /// What is wrong with the value.
        problem: String,
    },
    /// A write that expects a value found another one. Nothing was written.
    #[error("`{key}` in `{scope}` does not have the expected value")]
    ChangedRow {
        /// The row's scope.
        scope: String,
        /// The row's key.
        key: String,
    },
    /// The database is empty or missing, but its WAL has content. Opening it would delete the WAL.
    #[error("{} has no content, but {} has", path.display(), wal.display())]
    Emptied {
        /// The database file.
        path: PathBuf,
        /// Its WAL.
        wal: PathBuf,
    },
    /// The file at the path is not the one that was opened.
    #[error("{} was removed or replaced while it was in use", path.display())]
    Replaced {
        /// The database file.
        path: PathBuf,
    },
    /// There is no space for the write. Reads still work.
    #[error("no space left to write {}", path.display())]
    Full {
        /// The database file.
        path: PathBuf,
    },
    /// Another process kept the database locked for too long.
    #[error("{} stayed locked by another process for {waited:?}", path.display())]
    Busy {
        /// The database file.
        path: PathBuf,
        /// How long the operation waited.
        waited: Duration,
    },
    /// A scope, key, value or update exceeds its limit.
    #[error("the {what} has {size} bytes, and at most {limit} are stored")]
    TooLarge {
        /// `scope`, `key`, `value` or `update`.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Too many writes wait.
    #[error("too many writes are waiting ({queued} bytes)")]
    Overloaded {
        /// The bytes that wait.
        queued: usize,
    },
    /// The function of an update returned an error.
    #[error("{message}")]
    Rejected {
        /// Its message.
        message: String,
    },
    /// The function of an update panicked; the row is unchanged.
    #[error("the update panicked; the row is unchanged")]
    Panicked,
    /// The update was rolled back with a failed batch, and its row has changed since.
    #[error("the update was undone together with a failed batch")]
    Undone,
    /// The store is closed, or its writer has ended.
    #[error("the store is closed")]
    Closed,
    /// Any other error of SQLite.
    #[error("could not {doing} {}", path.display())]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// The action, completing "could not ...".
        doing: &'static str,
        /// The error of SQLite.
        #[source]
        cause: Arc<rusqlite::Error>,
    },
}

impl StateError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotADirectory { .. } => Some("name a directory, or a path that does not exist"),
            Self::Directory { .. } | Self::Unwritable { .. } => {
                Some("check the owner and mode of the directory, or use another data directory")
            }
            Self::NotSqlite { .. } | Self::Foreign { .. } => {
                Some("the file was left as it is; move it away or use another data directory")
            }
            Self::Newer { .. } => Some(
                "the file was left as it is; update this program or use another data directory",
            ),
            Self::Damaged { .. } => Some(
                "copy the file and its `-wal` before anything else; restore a backup, or save what \
                 is readable with `sqlite3 state.db .recover`",
            ),
            Self::DamagedRow { .. } => Some("write the row again, or delete it"),
            Self::ChangedRow { .. } => Some("nothing was written; read the row and try again"),
            Self::Emptied { .. } => Some(
                "nothing was changed; restore the database beside its `-wal`, or move the `-wal` \
                 away to begin with an empty store",
            ),
            Self::Replaced { .. } => Some("restart this program"),
            Self::Full { .. } => Some("free some space; the next write tries again"),
            Self::Busy { .. } | Self::Overloaded { .. } | Self::Undone => Some("try again"),
            Self::Sqlite { .. } if self.may_lack_space() => {
                Some("check whether the disk is full or failing")
            }
            Self::TooLarge { .. }
            | Self::Rejected { .. }
            | Self::Panicked
            | Self::Closed
            | Self::Sqlite { .. } => None,
        }
    }

    /// The message with its cause and hint, as one line.
    pub fn with_cause_and_hint(&self) -> String {
        let cause = self.source().map(|cause| format!(": {cause}"));
        let hint = self.hint().map(|hint| format!(" ({hint})"));
        let [cause, hint] = [cause, hint].map(Option::unwrap_or_default);
        format!("{self}{cause}{hint}")
    }

    pub(super) fn damaged_row(scope: &str, key: &str, problem: String) -> Self {
        Self::DamagedRow {
            scope: scope.to_owned(),
            key: key.to_owned(),
            problem,
        }
    }

    pub(super) fn changed_row(scope: &str, key: &str) -> Self {
        Self::ChangedRow {
            scope: scope.to_owned(),
            key: key.to_owned(),
        }
    }

    /// Whether the disk may have had no space.
    pub(super) fn may_lack_space(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            // What some file systems report instead.
            Self::Sqlite { cause, .. } => {
                cause.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
            }
            _ => false,
        }
    }

    /// Sets the time that SQLite waited for a lock.
    pub(super) fn after(self, waited: Duration) -> Self {
        match self {
            Self::Busy { path, .. } => Self::Busy { path, waited },
            other => other,
        }
    }

    /// Classifies an error of SQLite while `doing` something with the file at `path`.
    pub(super) fn from_sqlite(path: &Path, doing: &'static str, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let detail = cause.to_string();
        let extended = cause.sqlite_error().map(|error| error.extended_code);
        match cause.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, detail },
            Some(ErrorCode::NotADatabase) => Self::NotSqlite { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            // There is no space for the shared-memory file.
            _ if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => Self::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy {
                path,
                waited: Duration::ZERO,
            },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::Unwritable { path, detail }
            }
            // A column of a wrong type, or text that is not UTF-8: another program wrote it.
            None if matches!(
                cause,
                rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::Utf8Error(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
            ) =>
            {
                Self::Damaged { path, detail }
            }
            _ => Self::Sqlite {
                path,
                doing,
                cause: Arc::new(cause),
            },
        }
    }
}

/// Whether another process holds the lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}
