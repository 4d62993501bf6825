//! The `state::*` functions on a [`SqliteState`]: payload in, answer or error out.
//!
//! The hub serves them to its workers. [`call_state`] runs them without a hub, for a process
//! that has opened the store itself.

mod update;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::lock::lock;
use crate::message::{ErrorBody, Payload, Raw};
use crate::state::{Op as StateOp, SqliteState, StateError};
use update::{Op, OpError, apply};

/// The result of a call: a value, none, or an error.
pub(crate) type Outcome = Result<Option<Payload>, ErrorBody>;

/// A result that is known at once, or an outcome to wait for.
pub(crate) enum Reply {
    Now(Option<Payload>),
    Later(BoxFuture<'static, Outcome>),
}

/// The worker that calls, if there is one.
pub(crate) type Caller<'a> = Option<&'a Arc<str>>;

/// A function's id, its description, and the function.
type StateFunction = (
    &'static str,
    &'static str,
    fn(&Arc<SqliteState>, Caller<'_>, &RawValue) -> Result<Reply, ErrorBody>,
);

/// Every `state::*` function.
pub(crate) const STATE_FUNCTIONS: &[StateFunction] = &[
    ("state::get", "Read a value.", get),
    ("state::set", "Write a value.", set),
    ("state::delete", "Delete a value.", delete),
    ("state::list", "Read every value of a scope.", list),
    ("state::list_groups", "List the scopes.", list_groups),
    ("state::update", "Change a value in place.", update),
];

/// Runs the `state::*` function with this id on a store and returns what a hub on that store
/// would return. Must be called inside a runtime. Fails with `function_not_found` for an id that
/// is not a state function.
pub async fn call_state(
    store: &Arc<SqliteState>,
    function_id: &str,
    payload: &RawValue,
) -> Result<Option<Raw>, ErrorBody> {
    let function = STATE_FUNCTIONS.iter().find(|(id, ..)| *id == function_id);
    let (.., run) = function.ok_or_else(|| ErrorBody::function_not_found(function_id))?;
    let result = match run(store, None, payload)? {
        Reply::Now(result) => result,
        Reply::Later(outcome) => outcome.await?,
    };
    Ok(result.map(Payload::into_raw))
}

pub(crate) fn decode<'a, T: Deserialize<'a>>(data: &'a RawValue) -> Result<T, ErrorBody> {
    serde_json::from_str(data.get())
        .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))
}

pub(crate) fn encode(value: &impl Serialize) -> Result<Raw, ErrorBody> {
    to_raw_value(value).map_err(|error| ErrorBody::new("serialization_error", error.to_string()))
}

/// The value as the result of a call.
pub(crate) fn encode_result(value: &impl Serialize) -> Outcome {
    encode(value).map(|raw| Some(raw.into()))
}

/// An object with one field.
pub(crate) fn object(field: &str, value: impl Serialize) -> Outcome {
    encode_result(&BTreeMap::from([(field, value)]))
}

#[derive(Deserialize)]
struct Row {
    scope: String,
    key: String,
}

#[derive(Deserialize)]
struct Set<'a> {
    scope: String,
    key: String,
    #[serde(borrow, alias = "data")]
    value: &'a RawValue,
    #[serde(default, borrow, deserialize_with = "value_or_null")]
    expected: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delete<'a> {
    scope: String,
    key: String,
    #[serde(default, borrow, deserialize_with = "value_or_null")]
    expected: Option<&'a RawValue>,
}

/// A field that is present: null is not the same as absent.
fn value_or_null<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(field).map(Some)
}

/// A change, only if the row has the expected value.
fn conditional(expected: Option<&RawValue>, change: StateOp) -> StateOp {
    match expected {
        None => change,
        Some(expected) => StateOp::If {
            expected: expected.to_owned(),
            change: Box::new(change),
        },
    }
}

#[derive(Deserialize)]
struct Scope {
    scope: String,
}

#[derive(Deserialize)]
struct Update<'a> {
    scope: String,
    key: String,
    #[serde(borrow)]
    ops: &'a RawValue,
}

#[derive(Serialize)]
struct BeforeAndAfter {
    old_value: Option<Raw>,
    new_value: Option<Raw>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<OpError>,
}

fn get(store: &Arc<SqliteState>, _: Caller<'_>, data: &RawValue) -> Result<Reply, ErrorBody> {
    let Row { scope, key } = decode(data)?;
    let value = store.get(&scope, &key).map_err(failed("GET_ERROR"))?;
    Ok(Reply::Now(value.map(Payload::from)))
}

fn set(store: &Arc<SqliteState>, caller: Caller<'_>, data: &RawValue) -> Result<Reply, ErrorBody> {
    let Set {
        scope,
        key,
        value,
        expected,
    } = decode(data)?;
    let op = conditional(expected, StateOp::Set(value.to_owned()));
    let written = store.write(caller.cloned(), scope, key, op);
    Ok(Reply::Later(Box::pin(async move {
        let written = written.await.map_err(failed("SET_ERROR"))?;
        encode_result(&BeforeAndAfter {
            old_value: written.old,
            new_value: written.new,
            errors: Vec::new(),
        })
    })))
}

fn delete(
    store: &Arc<SqliteState>,
    caller: Caller<'_>,
    data: &RawValue,
) -> Result<Reply, ErrorBody> {
    let Delete {
        scope,
        key,
        expected,
    } = decode(data)?;
    let op = conditional(expected, StateOp::Delete);
    let deleted = store.write(caller.cloned(), scope, key, op);
    Ok(Reply::Later(Box::pin(async move {
        let written = deleted.await.map_err(failed("DELETE_ERROR"))?;
        Ok(written.old.map(Payload::from))
    })))
}

fn list(store: &Arc<SqliteState>, _: Caller<'_>, data: &RawValue) -> Result<Reply, ErrorBody> {
    let Scope { scope } = decode(data)?;
    let listed = store.list_shared(scope);
    Ok(Reply::Later(Box::pin(async move {
        let values = listed.await.map_err(failed("LIST_ERROR"))?;
        Ok(Some(Payload::shared(values)))
    })))
}

fn list_groups(store: &Arc<SqliteState>, _: Caller<'_>, _: &RawValue) -> Result<Reply, ErrorBody> {
    let groups = store.groups().map_err(failed("LIST_ERROR"))?;
    object("groups", groups).map(Reply::Now)
}

fn update(
    store: &Arc<SqliteState>,
    caller: Caller<'_>,
    data: &RawValue,
) -> Result<Reply, ErrorBody> {
    let Update { scope, key, ops } = decode(data)?;
    // Only checked here. Decoded, they would take many times the bytes of their text while they
    // wait for the writer.
    decode::<Vec<Op>>(ops)?;
    let ops: Raw = ops.to_owned();
    let size = ops.get().len();
    let errors = Arc::new(Mutex::new(Vec::new()));
    let found = Arc::clone(&errors);
    let apply_ops = Box::new(move |old: Option<&RawValue>| {
        let (new, errors) = apply(old, &ops)?;
        *lock(&found) = errors;
        Ok(new)
    });
    let updated = store.write(
        caller.cloned(),
        scope,
        key,
        StateOp::Update(apply_ops, size),
    );
    Ok(Reply::Later(Box::pin(async move {
        let written = updated.await.map_err(failed("UPDATE_ERROR"))?;
        encode_result(&BeforeAndAfter {
            old_value: written.old,
            new_value: written.new,
            errors: std::mem::take(&mut *lock(&errors)),
        })
    })))
}

fn failed(code: &'static str) -> impl FnOnce(StateError) -> ErrorBody {
    move |error| {
        let code = match error {
            StateError::TooLarge { .. } => "VALUE_TOO_LARGE",
            StateError::DamagedRow { .. } => "VALUE_DAMAGED",
            StateError::ChangedRow { .. } => "VALUE_CHANGED",
            _ => code,
        };
        ErrorBody::new(code, error.with_cause_and_hint())
    }
}

#[cfg(test)]
mod tests;
