//! The schemas of the operations equal those of the documented API, plus the `origin` of every
//! listed entry. Descriptions are not compared.

use std::collections::BTreeMap;

use serde_json::Value;
use skills_api::functions;

#[test]
fn every_operation_has_the_documented_schemas() {
    let documented: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("fixtures/schemas.json")).unwrap();
    let offered: Vec<_> = functions().map(|function| function.id).collect();
    assert_eq!(offered.len(), documented.len());
    for function in functions() {
        let documented = &documented[function.id];
        assert_eq!(
            normal(function.request_schema()),
            normal(documented["request"].clone()),
            "request of {}",
            function.id
        );
        assert_eq!(
            normal(function.response_schema()),
            normal(documented["response"].clone()),
            "response of {}",
            function.id
        );
        assert!(
            !function.description.is_empty(),
            "{} has no description",
            function.id
        );
    }
}

/// Removes what does not change the meaning of a schema: descriptions, the order of sets, and empty
/// properties.
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
