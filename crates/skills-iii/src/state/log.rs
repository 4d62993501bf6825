//! The log of writes, from which other processes read what changed.
//!
//! Every write adds a row to `log` in its own transaction, so the order of the log is the commit
//! order. The log is pruned to a bounded length; a process that falls behind its start reloads.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};
use serde_json::value::RawValue;

use super::stored_value;
use super::{StateChange, StoreOptions, StoredValue};

/// The last row of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// Its number; 0 before the first write.
    pub(super) seq: i64,
    /// The bytes logged up to and including it.
    pub(super) total: i64,
}

impl Tail {
    /// Reads the end of the log.
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

/// Removes old rows. The last row always stays, so that numbers are never used twice.
pub(super) fn prune(
    connection: &Connection,
    tail: Tail,
    options: &StoreOptions,
) -> rusqlite::Result<()> {
    let max_seq = tail.seq - i64::from(options.log_len.max(1));
    let max_total = tail.total - i64::from(options.log_bytes);
    // Without `OR`, for which SQLite would scan the whole log.
    connection
        .prepare_cached(
            "DELETE FROM log WHERE seq < coalesce((
                SELECT seq FROM log WHERE seq > ?1 AND total > ?2 ORDER BY seq LIMIT 1), ?3)",
        )?
        .execute((max_seq, max_total, tail.seq))?;
    Ok(())
}

/// Removes every row but the last, and its value. Returns the new end.
///
/// The last row gets another number with a gap before it, so that a process which has not read it
/// reloads instead of publishing a change without the value that was replaced.
pub(super) fn clear(connection: &Connection, tail: Tail) -> rusqlite::Result<Tail> {
    if tail.seq == 0 {
        return Ok(tail);
    }
    connection.execute("DELETE FROM log WHERE seq < ?1", [tail.seq])?;
    let seq = tail.seq + 2;
    connection.execute("UPDATE log SET seq = ?1, old = NULL", [seq])?;
    Ok(Tail { seq, ..tail })
}

/// The changes committed after `published`, oldest first; a single reload if they are no longer in
/// the log, or have more than `max_bytes`.
///
/// Must run inside a transaction, so that the log and the rows are consistent.
pub(super) fn since(
    connection: &Connection,
    published: Tail,
    max_bytes: usize,
) -> rusqlite::Result<Vec<StateChange>> {
    let mut find = connection.prepare_cached(
        "SELECT log.seq, log.scope, scopes.name, log.key, log.old
         FROM log JOIN scopes ON scopes.id = log.scope
         WHERE log.seq > ?1 ORDER BY log.seq DESC",
    )?;
    let mut rows = find.query([published.seq])?;
    // Backwards: the value that a write replaced is the value that the previous write of the key
    // wrote.
    let mut replaced: HashMap<(i64, String), StoredValue> = HashMap::new();
    let mut changes = Vec::new();
    let mut first = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        first = Some(row.get::<_, i64>(0)?);
        let (scope, key): (i64, String) = (row.get(1)?, row.get(3)?);
        let old = row.get_ref(4)?.as_bytes_or_null()?.map(value);
        let new = match replaced.insert((scope, key.clone()), old.clone()) {
            Some(known) => known,
            None => read_value(connection, scope, &key)?,
        };
        bytes += [&old, &new]
            .into_iter()
            .flatten()
            .map(|v| v.get().len())
            .sum::<usize>();
        if bytes > max_bytes {
            return Ok(vec![StateChange::Reload]);
        }
        changes.push(StateChange::Row {
            scope: row.get(2)?,
            key,
            old,
            new,
        });
    }
    // Also if the log ends before `published`, because an older file was restored.
    if first.is_none_or(|first| first != published.seq + 1) {
        return Ok(vec![StateChange::Reload]);
    }
    changes.reverse();
    Ok(changes)
}

fn read_value(connection: &Connection, scope: i64, key: &str) -> rusqlite::Result<StoredValue> {
    connection
        .prepare_cached("SELECT value FROM entries WHERE scope = ?1 AND key = ?2")?
        .query_row((scope, key), |row| Ok(value(row.get_ref(0)?.as_bytes()?)))
        .optional()
}

/// A value for an event; what is readable of a damaged one.
fn value(bytes: &[u8]) -> Box<RawValue> {
    stored_value::parse(bytes).unwrap_or_else(|damaged| damaged.readable)
}
