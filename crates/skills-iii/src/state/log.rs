//! The log of writes: how one process learns what another one wrote.
//!
//! Every write adds a row to `log` in its own transaction, so the log's order is the commit
//! order. The log is cut to a bounded length; whoever has fallen behind its start reloads.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::row::raw;
use super::{StateChange, StoreOptions};

/// The last row of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// Its number; 0 if nothing was ever written.
    pub(super) seq: i64,
    /// The bytes logged up to and including it.
    pub(super) total: i64,
}

impl Tail {
    /// Reads where the log ends now.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let last = connection
            .prepare_cached("SELECT seq, total FROM log ORDER BY seq DESC LIMIT 1")?
            .query_row([], |row| {
                Ok(Self {
                    seq: row.get(0)?,
                    total: row.get(1)?,
                })
            })
            .optional()?;
        Ok(last.unwrap_or_default())
    }

    /// Adds one write; `old` is the value it replaced.
    pub(super) fn append(
        &mut self,
        connection: &Connection,
        scope: i64,
        key: &str,
        old: Option<&str>,
    ) -> rusqlite::Result<()> {
        let size = key.len() + old.map_or(0, str::len);
        let next = Self {
            seq: self.seq + 1,
            total: self.total + i64::try_from(size).unwrap_or(0),
        };
        connection
            .prepare_cached(
                "INSERT INTO log (seq, scope, key, old, total) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((next.seq, scope, key, old, next.total))?;
        *self = next;
        Ok(())
    }
}

/// Cuts the log's start. The last row always stays, so numbers are never used twice.
pub(super) fn prune(
    connection: &Connection,
    tail: Tail,
    options: &StoreOptions,
) -> rusqlite::Result<()> {
    let oldest = tail.seq - i64::from(options.log_len.max(1));
    let least = tail.total - i64::from(options.log_bytes);
    // No `OR` in here: it would have SQLite look at the whole log.
    connection
        .prepare_cached(
            "DELETE FROM log WHERE seq < coalesce((
                SELECT seq FROM log WHERE seq > ?1 AND total > ?2 ORDER BY seq LIMIT 1), ?3)",
        )?
        .execute((oldest, least, tail.seq))?;
    Ok(())
}

/// What was committed after `seen`, oldest first; a single reload if the log no longer says, or
/// if it would take more than `max_bytes`.
///
/// Must run inside a transaction: the log and the rows have to be of one moment.
pub(super) fn since(
    connection: &Connection,
    seen: Tail,
    max_bytes: usize,
) -> rusqlite::Result<Vec<StateChange>> {
    let mut find = connection.prepare_cached(
        "SELECT log.seq, log.scope, scopes.name, log.key, log.old
         FROM log JOIN scopes ON scopes.id = log.scope
         WHERE log.seq > ?1 ORDER BY log.seq DESC",
    )?;
    let mut rows = find.query([seen.seq])?;
    // Walking back: what a key held before the later write is what the earlier one put there.
    let mut after: HashMap<(i64, String), Option<String>> = HashMap::new();
    let mut changes = Vec::new();
    let mut first = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        first = Some(row.get::<_, i64>(0)?);
        let (scope, key): (i64, String) = (row.get(1)?, row.get(3)?);
        let old: Option<String> = row.get(4)?;
        let place = (scope, key.clone());
        let new = match after.insert(place, old.clone()) {
            Some(known) => known,
            None => current(connection, scope, &key)?,
        };
        bytes += old.as_ref().map_or(0, String::len) + new.as_ref().map_or(0, String::len);
        if bytes > max_bytes {
            return Ok(vec![StateChange::Reload]);
        }
        let (old, new) = (old.map(raw).transpose()?, new.map(raw).transpose()?);
        changes.push(StateChange::Row {
            scope: row.get(2)?,
            key,
            old,
            new,
        });
    }
    // Also when the log ends before `seen`: somebody put an older file in place.
    if first.is_none_or(|first| first != seen.seq + 1) {
        return Ok(vec![StateChange::Reload]);
    }
    changes.reverse();
    Ok(changes)
}

fn current(connection: &Connection, scope: i64, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM entries WHERE scope = ?1 AND key = ?2")?
        .query_row((scope, key), |row| row.get(0))
        .optional()
}
