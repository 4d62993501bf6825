//! The `state::*` functions on a [`SqliteState`]: payload in, answer or error out.
//!
//! The hub serves them to its workers. [`call_state`] runs them without a hub, for a process
//! that has opened the store itself.

mod update;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
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
    let Set { scope, key, value } = decode(data)?;
    let written = store.write(caller.cloned(), scope, key, StateOp::Set(value.to_owned()));
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
    let Row { scope, key } = decode(data)?;
    let deleted = store.write(caller.cloned(), scope, key, StateOp::Delete);
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
            _ => code,
        };
        ErrorBody::new(code, error.with_cause_and_hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StoreOptions;

    async fn call(store: &Arc<SqliteState>, function_id: &str, payload: &str) -> String {
        let payload = RawValue::from_string(payload.to_owned()).unwrap();
        match call_state(store, function_id, &payload).await {
            Ok(value) => value.map_or("none".to_owned(), |value| value.get().to_owned()),
            Err(error) => error.code,
        }
    }

    #[tokio::test]
    async fn state_functions_run_on_a_store_without_a_hub() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        let store = Arc::new(store);
        for (function_id, payload, expected) in [
            ("state::get", r#"{"scope":"s","key":"k"}"#, "none"),
            (
                "state::set",
                r#"{"scope":"s","key":"k","value":{"n":1}}"#,
                r#"{"old_value":null,"new_value":{"n":1}}"#,
            ),
            (
                "state::update",
                r#"{"scope":"s","key":"k","ops":[{"type":"increment","path":"n","by":1}]}"#,
                r#"{"old_value":{"n":1},"new_value":{"n":2}}"#,
            ),
            ("state::list", r#"{"scope":"s"}"#, r#"[{"n":2}]"#),
            ("state::list_groups", "{}", r#"{"groups":["s"]}"#),
            ("state::delete", r#"{"scope":"s","key":"k"}"#, r#"{"n":2}"#),
            ("state::get", r#"{"scope":"s"}"#, "deserialization_error"),
            ("state::drop", "{}", "function_not_found"),
        ] {
            assert_eq!(
                call(&store, function_id, payload).await,
                expected,
                "{function_id}"
            );
        }
    }

    #[tokio::test]
    async fn waiting_updates_are_bounded_by_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let options = StoreOptions {
            max_queued: 1 << 20,
            ..StoreOptions::default()
        };
        let store = Arc::new(SqliteState::open(dir.path(), options).unwrap());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = Box::new(move |_: Option<&RawValue>| {
            let _ = wait.recv();
            Ok(RawValue::NULL.to_owned())
        });
        let occupied = store.update("gate".into(), "k".into(), 0, wait);
        let text = "x".repeat(300 << 10);
        let ops = format!(r#"[{{"type":"append","path":"","value":"{text}"}}]"#);
        let payload = format!(r#"{{"scope":"s","key":"k","ops":{ops}}}"#);
        let updates = (0..8).map(|_| call(&store, "state::update", &payload));
        let mut updates = std::pin::pin!(futures_util::future::join_all(updates));
        // Queues them.
        assert!(futures_util::poll!(&mut updates).is_pending());
        drop(go);
        occupied.await.unwrap();
        let updates = updates.await;
        let refused = updates.iter().filter(|result| *result == "UPDATE_ERROR");
        assert_eq!(refused.count(), 5);
        let kept = store.get("s", "k").unwrap().unwrap();
        assert_eq!(kept.get().len(), 3 * text.len() + 2);
    }

    #[tokio::test]
    async fn a_damaged_row_is_left_out_of_a_list_and_has_its_own_code() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        let store = Arc::new(store);
        for key in ["a", "b"] {
            let payload = format!(r#"{{"scope":"s","key":"{key}","value":1}}"#);
            call(&store, "state::set", &payload).await;
        }
        rusqlite::Connection::open(dir.path().join(crate::state::FILE_NAME))
            .unwrap()
            .execute(
                "UPDATE entries SET value = CAST(x'22ff22' AS TEXT) WHERE key = 'b'",
                [],
            )
            .unwrap();
        for (function_id, payload, expected) in [
            ("state::list", r#"{"scope":"s"}"#, "[1]"),
            ("state::get", r#"{"scope":"s","key":"b"}"#, "VALUE_DAMAGED"),
            (
                "state::update",
                r#"{"scope":"s","key":"b","ops":[]}"#,
                "VALUE_DAMAGED",
            ),
            (
                "state::set",
                r#"{"scope":"s","key":"b","value":2}"#,
                "{\"old_value\":\"\\\"\u{fffd}\\\"\",\"new_value\":2}",
            ),
            ("state::list", r#"{"scope":"s"}"#, "[1,2]"),
        ] {
            assert_eq!(
                call(&store, function_id, payload).await,
                expected,
                "{function_id}"
            );
        }
    }
}
