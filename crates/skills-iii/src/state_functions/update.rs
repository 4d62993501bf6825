//! `state::update`: a list of operations on one value.
//!
//! An operation that fails is reported, and the others are applied.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::limits::MAX_PATH_KEYS;
use crate::message::Raw;
use crate::state::StateError;

/// One operation. A path is one key; an empty path is the whole value.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Op {
    Set {
        #[serde(default)]
        path: String,
        #[serde(default)]
        value: Value,
    },
    Merge {
        path: Option<Path>,
        value: Value,
    },
    Increment {
        path: String,
        by: i64,
    },
    Decrement {
        path: String,
        by: i64,
    },
    Append {
        path: Option<Path>,
        value: Value,
    },
    Remove {
        path: String,
    },
}

/// A key, or nested keys.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Path {
    One(String),
    Nested(Vec<String>),
}

/// An operation that failed.
#[derive(Debug, Serialize)]
pub(super) struct OpError {
    op_index: usize,
    code: &'static str,
    message: String,
    doc_url: Option<&'static str>,
}

/// Code and message.
type Problem = (&'static str, String);

/// The value after the operations, and the operations that failed.
pub(super) fn apply(
    old: Option<&RawValue>,
    ops: &RawValue,
) -> Result<(Raw, Vec<OpError>), StateError> {
    let failed = |error: serde_json::Error| StateError::Rejected {
        message: error.to_string(),
    };
    let mut value: Value = match old {
        Some(old) => serde_json::from_str(old.get()).map_err(failed)?,
        None => Value::Null,
    };
    let ops: Vec<Op> = serde_json::from_str(ops.get()).map_err(failed)?;
    let mut errors = Vec::new();
    for (op_index, op) in ops.into_iter().enumerate() {
        if let Err((code, message)) = change(&mut value, op) {
            errors.push(OpError {
                op_index,
                code,
                message,
                doc_url: None,
            });
        }
    }
    Ok((to_raw_value(&value).map_err(failed)?, errors))
}

fn change(root: &mut Value, op: Op) -> Result<(), Problem> {
    match op {
        Op::Set { path, value } => *at(root, &one(path), "set")? = value,
        Op::Merge { path, value } => {
            let Value::Object(fields) = value else {
                let message = "only an object can be merged".to_owned();
                return Err(("merge.value.not_object", message));
            };
            let place = at(root, &keys(path), "merge")?;
            match place {
                Value::Object(there) => there.extend(fields),
                // As with `set`: a value that is not an object is replaced.
                other => *other = Value::Object(fields),
            }
        }
        Op::Increment { path, by } => add(at(root, &one(path), "increment")?, by, "increment")?,
        Op::Decrement { path, by } => {
            let by = by.checked_neg().ok_or_else(|| too_large("decrement"))?;
            add(at(root, &one(path), "decrement")?, by, "decrement")?;
        }
        Op::Append { path, value } => match at(root, &keys(path), "append")? {
            Value::Array(items) => items.push(value),
            Value::String(text) if value.is_string() => {
                text.push_str(value.as_str().unwrap_or_default());
            }
            // A missing value becomes a string if a string is appended, otherwise a list.
            place @ Value::Null if value.is_string() => *place = value,
            place @ Value::Null => *place = Value::Array(vec![value]),
            other => {
                let message = format!("nothing can be appended to {}", kind(other));
                return Err(("append.type_mismatch", message));
            }
        },
        Op::Remove { path } => {
            if path.is_empty() {
                *root = Value::Null;
            } else if let Value::Object(fields) = root {
                fields.remove(&path);
            }
        }
    }
    Ok(())
}

/// The value at a path, which is created if it is missing.
fn at<'a>(root: &'a mut Value, path: &[String], op: &str) -> Result<&'a mut Value, Problem> {
    if path.len() > MAX_PATH_KEYS {
        let message = format!(
            "{op}: a path has at most {MAX_PATH_KEYS} keys, not {}",
            path.len()
        );
        return Err(("path.too_deep", message));
    }
    let mut place = root;
    for key in path {
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(fields) = place else {
            let message = format!("{op} at `{key}`: {} has no keys", kind(place));
            return Err(("path.not_object", message));
        };
        place = fields.entry(key.clone()).or_insert(Value::Null);
    }
    Ok(place)
}

fn add(place: &mut Value, by: i64, op: &str) -> Result<(), Problem> {
    let sum = match place {
        Value::Null => Some(Value::from(by)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number.checked_add(by).map(Value::from),
            #[expect(clippy::cast_precision_loss, reason = "the value is a float already")]
            (None, Some(number)) => Some(Value::from(number + by as f64)),
            (None, None) => None,
        },
        other => {
            let message = format!("{op}: {} is not a number", kind(other));
            return Err(("number.type_mismatch", message));
        }
    };
    *place = sum.ok_or_else(|| too_large(op))?;
    Ok(())
}

fn too_large(op: &str) -> Problem {
    let message = format!("{op}: the result does not fit 64 bits");
    ("number.overflow", message)
}

fn one(path: String) -> Vec<String> {
    if path.is_empty() {
        Vec::new()
    } else {
        vec![path]
    }
}

fn keys(path: Option<Path>) -> Vec<String> {
    match path {
        None => Vec::new(),
        Some(Path::One(key)) => one(key),
        Some(Path::Nested(keys)) => keys,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
