//! Our own tools: what is in the registry, for clients that show models nothing but tools.

mod route;

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skills_core::{Error, Pending, Registry, Resource, ResourceUri};

/// One tool of ours.
pub struct BuiltinTool {
    /// Its name.
    pub name: &'static str,
    title: &'static str,
    about: &'static str,
    input: fn() -> Value,
    output: Option<fn() -> Value>,
    /// Decodes, makes one registry call, encodes.
    pub run: for<'a> fn(&'a Registry, JsonObject) -> Pending<'a, Result<CallToolResult, Error>>,
}

/// All of them, by name.
pub const BUILTIN_TOOLS: &[BuiltinTool] = &[FETCH, LIST, READ, route::RESOLVE, route::ROUTE];

/// The tool with this name.
pub fn find(name: &str) -> Option<&'static BuiltinTool> {
    BUILTIN_TOOLS.iter().find(|tool| tool.name == name)
}

impl BuiltinTool {
    /// As a list shows it.
    pub fn tool(&self) -> Tool {
        let reading = ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        let mut tool = Tool::new(self.name, self.about, object((self.input)()))
            .with_title(self.title)
            .with_annotations(reading);
        tool.output_schema = self.output.map(|output| Arc::new(object(output())));
        tool
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// The schema of arguments that are one text.
fn one_text(name: &str, about: &str) -> Value {
    json!({
        "type": "object",
        "properties": { (name): { "type": "string", "description": about } },
        "required": [name],
        "additionalProperties": false,
    })
}

const FETCH: BuiltinTool = BuiltinTool {
    name: "skill__fetch",
    title: "Fetch skills",
    about: "Read one or more iii:// addresses into one markdown text. Use it whenever skill \
        instructions contain an iii:// link; several links go into `uris`. iii://skills is the \
        index of all skills.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "uri": { "type": "string", "description": "One address, such as iii://skills." },
                "uris": {
                    "type": "array", "items": { "type": "string" },
                    "description": "Several addresses; wins over `uri`.",
                },
            },
            "additionalProperties": false,
        })
    },
    output: None,
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Fetch {
                uri: Option<String>,
                uris: Option<Vec<String>>,
            }
            let Fetch { uri, uris } = decode(given)?;
            let text = registry.fetch(uri.as_deref(), uris.as_deref()).await?;
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
        })
    },
};

const LIST: BuiltinTool = BuiltinTool {
    name: "skill__list",
    title: "List skills",
    about: "List skills with their addresses, titles and descriptions, all of them or those whose \
        id begins with `prefix`.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "prefix": { "type": "string", "description": "How the ids begin, such as resend/." },
            },
            "additionalProperties": false,
        })
    },
    output: Some(|| {
        json!({
            "type": "object",
            "properties": {
                "skills": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "uri": { "type": "string" },
                            "id": { "type": "string" },
                            "title": { "type": "string" },
                            "description": { "type": "string" },
                            "bytes": { "type": "integer", "minimum": 0 },
                            "modified": { "type": "string" },
                        },
                        "required": ["uri", "id", "title"],
                    },
                },
            },
            "required": ["skills"],
        })
    }),
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct List {
                prefix: Option<String>,
            }
            let List { prefix } = decode(given)?;
            let prefix = prefix.unwrap_or_default();
            let resources = registry.resources().await?;
            let skills = resources
                .iter()
                .filter_map(|resource| skill(resource, &prefix));
            Ok(CallToolResult::structured(
                json!({ "skills": skills.collect::<Value>() }),
            ))
        })
    },
};

fn skill(resource: &Resource, prefix: &str) -> Option<Value> {
    let ResourceUri::Skill(id) = &resource.uri else {
        return None;
    };
    let mut skill = json!({
        "uri": resource.uri.to_string(), "id": id.as_str(), "title": &*resource.name,
    });
    if let Some(description) = &resource.description {
        skill["description"] = (**description).into();
    }
    if let Some(bytes) = resource.bytes {
        skill["bytes"] = bytes.into();
    }
    if let Some(modified) = &resource.modified {
        skill["modified"] = (**modified).into();
    }
    id.as_str().starts_with(prefix).then_some(skill)
}

const READ: BuiltinTool = BuiltinTool {
    name: "skill__read",
    title: "Read a skill",
    about: "Read the text at one iii:// address, exactly as it is kept: a skill, the index \
        iii://skills, or the live output of a function at iii://fn/...",
    input: || one_text("uri", "The address, such as iii://skills."),
    output: None,
    run: |registry, given| {
        Box::pin(async move {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Read {
                uri: String,
            }
            let Read { uri } = decode(given)?;
            let content = registry.read(&uri.parse()?).await?;
            Ok(CallToolResult::success(vec![ContentBlock::text(
                &*content.text,
            )]))
        })
    },
};

/// Reads arguments; one that is wrong is named.
fn decode<T: DeserializeOwned>(given: JsonObject) -> Result<T, Error> {
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let problem = error.inner().to_string();
        match error.path().to_string().as_str() {
            "." => Error::invalid("arguments:", problem),
            field => Error::invalid(format!("argument `{field}`:"), problem),
        }
    })
}
