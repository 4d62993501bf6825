//! JSON schemas of inputs and outputs, generated from their types.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// The schema of `T`.
pub fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// Settings for schemas that models read: one level, and only keywords that every client knows.
pub fn tool_settings() -> SchemaSettings {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    settings.with_transform(RecursiveTransform(simplify))
}

/// Drops what the types imply and models do not need. An optional property is left out, not null.
fn simplify(schema: &mut Schema) {
    for keyword in ["title", "format"] {
        if schema.get(keyword).is_some_and(Value::is_string) {
            schema.remove(keyword);
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get("type")
        && let [kind, null] = &types[..]
        && null == &json!("null")
    {
        let kind = kind.clone();
        schema.insert("type".into(), kind);
    }
}

/// A text or null. Without a default, as in the published schemas.
pub fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": ["string", "null"] })
}

/// An output in the shape of the Model Context Protocol, which the schema does not repeat.
pub struct AnyValue;

impl JsonSchema for AnyValue {
    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

/// An output that is a text. Its name is part of the published schemas.
pub struct Text;

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "String".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
