//! A stored value: JSON, or whatever another program or a failing disk left in its place.

use std::str;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A value that is not JSON.
#[derive(Debug)]
pub(super) struct DamagedValue {
    pub(super) problem: String,
    /// The text as a JSON string. It stands for the value where a row is replaced or deleted.
    pub(super) readable: Box<RawValue>,
}

/// The value in these bytes.
pub(super) fn parse(bytes: &[u8]) -> Result<Box<RawValue>, DamagedValue> {
    let problem = match check(bytes) {
        Ok(value) => return Ok(value.to_owned()),
        Err(problem) => problem,
    };
    Err(DamagedValue {
        problem,
        readable: to_raw_value(&String::from_utf8_lossy(bytes)).unwrap_or_default(),
    })
}

/// Whether two values are equal as JSON: spaces and the order of keys do not count.
pub(super) fn is_equal(a: &RawValue, b: &RawValue) -> bool {
    // The usual case: the text that was read before.
    a.get() == b.get() || {
        let [a, b] = [a, b].map(|raw| serde_json::from_str::<Value>(raw.get()));
        matches!((a, b), (Ok(a), Ok(b)) if a == b)
    }
}

/// The value in these bytes, or what is wrong with them.
pub(super) fn check(bytes: &[u8]) -> Result<&RawValue, String> {
    serde_json::from_str(text(bytes)?).map_err(|error| format!("it is not JSON: {error}"))
}

/// The text in these bytes, or what is wrong with them.
pub(super) fn text(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))
}
