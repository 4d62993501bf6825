//! The `state::*` functions on a [`StateStore`]: payload in, answer or error out.
//!
//! The hub serves them to its workers. [`call_state`] runs them without a hub, for a process
//! that has opened the store itself.

mod update;

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::message::{ErrorBody, Raw};
use crate::state::{StateError, StateStore};
use update::{Op, OpError, apply};

/// The result of a call: a value, none, or an error.
pub(crate) type Outcome = Result<Option<Raw>, ErrorBody>;

/// An outcome that is known at once, or that needs to be awaited.
pub(crate) enum Reply {
    Now(Outcome),
    Later(BoxFuture<'static, Outcome>),
}

/// One of the `state::*` functions.
pub(crate) struct StateFunction {
    pub(crate) id: &'static str,
    pub(crate) description: &'static str,
    pub(crate) run: fn(&Arc<dyn StateStore>, &RawValue) -> Reply,
}

/// Every `state::*` function.
pub(crate) const STATE_FUNCTIONS: &[StateFunction] = &[
    StateFunction {
        id: "state::get",
        description: "Read a value.",
        run: get,
    },
    StateFunction {
        id: "state::set",
        description: "Write a value.",
        run: set,
    },
    StateFunction {
        id: "state::delete",
        description: "Delete a value.",
        run: delete,
    },
    StateFunction {
        id: "state::list",
        description: "Read every value of a scope.",
        run: list,
    },
    StateFunction {
        id: "state::list_groups",
        description: "List the scopes.",
        run: list_groups,
    },
    StateFunction {
        id: "state::update",
        description: "Change a value in place.",
        run: update,
    },
];

/// Runs the `state::*` function with this id on a store and returns what a hub on that store
/// would answer. Must be called inside a runtime. An id that is not in the table is
/// `function_not_found`.
pub async fn call_state(
    store: &Arc<dyn StateStore>,
    function_id: &str,
    payload: &RawValue,
) -> Result<Option<Raw>, ErrorBody> {
    let Some(function) = STATE_FUNCTIONS.iter().find(|f| f.id == function_id) else {
        return Err(ErrorBody::function_not_found(function_id));
    };
    match (function.run)(store, payload) {
        Reply::Now(outcome) => outcome,
        Reply::Later(outcome) => outcome.await,
    }
}

pub(crate) fn decode<'a, T: Deserialize<'a>>(data: &'a RawValue) -> Result<T, ErrorBody> {
    serde_json::from_str(data.get())
        .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))
}

pub(crate) fn encode(value: &impl Serialize) -> Result<Raw, ErrorBody> {
    to_raw_value(value).map_err(|error| ErrorBody::new("serialization_error", error.to_string()))
}

#[derive(Deserialize)]
struct Row {
    scope: String,
    key: String,
}

#[derive(Deserialize)]
struct Write<'a> {
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
struct Update {
    scope: String,
    key: String,
    ops: Vec<Op>,
}

#[derive(Serialize)]
struct Written<'a> {
    old_value: Option<&'a RawValue>,
    new_value: &'a RawValue,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<OpError>,
}

#[derive(Serialize)]
struct Groups {
    groups: Vec<String>,
}

fn get(store: &Arc<dyn StateStore>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|Row { scope, key }| {
        store
            .get(&scope, &key)
            .map_err(|error| failed("GET_ERROR", &error))
    }))
}

fn set(store: &Arc<dyn StateStore>, data: &RawValue) -> Reply {
    let Write { scope, key, value } = match decode(data) {
        Ok(write) => write,
        Err(error) => return Reply::Now(Err(error)),
    };
    let value: Raw = value.to_owned();
    let written = store.set(scope, key, value.clone());
    Reply::Later(Box::pin(async move {
        let old = written.await.map_err(|error| failed("SET_ERROR", &error))?;
        let written = Written {
            old_value: old.as_deref(),
            new_value: &value,
            errors: Vec::new(),
        };
        encode(&written).map(Some)
    }))
}

fn delete(store: &Arc<dyn StateStore>, data: &RawValue) -> Reply {
    let Row { scope, key } = match decode(data) {
        Ok(row) => row,
        Err(error) => return Reply::Now(Err(error)),
    };
    let deleted = store.delete(scope, key);
    Reply::Later(Box::pin(async move {
        deleted
            .await
            .map_err(|error| failed("DELETE_ERROR", &error))
    }))
}

fn list(store: &Arc<dyn StateStore>, data: &RawValue) -> Reply {
    let Scope { scope } = match decode(data) {
        Ok(scope) => scope,
        Err(error) => return Reply::Now(Err(error)),
    };
    let store = Arc::clone(store);
    // Many rows take a while; nobody else should wait for them.
    let listed = tokio::task::spawn_blocking(move || {
        let values = store.list(&scope);
        values
            .map(Some)
            .map_err(|error| failed("LIST_ERROR", &error))
    });
    Reply::Later(Box::pin(async move {
        listed
            .await
            .unwrap_or_else(|error| Err(ErrorBody::new("LIST_ERROR", error.to_string())))
    }))
}

fn list_groups(store: &Arc<dyn StateStore>, _: &RawValue) -> Reply {
    let groups = store.groups().map_err(|error| failed("LIST_ERROR", &error));
    Reply::Now(groups.and_then(|groups| encode(&Groups { groups }).map(Some)))
}

fn update(store: &Arc<dyn StateStore>, data: &RawValue) -> Reply {
    let Update { scope, key, ops } = match decode(data) {
        Ok(update) => update,
        Err(error) => return Reply::Now(Err(error)),
    };
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let updated = store.update(
        scope,
        key,
        Box::new(move |old| {
            let (new, errors) = apply(old, ops)?;
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = errors;
            Ok(new)
        }),
    );
    Reply::Later(Box::pin(async move {
        let (old, new) = updated
            .await
            .map_err(|error| failed("UPDATE_ERROR", &error))?;
        let errors = std::mem::take(&mut *errors.lock().unwrap_or_else(PoisonError::into_inner));
        encode(&Written {
            old_value: old.as_deref(),
            new_value: &new,
            errors,
        })
        .map(Some)
    }))
}

fn failed(code: &str, error: &StateError) -> ErrorBody {
    let code = match error {
        StateError::TooLarge { .. } => "VALUE_TOO_LARGE",
        _ => code,
    };
    ErrorBody::new(code, error.with_cause_and_hint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::MemoryState;

    async fn call(store: &Arc<dyn StateStore>, function_id: &str, payload: &str) -> String {
        let payload = RawValue::from_string(payload.to_owned()).unwrap();
        match call_state(store, function_id, &payload).await {
            Ok(value) => value.map_or("none".to_owned(), |value| value.get().to_owned()),
            Err(error) => error.code,
        }
    }

    #[tokio::test]
    async fn state_functions_run_on_a_store_without_a_hub() {
        let store: Arc<dyn StateStore> = Arc::new(MemoryState::default());
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
}
