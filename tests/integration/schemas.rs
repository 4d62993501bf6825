//! The schemas of the surface say what clients were promised: the documented API,
//! and the `origin` of every listed entry. Wording is ours and is not compared.

use std::collections::BTreeMap;

use serde_json::Value;
use skills_api::functions;

#[test]
fn the_table_offers_the_documented_functions_with_the_documented_schemas() {
    let promised: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("fixtures/schemas.json")).unwrap();
    let offered: Vec<_> = functions().map(|function| function.id).collect();
    assert_eq!(offered.len(), promised.len());
    for function in functions() {
        let promised = &promised[function.id];
        assert_eq!(
            normal(function.request_schema()),
            normal(promised["request"].clone()),
            "request of {}",
            function.id
        );
        assert_eq!(
            normal(function.response_schema()),
            normal(promised["response"].clone()),
            "response of {}",
            function.id
        );
        assert!(
            !function.description.is_empty(),
            "{} says nothing about itself",
            function.id
        );
    }
}

/// Two schemas of the same meaning come out equal: without words about them, with
/// lists that are sets in order, and without titles below the root.
fn normal(mut schema: Value) -> Value {
    normalize(&mut schema);
    schema
}

fn normalize(value: &mut Value) {
    if let Value::Object(map) = value {
        if map.get("description").is_some_and(Value::is_string) {
            map.remove("description");
        }
        if let Some(Value::Array(required)) = map.get_mut("required") {
            required.sort_by_key(ToString::to_string);
        }
        if map.get("properties") == Some(&Value::Object(serde_json::Map::new())) {
            map.remove("properties");
        }
        map.values_mut().for_each(normalize);
    } else if let Value::Array(list) = value {
        list.iter_mut().for_each(normalize);
    }
}
