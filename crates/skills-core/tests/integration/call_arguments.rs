//! The check of arguments refuses nothing that a complete validator of JSON schemas accepts.

use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use skills_core::check_call;

const NAMES: &[&str] = &["a", "b", "c"];
const TYPES: &[&str] = &[
    "null", "boolean", "string", "array", "object", "number", "integer",
];

fn scalar() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-2.5),
        json!(""),
        json!("a"),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            hash_map(select(NAMES), inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    })
}

/// Schemas with every keyword that is understood, and some that are not.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(TYPES).prop_map(|name| json!({ "type": name })),
        subsequence(TYPES, 1..3).prop_map(|names| json!({ "type": names })),
        vec(scalar(), 1..3).prop_map(|values| json!({ "enum": values })),
        value().prop_map(|value| json!({ "const": value })),
        select(vec![json!({}), json!(true), json!(false)]),
        select(vec![
            json!({ "$ref": "#/definitions/x" }),
            json!({ "$ref": "#" }),
            json!({ "type": "string", "minLength": 1 }),
            json!({ "not": { "type": "null" } }),
            json!({ "$id": "https://example.org/x", "$ref": "#/definitions/x" }),
        ]),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let properties = hash_map(select(NAMES), inner.clone(), 0..3);
        let object = (properties, subsequence(NAMES, 0..3), any::<[bool; 3]>());
        let object = object.prop_map(|(properties, required, [closed, patterns, typed])| {
            let mut schema = json!({ "properties": properties, "required": required });
            if closed {
                schema["additionalProperties"] = false.into();
            }
            if patterns {
                schema["patternProperties"] = json!({ "^c": true });
            }
            if typed {
                schema["type"] = "object".into();
            }
            schema
        });
        let forms = (
            select(vec!["anyOf", "oneOf", "allOf"]),
            vec(inner.clone(), 1..3),
        );
        prop_oneof![
            object,
            inner.prop_map(|items| json!({ "items": items })),
            forms.prop_map(|(key, forms)| json!({ key: forms })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_valid_is_refused(schema in schema(), definition in schema(), value in value(), newest: bool) {
        let mut schema = schema;
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("definitions".into(), json!({ "x": definition }));
        }
        let draft = if newest { jsonschema::Draft::Draft202012 } else { jsonschema::Draft::Draft7 };
        let complete = jsonschema::options().with_draft(draft).build(&schema);
        // It refuses references that cannot be resolved.
        if let Ok(complete) = complete {
            let refused = check_call(&"f".parse().unwrap(), &schema, &value);
            prop_assert!(refused.is_ok() || !complete.is_valid(&value), "{refused:?}");
        }
    }
}
