//! A worker's schemas, as the protocol wants them: clients refuse a whole list of tools
//! for one schema they cannot read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// What a tool takes: always an object.
pub fn input(given: Option<&Value>) -> Arc<JsonObject> {
    let schema = given.and_then(object_schema);
    Arc::new(schema.unwrap_or_else(|| JsonObject::from_iter([("type".into(), json!("object"))])))
}

/// What a tool answers, where that is an object for certain.
pub fn output(given: Option<&Value>) -> Option<Arc<JsonObject>> {
    let given = given?;
    (given["type"] == "object").then_some(())?;
    object_schema(given).map(Arc::new)
}

/// The schema as one of objects; none where it is none or points elsewhere.
fn object_schema(given: &Value) -> Option<JsonObject> {
    let mut schema = given.as_object()?.clone();
    let takes_objects = match schema.get("type") {
        None => true,
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(several)) => several.iter().any(|one| one == "object"),
        Some(_) => false,
    };
    if !takes_objects || points_elsewhere(given, 0) {
        return None;
    }
    schema.insert("type".into(), json!("object"));
    for (key, fits) in [
        ("properties", Value::is_object as fn(&Value) -> bool),
        ("required", |value| {
            value
                .as_array()
                .is_some_and(|names| names.iter().all(Value::is_string))
        }),
    ] {
        if schema.get(key).is_some_and(|value| !fits(value)) {
            schema.remove(key);
        }
    }
    Some(schema)
}

/// Whether some part is to be read at another place, which no client does; or is so
/// deep that reading it is no use.
fn points_elsewhere(schema: &Value, depth: usize) -> bool {
    const DEEPEST: usize = 64;
    match schema {
        _ if depth > DEEPEST => true,
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let foreign = value.as_str().is_some_and(|place| !place.starts_with('#'));
            (key == "$ref" && foreign) || points_elsewhere(value, depth + 1)
        }),
        Value::Array(parts) => parts.iter().any(|part| points_elsewhere(part, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &Value, expected: &Value) {
        let got = Value::Object((*input(Some(given))).clone());
        assert_eq!(&got, expected, "for {given}");
    }

    #[test]
    fn inputs_are_schemas_of_objects() {
        let any = json!({ "type": "object" });
        let good = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "type": "string" } },
            "required": ["a"], "additionalProperties": false,
        });
        check(&good, &good);
        check(&json!({}), &any);
        check(&json!(true), &any);
        check(&json!("x"), &any);
        check(&json!({ "type": "string" }), &any);
        check(&json!({ "type": 5 }), &any);
        check(&json!({ "$ref": "http://x/y" }), &any);
        check(&json!({ "type": ["object", "null"] }), &any);
        check(&json!({ "properties": [], "required": "a" }), &any);
        check(
            &json!({ "properties": { "a": {} } }),
            &json!({ "type": "object", "properties": { "a": {} } }),
        );
        assert_eq!(Value::Object((*input(None)).clone()), any);
    }

    #[test]
    fn outputs_are_objects_or_not_promised() {
        assert!(output(Some(&json!({ "type": "object", "title": "X" }))).is_some());
        assert!(output(Some(&json!({ "type": "string" }))).is_none());
        assert!(output(Some(&json!({}))).is_none());
        assert!(output(None).is_none());
    }
}
