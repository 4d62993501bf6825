//! Draft-07 schemas of the wire types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// The schema of what is read.
pub fn request<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft07().for_deserialize().into_generator();
    generator.into_root_schema_for::<T>().into()
}

/// The schema of what is written.
pub fn response<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft07().for_serialize().into_generator();
    generator.into_root_schema_for::<T>().into()
}

/// An answer whose shape is the protocol's, not ours: anything goes.
pub struct AnyValue;

impl JsonSchema for AnyValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

/// An answer that is one text.
pub struct Text;

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "String".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
