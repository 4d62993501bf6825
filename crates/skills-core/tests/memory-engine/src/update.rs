//! `state::update`, with the operations that the registry uses.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use skills_core::Json;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Op {
    Merge { value: Map<String, Value> },
    Increment { path: String, by: i64 },
}

/// The row after the operations, and the operations that failed.
pub(crate) fn apply(old: Option<&RawValue>, ops: Vec<Op>) -> (Json, Vec<Value>) {
    let old = old.map_or("{}", RawValue::get);
    let mut row: Map<String, Value> = serde_json::from_str(old).unwrap_or_default();
    let mut errors = Vec::new();
    for op in ops {
        match op {
            Op::Merge { value } => row.extend(value),
            Op::Increment { path, by } => {
                let count = row.entry(path).or_insert_with(|| json!(0));
                match count.as_i64() {
                    Some(number) => *count = json!(number + by),
                    None => errors.push(json!({ "message": "not a number" })),
                }
            }
        }
    }
    (to_raw_value(&row).expect("rows are JSON"), errors)
}
