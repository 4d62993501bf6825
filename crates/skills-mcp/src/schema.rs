//! Converts the schemas of functions to schemas of tools. Workers may register any schema, and
//! clients reject the whole list of tools for one that they cannot read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The schema of a tool's arguments, which is always of an object.
pub fn input(given: Option<&Value>) -> Arc<JsonObject> {
    let schema = given.and_then(object_schema);
    Arc::new(schema.unwrap_or_else(|| JsonObject::from_iter([("type".into(), json!("object"))])))
}

/// The schema of a tool's output, if that is always an object.
pub fn output(given: Option<&Value>) -> Option<Arc<JsonObject>> {
    let given = given?;
    (given["type"] == "object").then_some(())?;
    object_schema(given).map(Arc::new)
}

/// The schema restricted to objects; `None` if it excludes them or has external references.
fn object_schema(given: &Value) -> Option<JsonObject> {
    let mut schema = given.as_object()?.clone();
    let allows_objects = match schema.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    };
    if !allows_objects || has_external_reference(given, 0) {
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

/// Whether the schema refers to another document, which no client loads, or is nested too deeply.
fn has_external_reference(schema: &Value, depth: usize) -> bool {
    const MAX_DEPTH: usize = 64;
    match schema {
        _ if depth > MAX_DEPTH => true,
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let external = value.as_str().is_some_and(|uri| !uri.starts_with('#'));
            (key == "$ref" && external) || has_external_reference(value, depth + 1)
        }),
        Value::Array(parts) => parts
            .iter()
            .any(|part| has_external_reference(part, depth + 1)),
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
    fn only_outputs_that_are_objects_have_a_schema() {
        assert!(output(Some(&json!({ "type": "object", "title": "X" }))).is_some());
        assert!(output(Some(&json!({ "type": "string" }))).is_none());
        assert!(output(Some(&json!({}))).is_none());
        assert!(output(None).is_none());
    }
}
