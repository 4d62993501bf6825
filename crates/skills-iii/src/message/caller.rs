//! The id of the calling worker, as `_caller_worker_id` in an object payload.
//!
//! The field is appended to the payload's text, without parsing it. A field of that name in the
//! caller's own payload is removed, because a worker could otherwise claim another worker's id.

use std::collections::BTreeMap;
use std::mem::take;

use serde_json::value::{RawValue, to_raw_value};

use super::{InvokeFunction, Raw};

const FIELD: &str = "_caller_worker_id";

/// Takes the payload of a call, for its callee.
pub(crate) fn with_caller(call: &mut InvokeFunction) -> Raw {
    let data = take(&mut call.data);
    let Some(caller) = &call.caller else {
        return data.into_raw();
    };
    if !data.get().starts_with('{') {
        return data.into_raw();
    }
    let cleaned = without_caller(&data);
    let data = cleaned.as_deref().unwrap_or(&data).get();
    let mut text = String::with_capacity(data.len() + FIELD.len() + caller.len() + 8);
    text.push_str(&data[..data.len() - 1]);
    push_caller(&mut text, data, caller);
    RawValue::from_string(text).expect("an object with one more field is an object")
}

/// The payload without the caller's field, if it has one.
pub(super) fn without_caller(data: &RawValue) -> Option<Raw> {
    let text = data.get();
    // An escape sequence can hide the name of the field.
    if !text.starts_with('{') || !(text.contains(FIELD) || text.contains("\\u")) {
        return None;
    }
    let mut fields: BTreeMap<String, Raw> = serde_json::from_str(text).ok()?;
    fields.remove(FIELD)?;
    to_raw_value(&fields).ok()
}

/// Appends what takes the place of the closing brace of the object `data`: the caller's id as the
/// last field, and the brace.
pub(super) fn push_caller(text: &mut String, data: &str, caller: &str) {
    let is_empty = data[1..data.len() - 1].trim_ascii().is_empty();
    let comma = if is_empty { "" } else { "," };
    for part in [comma, "\"", FIELD, "\":"] {
        text.push_str(part);
    }
    // Ids of workers are UUIDs.
    if caller
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    {
        for part in ["\"", caller, "\""] {
            text.push_str(part);
        }
    } else {
        text.push_str(&serde_json::to_string(caller).expect("a string is JSON"));
    }
    text.push('}');
}
