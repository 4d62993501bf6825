//! Telling a callee who calls: `_caller_worker_id` in an object payload.
//!
//! The payload is not parsed and written again: the field is put at its end as
//! text. A field of that name from the caller itself is taken out, or anyone
//! could pass for anyone.

use serde_json::value::RawValue;

use super::fields::Fields;
use super::write::quote;
use super::{InvokeFunction, Raw};

const FIELD: &str = "_caller_worker_id";

/// The call's payload as its callee is to see it.
pub(crate) fn with_caller(call: &InvokeFunction) -> Raw {
    let data = call.data.get();
    match &call.caller {
        Some(caller) if data.starts_with('{') => {
            let mut out = String::with_capacity(data.len() + 64);
            push_with_caller(&mut out, data, caller);
            RawValue::from_string(out).expect("an object with one more field is an object")
        }
        _ => call.data.clone(),
    }
}

/// Appends `data` to `out`, with the caller's id in it if it is an object.
pub(crate) fn push_with_caller(out: &mut String, data: &str, caller: &str) {
    let Some(inner) = data
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    else {
        out.push_str(data);
        return;
    };
    out.push('{');
    // An escape could spell the field's name without showing it.
    let suspect = data.contains(FIELD) || data.contains("\\u");
    let fields = suspect
        .then(|| serde_json::from_str::<Fields<'_>>(data).ok())
        .flatten();
    match fields {
        Some(fields) if fields.0.iter().any(|(key, _)| key == FIELD) => {
            for (key, value) in fields.0.iter().filter(|(key, _)| key != FIELD) {
                quote(out, key);
                out.push(':');
                out.push_str(value.get());
                out.push(',');
            }
        }
        _ => {
            out.push_str(inner);
            if !inner.trim_ascii().is_empty() {
                out.push(',');
            }
        }
    }
    quote(out, FIELD);
    out.push(':');
    quote(out, caller);
    out.push('}');
}
