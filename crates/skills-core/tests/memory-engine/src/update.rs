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
    Append { path: String, value: Value },
    Set { path: String, value: Value },
    Remove { path: String },
}

/// The row after the operations, and the operations that failed.
pub(crate) fn apply(old: Option<&RawValue>, ops: Vec<Op>) -> (Json, Vec<Value>) {
    let old = old.map_or("{}", RawValue::get);
    let Ok(mut row) = serde_json::from_str::<Map<String, Value>>(old) else {
        let errors = ops.iter().map(|_| json!({ "message": "not an object" }));
        let same = RawValue::from_string(old.to_owned()).expect("a row is JSON");
        return (same, errors.collect());
    };
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
            Op::Append { path, value } => {
                let list = row.entry(path).or_insert_with(|| json!([]));
                match list.as_array_mut() {
                    Some(list) => list.push(value),
                    None => errors.push(json!({ "message": "not a list" })),
                }
            }
            Op::Set { path, value } => drop(row.insert(path, value)),
            Op::Remove { path } => drop(row.remove(&path)),
        }
    }
    (to_raw_value(&row).expect("rows are JSON"), errors)
}
