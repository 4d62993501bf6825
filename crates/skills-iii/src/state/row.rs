//! The effect of one write on the tables.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::{Connection, OptionalExtension};
use serde_json::value::RawValue;

use super::StateError;
use super::log::Tail;
use super::stored_value::{self, DamagedValue};

/// Computes the next value of a row from its present value.
pub type UpdateFn = Box<dyn FnOnce(Option<&RawValue>) -> Result<Box<RawValue>, StateError> + Send>;

/// The change of a row.
pub(crate) enum Op {
    Set(Box<RawValue>),
    Delete,
    /// A function, and the bytes that it holds.
    Update(UpdateFn, usize),
    /// Another change, only if the row has the expected value; `null`: if there is no row.
    If {
        expected: Box<RawValue>,
        change: Box<Op>,
    },
    /// An update that has run, with its input and its result. An update cannot run twice, so this
    /// is written again if the transaction is rolled back.
    Ran {
        input: Option<Box<RawValue>>,
        result: Result<Box<RawValue>, StateError>,
    },
}

impl Op {
    /// The bytes that it holds.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::If { expected, change } => expected.get().len() + change.size(),
            Self::Set(_) | Self::Update(..) | Self::Delete | Self::Ran { .. } => self.new_size(),
        }
    }

    /// The bytes of what it writes.
    pub(super) fn new_size(&self) -> usize {
        match self {
            Self::Set(value) => value.get().len(),
            Self::Update(_, size) => *size,
            Self::If { change, .. } => change.new_size(),
            Self::Delete | Self::Ran { .. } => 0,
        }
    }

    /// What it writes, for messages.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::Update(..) => "update",
            Self::If { change, .. } => change.what(),
            Self::Set(_) | Self::Delete | Self::Ran { .. } => "value",
        }
    }
}

/// A row before and after a write.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) old: Option<Box<RawValue>>,
    pub(crate) new: Option<Box<RawValue>>,
}

impl Written {
    pub(super) fn size(&self) -> usize {
        let size = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |v| v.get().len());
        size(&self.old) + size(&self.new)
    }
}

/// Why a write failed.
pub(super) enum Refusal {
    /// The write is invalid; the tables were not changed.
    Own(StateError),
    /// The database failed; the transaction must be rolled back.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Applies one write inside the caller's transaction.
///
/// `op` stays valid: if the transaction is rolled back, the write can be applied again.
pub(super) fn apply(
    connection: &Connection,
    tail: &mut Tail,
    (scope, key): (&str, &str),
    op: &mut Op,
    max_value: usize,
) -> Result<Written, Refusal> {
    let scope_id: Option<i64> = connection
        .prepare_cached("SELECT id FROM scopes WHERE name = ?1")?
        .query_row([scope], |row| row.get(0))
        .optional()?;
    let found = match scope_id {
        Some(id) => connection
            .prepare_cached("SELECT id, value FROM entries WHERE scope = ?1 AND key = ?2")?
            .query_row((id, key), |row| {
                let value = stored_value::parse(row.get_ref(1)?.as_bytes()?);
                Ok((row.get::<_, i64>(0)?, value))
            })
            .optional()?,
        None => None,
    };
    let (row, old) = match found {
        Some((row, Ok(value))) => (Some(row), Some(value)),
        // An update and a comparison need the value; anything else replaces it.
        Some((_, Err(DamagedValue { problem, .. })))
            if matches!(op, Op::Update(..) | Op::If { .. }) =>
        {
            return Err(Refusal::Own(StateError::damaged_row(scope, key, problem)));
        }
        Some((row, Err(DamagedValue { readable, .. }))) => (Some(row), Some(readable)),
        None => (None, None),
    };
    let op = match op {
        Op::If { expected, change } => {
            if !stored_value::is_equal(old.as_deref().unwrap_or(RawValue::NULL), expected) {
                return Err(Refusal::Own(StateError::changed_row(scope, key)));
            }
            &mut **change
        }
        op => op,
    };
    let new = next(op, old.as_deref(), max_value).map_err(Refusal::Own)?;
    match (row, new) {
        (None, None) => {
            return Ok(Written {
                old: None,
                new: None,
            });
        }
        (Some(row), None) => {
            connection
                .prepare_cached("DELETE FROM entries WHERE id = ?1")?
                .execute([row])?;
        }
        (Some(row), Some(value)) => {
            connection
                .prepare_cached("UPDATE entries SET value = ?2 WHERE id = ?1")?
                .execute((row, value.get()))?;
        }
        (None, Some(_)) => {}
    }
    let scope_id = match scope_id {
        Some(id) => id,
        None => connection
            .prepare_cached("INSERT INTO scopes (name) VALUES (?1)")?
            .insert([scope])?,
    };
    if let (None, Some(value)) = (row, new) {
        connection
            .prepare_cached("INSERT INTO entries (scope, key, value) VALUES (?1, ?2, ?3)")?
            .execute((scope_id, key, value.get()))?;
    }
    tail.append(connection, scope_id, key, old.as_deref().map(RawValue::get))?;
    Ok(Written {
        new: new.map(ToOwned::to_owned),
        old,
    })
}

/// The next value of the row; runs an update that has not run yet.
fn next<'a>(
    op: &'a mut Op,
    old: Option<&RawValue>,
    max_value: usize,
) -> Result<Option<&'a RawValue>, StateError> {
    if let Op::Update(..) = op
        && let Op::Update(update, _) = std::mem::replace(op, Op::Delete)
    {
        // A panic of the caller's code must not end the writer's thread.
        let result = catch_unwind(AssertUnwindSafe(|| update(old)))
            .unwrap_or(Err(StateError::Panicked))
            .and_then(|value| match value.get().len() {
                size if size > max_value => Err(StateError::TooLarge {
                    what: "value",
                    size,
                    limit: max_value,
                }),
                _ => Ok(value),
            });
        *op = Op::Ran {
            input: old.map(ToOwned::to_owned),
            result,
        };
    }
    match op {
        Op::Set(value) => Ok(Some(value)),
        Op::Ran { input, .. } if input.as_deref().map(RawValue::get) != old.map(RawValue::get) => {
            Err(StateError::Undone)
        }
        Op::Ran { result, .. } => result.as_deref().map(Some).map_err(Clone::clone),
        // An update has run, and `apply` takes the change out of a condition.
        Op::Delete | Op::Update(..) | Op::If { .. } => Ok(None),
    }
}
