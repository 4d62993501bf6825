//! Decodes the JSON input of an operation into its type, and encodes its output.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Error, Json, SCHEME};

/// Decodes an input. Unknown fields are ignored, because engines add their own. The error names a
/// field of the wrong type.
pub fn decode<T: DeserializeOwned>(payload: &RawValue) -> Result<T, Error> {
    let text = payload.get();
    // Callers without arguments may send `null`.
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

/// The beginning of ids, which may be written as that of their addresses. The address of the index
/// is that of all skills.
pub fn id_prefix(written: Option<&str>) -> &str {
    match written.unwrap_or_default().trim() {
        "iii://skills" => "",
        prefix => prefix.strip_prefix(SCHEME).unwrap_or(prefix),
    }
}

/// Encodes an output.
pub fn encode(output: &impl Serialize) -> Result<Json, Error> {
    to_raw_value(output).map_err(|e| Error::invalid("output", format!("is not JSON: {e}")))
}

/// A value that must be a JSON object. Without it serde also accepts an array of the fields' values,
/// which the schema does not allow.
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

/// Inputs are written by programs, for which a line and column are of no use. Neither are the names
/// of Rust's types.
fn without_position(message: &str) -> String {
    let message = match message.rfind(" at line ") {
        Some(at) => &message[..at],
        None => message,
    };
    match message.rsplit_once(", expected ") {
        Some((found, "usize" | "u64")) => format!("{found}, expected a whole number, 1 or more"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Input {
        #[serde(rename = "id")]
        _id: String,
        #[serde(default, rename = "limit")]
        _limit: Option<usize>,
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
    fn a_prefix_of_ids_may_be_an_address() {
        assert_eq!(id_prefix(Some(" iii://resend/ ")), "resend/");
        assert_eq!(id_prefix(Some("resend/em")), "resend/em");
        assert_eq!(id_prefix(Some("iii://")), "");
        assert_eq!(id_prefix(Some("iii://skills")), "");
        assert_eq!(id_prefix(Some("iii://skills/")), "skills/");
        assert_eq!(id_prefix(Some("skills")), "skills");
        assert_eq!(id_prefix(None), "");
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
            r#"{"id":"a","limit":-1}"#,
            "field `limit`: invalid value: integer `-1`, expected a whole number, 1 or more",
        );
        check(
            r#"{"id":"a","list":[["x"]]}"#,
            "field `list[0]`: invalid type: sequence, expected an object",
        );
    }
}
