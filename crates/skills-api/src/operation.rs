//! One operation: what it is called, what it takes and returns, and how to run it.

use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use skills_core::{Error, Json, Pending, Registry};

use super::schema;

/// Decodes the input, makes one call of the registry, encodes the output.
pub type Run = fn(Arc<Registry>, Json) -> Pending<'static, Result<Json, Error>>;

/// One operation of the registry.
pub struct Operation {
    /// The id, which is also the id of the function on an engine.
    pub id: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Whether it is registered as a function on an engine.
    pub is_function: bool,
    /// The name that consoles show for the function instead of the id.
    pub label: Option<&'static str>,
    /// The title of the MCP tool, if it is one. Every tool only reads.
    pub tool_title: Option<&'static str>,
    /// Whether a call may be repeated when its result is lost: it changes nothing and calls no
    /// function of another worker.
    pub idempotent: bool,
    /// Runs it.
    pub run: Run,
    /// Runs it for a call of the tool.
    pub run_tool: Run,
    pub(crate) tool_input: fn(SchemaSettings) -> Value,
    pub(crate) input: fn(SchemaSettings) -> Value,
    pub(crate) output: fn(SchemaSettings) -> Value,
}

impl Operation {
    /// An operation that is a function on an engine.
    pub(crate) const fn function<I: JsonSchema, O: JsonSchema>(
        id: &'static str,
        description: &'static str,
        run: Run,
    ) -> Self {
        Self {
            id,
            description,
            is_function: true,
            label: None,
            tool_title: None,
            idempotent: false,
            run,
            run_tool: run,
            tool_input: schema::generate::<I>,
            input: schema::generate::<I>,
            output: schema::generate::<O>,
        }
    }

    /// An operation that is an MCP tool and not a function.
    pub(crate) const fn tool<I: JsonSchema, O: JsonSchema>(
        id: &'static str,
        title: &'static str,
        description: &'static str,
        run: Run,
    ) -> Self {
        Self {
            is_function: false,
            tool_title: Some(title),
            ..Self::function::<I, O>(id, description, run)
        }
    }

    /// The same operation, which may be repeated.
    pub(crate) const fn idempotent(self) -> Self {
        Self {
            idempotent: true,
            ..self
        }
    }

    /// The function's input, as a draft-07 schema.
    pub fn request_schema(&self) -> Value {
        (self.input)(SchemaSettings::draft07().for_deserialize())
    }

    /// The function's output, as a draft-07 schema.
    pub fn response_schema(&self) -> Value {
        (self.output)(SchemaSettings::draft07().for_serialize())
    }

    /// The tool's arguments, without what a model does not need to know before it makes a mistake:
    /// it pays for every byte. The tool refuses other arguments, and says which it takes.
    pub fn tool_input_schema(&self) -> Value {
        let mut schema = (self.tool_input)(schema::tool_settings().for_deserialize());
        // The tool has a description of its own.
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
        }
        let properties = schema["properties"].as_object_mut();
        let properties = properties.into_iter().flat_map(|all| all.values_mut());
        for property in properties.filter_map(Value::as_object_mut) {
            property.remove("minimum");
        }
        schema
    }

    /// The tool's output.
    pub fn tool_output_schema(&self) -> Value {
        (self.output)(schema::tool_settings().for_serialize())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{OPERATIONS, functions, tools};

    #[test]
    fn ids_are_unique_and_every_operation_is_a_function_or_a_tool() {
        let mut ids: Vec<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), OPERATIONS.len());
        let both = functions().filter(|operation| operation.tool_title.is_some());
        let both: Vec<_> = both.map(|operation| operation.id).collect();
        assert_eq!(both, ["skill::fetch"]);
        assert_eq!(
            functions().count() + tools().count(),
            OPERATIONS.len() + both.len()
        );
    }

    #[track_caller]
    fn check(id: &str, input: &Value, output: &Value) {
        let tool = tools().find(|tool| tool.id == id).unwrap();
        let without_descriptions = |mut schema: Value| {
            schema.as_object_mut().unwrap().remove("description");
            for property in schema["properties"].as_object_mut().into_iter().flatten() {
                property.1.as_object_mut().unwrap().remove("description");
            }
            schema
        };
        let got = without_descriptions(tool.tool_input_schema());
        assert_eq!(&got, input, "input of {id}");
        assert_eq!(&tool.tool_output_schema(), output, "output of {id}");
    }

    #[test]
    fn tools_have_flat_and_short_schemas() {
        let text = json!({ "type": "string" });
        let one = |name: &str| {
            json!({
                "type": "object", "properties": { (name): text }, "required": [name],
            })
        };
        let uris = json!({ "type": "array", "items": text });
        let number = json!({ "type": "integer" });
        let fetch = json!({
            "type": "object",
            "properties": { "uri": text, "uris": uris, "max_tokens": number },
        });
        check("skill::fetch", &fetch, &text);
        check("skill::read", &one("uri"), &text);
        check("skill::resolve", &one("id"), &text);
        let list = json!({
            "type": "object",
            "properties": { "prefix": text, "limit": number, "cursor": text },
        });
        let skill = json!({
            "type": "object",
            "properties": {
                "uri": text, "id": text, "title": text, "description": text,
                "bytes": { "type": "integer", "minimum": 0 }, "modified": text,
            },
            "required": ["uri", "id", "title"],
        });
        let skills = json!({
            "type": "object",
            "properties": {
                "skills": { "type": "array", "items": skill }, "cursor": text,
                "total": { "type": "integer", "minimum": 0 },
            },
            "required": ["skills", "total"],
        });
        check("skill::list", &list, &skills);
        let route = tools().find(|tool| tool.id == "skill::route").unwrap();
        let found = &route.tool_output_schema()["properties"]["matches"]["items"];
        let mut required: Vec<_> = found["required"].as_array().unwrap().clone();
        required.sort_by_key(ToString::to_string);
        assert_eq!(required, ["id", "matched", "score", "title", "why"]);
        assert_eq!(route.tool_input_schema()["required"], json!(["text"]));
    }
}
