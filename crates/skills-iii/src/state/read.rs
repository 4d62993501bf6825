//! Reads rows: a small pool of connections that never wait for the writer.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use rusqlite::{Connection, OptionalExtension, Row, Rows};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::file::Identity;
use super::{StateError, StoreOptions, file, stored_value};
use crate::lock::lock;

/// Idle connections that are kept open.
const MAX_IDLE: usize = 4;

/// Damaged rows that are remembered, so that each is logged once.
const MAX_LOGGED_ROWS: usize = 1000;

const LIST: &str = "SELECT value, key, id FROM entries INDEXED BY entries_in_order
     WHERE scope = (SELECT id FROM scopes WHERE name = ?1) ORDER BY id";

/// A row of a list: its key, and its text or what is wrong with it.
pub type ListedRow<'a> = (&'a str, Result<&'a str, String>);

/// The values of a query, which serialize as one JSON list.
struct Values<'a> {
    readers: &'a Readers,
    scope: &'a str,
    rows: RefCell<Rows<'a>>,
    is_wanted: &'a dyn Fn() -> bool,
    /// The error that ended the list early.
    failed: Cell<Option<rusqlite::Error>>,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = self.rows.borrow_mut();
        let mut list = serializer.serialize_seq(None)?;
        let failed = |error| {
            self.failed.set(Some(error));
            S::Error::custom("the query failed")
        };
        while let Some(row) = rows.next().map_err(failed)? {
            if !(self.is_wanted)() {
                return Err(S::Error::custom("no caller waits for the list"));
            }
            let bytes = row.get_ref(0).map_err(failed)?;
            let bytes = bytes.as_bytes().map_err(|error| failed(error.into()))?;
            // Checked, because another program or a failing disk may have changed the file.
            match stored_value::check(bytes) {
                Ok(value) => list.serialize_element(value)?,
                Err(problem) => self.readers.log_damaged(self.scope, row, &problem),
            }
        }
        list.end()
    }
}

/// Connections for reading. Each read sees everything committed before it began.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    identity: Identity,
    options: StoreOptions,
    /// None once closed.
    idle: Mutex<Option<Vec<Connection>>>,
    /// The ids of damaged rows that were logged.
    logged: Mutex<HashSet<i64>>,
}

impl Readers {
    /// Opens the first connection, so that an unreadable file is an error at once.
    pub(super) fn open(path: PathBuf, options: StoreOptions) -> Result<Self, StateError> {
        let first = file::open_reader(&path, &options)?;
        let readers = Self {
            identity: Identity::of(&path),
            path,
            options,
            idle: Mutex::new(Some(vec![first])),
            logged: Mutex::default(),
        };
        // Preparing the statement fails if the tables are not as expected.
        readers.get("", "")?;
        Ok(readers)
    }

    pub(super) fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StateError> {
        let value = self.with("read a row of", |connection| {
            connection
                .prepare_cached(
                    "SELECT entries.value FROM entries JOIN scopes ON scopes.id = entries.scope
                     WHERE scopes.name = ?1 AND entries.key = ?2",
                )?
                .query_row((scope, key), |row| {
                    Ok(stored_value::parse(row.get_ref(0)?.as_bytes()?))
                })
                .optional()
        })?;
        let value = value.transpose();
        value.map_err(|damaged| StateError::damaged_row(scope, key, damaged.problem))
    }

    /// The values of a scope as one JSON list, without damaged rows. Fails early, with any error,
    /// once `is_wanted` returns false.
    pub(super) fn list(
        &self,
        scope: &str,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Box<RawValue>, StateError> {
        self.with("list a scope of", |connection| {
            let mut find = connection.prepare_cached(LIST)?;
            let values = Values {
                readers: self,
                scope,
                rows: RefCell::new(find.query([scope])?),
                is_wanted,
                failed: Cell::new(None),
            };
            to_raw_value(&values).map_err(|_| {
                let failed = values.failed.take();
                failed.unwrap_or(rusqlite::Error::InvalidQuery)
            })
        })
    }

    pub(super) fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(ListedRow<'_>),
    ) -> Result<(), StateError> {
        self.with("list a scope of", |connection| {
            let mut find = connection.prepare_cached(LIST)?;
            let mut rows = find.query([scope])?;
            while let Some(row) = rows.next()? {
                let text = stored_value::text(row.get_ref(0)?.as_bytes()?);
                visit((&String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?), text));
            }
            Ok(())
        })
    }

    pub(super) fn groups(&self) -> Result<Vec<String>, StateError> {
        self.with("list the scopes of", |connection| {
            let mut find = connection.prepare_cached("SELECT name FROM scopes ORDER BY name")?;
            let name = |row: &Row<'_>| {
                let bytes = row.get_ref(0)?.as_bytes()?;
                Ok(String::from_utf8_lossy(bytes).into_owned())
            };
            find.query_map([], name)?.collect()
        })
    }

    /// Closes the idle connections; those in use close when their read ends.
    pub(super) fn close(&self) {
        self.lock().take();
    }

    fn with<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StateError> {
        let idle = self.lock().as_mut().ok_or(StateError::Closed)?.pop();
        let connection = match idle {
            Some(connection) => connection,
            // A file that has replaced ours has other rows.
            None if Identity::of(&self.path) != self.identity => {
                return Err(StateError::Replaced {
                    path: self.path.clone(),
                });
            }
            None => file::open_reader(&self.path, &self.options)?,
        };
        let result = read(&connection);
        if let Some(idle) = self.lock().as_mut().filter(|idle| idle.len() < MAX_IDLE) {
            idle.push(connection);
        }
        result.map_err(|cause| {
            StateError::from_sqlite(&self.path, doing, cause).after(self.options.busy_timeout)
        })
    }

    /// Logs a damaged row that a list leaves out, the first time.
    fn log_damaged(&self, scope: &str, row: &Row<'_>, problem: &str) {
        let Ok(id) = row.get(2) else { return };
        let mut logged = lock(&self.logged);
        if logged.len() < MAX_LOGGED_ROWS && logged.insert(id) {
            let key = row.get_ref(1).and_then(|key| Ok(key.as_bytes()?));
            let key = String::from_utf8_lossy(key.unwrap_or_default());
            tracing::warn!(scope, %key, problem, "a list leaves out a damaged row");
        }
    }

    // A std mutex, held for a push or a pop, never during a read.
    fn lock(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        lock(&self.idle)
    }
}
