//! Reads rows: a small pool of connections that never wait for the writer.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use rusqlite::{Connection, OptionalExtension, Rows};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::file::Identity;
use super::row::{not_json, raw};
use super::{StateError, StoreOptions, file};
use crate::lock::lock;

/// Idle connections that are kept open.
const MAX_IDLE: usize = 4;

const LIST: &str = "SELECT value FROM entries INDEXED BY entries_in_order
     WHERE scope = (SELECT id FROM scopes WHERE name = ?1) ORDER BY id";

/// The values of a query, which serialize as one JSON list.
struct Values<'a> {
    rows: RefCell<Rows<'a>>,
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
            let text = row.get_ref(0).map_err(failed)?;
            let text = text.as_str().map_err(|error| failed(error.into()))?;
            // Checked, because another program may have edited the file.
            let value: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
            list.serialize_element(value)?;
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
        };
        // Preparing the statement fails if the tables are not as expected.
        readers.get("", "")?;
        Ok(readers)
    }

    pub(super) fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StateError> {
        self.with("read a row of", |connection| {
            let text = connection
                .prepare_cached(
                    "SELECT entries.value FROM entries JOIN scopes ON scopes.id = entries.scope
                     WHERE scopes.name = ?1 AND entries.key = ?2",
                )?
                .query_row((scope, key), |row| row.get::<_, String>(0))
                .optional()?;
            text.map(raw).transpose()
        })
    }

    pub(super) fn list(&self, scope: &str) -> Result<Box<RawValue>, StateError> {
        self.with("list a scope of", |connection| {
            let mut find = connection.prepare_cached(LIST)?;
            let values = Values {
                rows: RefCell::new(find.query([scope])?),
                failed: Cell::new(None),
            };
            to_raw_value(&values).map_err(|error| {
                let failed = values.failed.take();
                failed.unwrap_or_else(|| not_json(&error))
            })
        })
    }

    pub(super) fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Result<(), StateError> {
        self.with("list a scope of", |connection| {
            let mut find = connection.prepare_cached(LIST)?;
            let mut rows = find.query([scope])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str()?);
            }
            Ok(())
        })
    }

    pub(super) fn groups(&self) -> Result<Vec<String>, StateError> {
        self.with("list the scopes of", |connection| {
            let mut find = connection.prepare_cached("SELECT name FROM scopes ORDER BY name")?;
            find.query_map([], |row| row.get(0))?.collect()
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

    // A std mutex, held for a push or a pop, never during a read.
    fn lock(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        lock(&self.idle)
    }
}
