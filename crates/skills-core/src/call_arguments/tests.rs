//! Arguments that fit a schema, and what is said of those that do not.

use serde_json::json;

use super::*;

#[track_caller]
fn check(schema: &Value, arguments: &Value, expected: &str) {
    let function = "calc::add".parse().unwrap();
    let got = match check_call(&function, schema, arguments) {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.to_text(),
    };
    assert_eq!(got, expected, "for {arguments}");
}

#[test]
fn arguments_of_a_flat_object() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "number" },
            "b": { "type": "number" },
            "unit": { "enum": ["m", "km"] },
        },
        "required": ["a", "b"],
    });
    let takes = "it takes a (number), b (number), [unit (`m` or `km`)]";
    check(&schema, &json!({ "a": 1, "b": 2.5 }), "ok");
    check(&schema, &json!({ "a": 1, "b": 2, "c": 3 }), "ok");
    check(
        &schema,
        &json!({ "a": 1 }),
        &format!("calc::add needs b (number) ({takes})"),
    );
    check(
        &schema,
        &json!({}),
        &format!("calc::add needs a (number), b (number) ({takes})"),
    );
    check(
        &schema,
        &json!({ "a": 1, "b": "2" }),
        &format!("calc::add needs b (number), not `2` ({takes})"),
    );
    check(
        &schema,
        &json!({ "a": 1, "b": 2, "unit": "mile" }),
        &format!("calc::add needs unit (`m` or `km`), not `mile` ({takes})"),
    );
    check(
        &schema,
        &json!([1, 2]),
        &format!("calc::add needs object, not array ({takes})"),
    );
}

#[test]
fn nested_values_and_references() {
    let schema = json!({
        "type": "object",
        "properties": {
            "to": { "type": "array", "items": { "$ref": "#/definitions/Address" } },
            "reply": { "anyOf": [{ "$ref": "#/definitions/Address" }, { "type": "null" }] },
        },
        "definitions": {
            "Address": {
                "type": "object",
                "properties": { "mail": { "type": "string" } },
                "required": ["mail"],
                "additionalProperties": false,
            },
        },
    });
    let takes = "(it takes [reply (object or null)], [to (array)])";
    check(
        &schema,
        &json!({ "to": [{ "mail": "a" }], "reply": null }),
        "ok",
    );
    check(
        &schema,
        &json!({ "to": [{ "mail": "a" }, {}] }),
        &format!("calc::add needs to[1].mail (string) {takes}"),
    );
    check(
        &schema,
        &json!({ "reply": 3 }),
        &format!("calc::add needs reply (object or null), not 3 {takes}"),
    );
    check(
        &schema,
        &json!({ "to": [{ "mail": "a", "nam": "b" }] }),
        &format!("calc::add has no argument `to[0].nam` {takes}"),
    );
}

#[test]
fn an_unknown_argument_is_refused_only_if_the_schema_excludes_it() {
    let schema = json!({ "properties": { "name": {} }, "additionalProperties": false });
    check(
        &schema,
        &json!({ "nam": 1 }),
        "calc::add has no argument `nam` (did you mean `name`? it takes [name (any value)])",
    );
    check(
        &json!({ "properties": { "name": {} } }),
        &json!({ "nam": 1 }),
        "ok",
    );
}

#[test]
fn what_is_not_understood_is_accepted() {
    for schema in [
        json!(true),
        json!("text"),
        json!({ "type": "date" }),
        json!({ "type": 3, "required": true, "properties": [], "enum": 1 }),
        json!({ "$ref": "https://example.org/schema" }),
        json!({ "$ref": "#/definitions/none" }),
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "properties": { "a": { "$id": "x", "$ref": "#/definitions/b" } },
            "definitions": { "b": { "type": "null" } } }),
        json!({ "name": "input", "type": "object", "required": true, "body": [] }),
        json!({ "properties": { "a": { "type": "integer" } } }),
        json!({ "properties": { "a": { "enum": [1] } } }),
        json!({ "properties": { "a": { "type": ["string", "number"], "nullable": false } } }),
        json!({ "properties": { "b": false } }),
    ] {
        check(&schema, &json!({ "a": 1.0 }), "ok");
    }
}
