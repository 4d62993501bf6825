//! `state::*`: values by scope and key.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::update::{Op, OpError, apply};
use super::{Reply, decode, encode};
use crate::hub::Core;
use crate::hub::port::StoreError;
use crate::message::{ErrorBody, Raw};

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

pub(super) fn get(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|Row { scope, key }| {
        core.options
            .state
            .get(&scope, &key)
            .map_err(|error| failed("GET_ERROR", &error))
    }))
}

pub(super) fn set(core: &Arc<Core>, data: &RawValue) -> Reply {
    let Write { scope, key, value } = match decode(data) {
        Ok(write) => write,
        Err(error) => return Reply::Now(Err(error)),
    };
    let value: Raw = value.to_owned();
    let written = core.options.state.set(scope, key, value.clone());
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

pub(super) fn delete(core: &Arc<Core>, data: &RawValue) -> Reply {
    let Row { scope, key } = match decode(data) {
        Ok(row) => row,
        Err(error) => return Reply::Now(Err(error)),
    };
    let deleted = core.options.state.delete(scope, key);
    Reply::Later(Box::pin(async move {
        deleted
            .await
            .map_err(|error| failed("DELETE_ERROR", &error))
    }))
}

pub(super) fn list(core: &Arc<Core>, data: &RawValue) -> Reply {
    let Scope { scope } = match decode(data) {
        Ok(scope) => scope,
        Err(error) => return Reply::Now(Err(error)),
    };
    let state = Arc::clone(&core.options.state);
    // Many rows take a while; nobody else should wait for them.
    let listed = tokio::task::spawn_blocking(move || {
        let values = state.list(&scope);
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

pub(super) fn list_groups(core: &Arc<Core>, _: &RawValue) -> Reply {
    let groups = core
        .options
        .state
        .groups()
        .map_err(|error| failed("LIST_ERROR", &error));
    Reply::Now(groups.and_then(|groups| encode(&Groups { groups }).map(Some)))
}

pub(super) fn update(core: &Arc<Core>, data: &RawValue) -> Reply {
    let Update { scope, key, ops } = match decode(data) {
        Ok(update) => update,
        Err(error) => return Reply::Now(Err(error)),
    };
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let updated = core.options.state.update(
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

fn failed(code: &str, error: &StoreError) -> ErrorBody {
    match error {
        StoreError::TooLarge(message) => ErrorBody::new("VALUE_TOO_LARGE", message),
        StoreError::Failed(message) => ErrorBody::new(code, message),
    }
}
