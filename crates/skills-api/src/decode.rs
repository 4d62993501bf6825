//! From a payload to a typed input and from a typed answer to JSON.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Error, Json};

/// Reads a payload. Fields nobody asked for are ignored: engines add their own. A
/// field of the wrong type is named.
pub fn decode<T: DeserializeOwned>(payload: &RawValue) -> Result<T, Error> {
    let text = payload.get();
    // Nothing at all is what a caller without arguments sends.
    let text = if text == "null" { "{}" } else { text };
    if !text.starts_with('{') {
        return Err(Error::invalid("payload", "must be an object"));
    }
    let reader = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let path = error.path().to_string();
        let problem = without_position(&error.inner().to_string());
        match path.as_str() {
            "." => Error::invalid("payload:", problem),
            field => Error::invalid(format!("field `{field}`:"), problem),
        }
    })
}

/// Writes an answer.
pub fn encode(answer: &impl Serialize) -> Result<Json, Error> {
    to_raw_value(answer).map_err(|e| Error::invalid("answer", format!("is no JSON: {e}")))
}

/// Something that must be an object: a list of the same values would do as well for
/// the decoder, but not for whoever reads the schema.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Object<T>(pub T);

impl<T: JsonSchema> JsonSchema for Object<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        input.deserialize_map(Fields(PhantomData))
    }
}

/// Positions in a payload that nobody wrote by hand help nobody.
fn without_position(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Input {
        #[serde(rename = "id")]
        _id: String,
        #[serde(default, rename = "list")]
        _list: Vec<Object<Inner>>,
    }

    #[derive(Deserialize)]
    struct Inner {
        #[serde(rename = "name")]
        _name: String,
    }

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let raw = RawValue::from_string(payload.to_owned()).unwrap();
        let got = decode::<Input>(&raw).map_or_else(|e| e.to_string(), |_| "fine".into());
        assert_eq!(got, expected, "for {payload}");
    }

    #[test]
    fn payloads() {
        check(r#"{"id":"a","_caller_worker_id":"x"}"#, "fine");
        check("{}", "payload: missing field `id`");
        check("null", "payload: missing field `id`");
        check(r#"["a"]"#, "payload must be an object");
        check(r#""a""#, "payload must be an object");
        check(
            r#"{"id":5}"#,
            "field `id`: invalid type: integer `5`, expected a string",
        );
        check(
            r#"{"id":"a","list":[{"name":"x"},{"name":null}]}"#,
            "field `list[1].name`: invalid type: null, expected a string",
        );
        check(
            r#"{"id":"a","list":[["x"]]}"#,
            "field `list[0]`: invalid type: sequence, expected an object",
        );
    }
}
