//! The functions `prompts::*`: storing, listing and rendering prompts.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_core::{Actor, Json, Precondition, PromptName, PromptRegistration};

use super::Operation;
use super::decode::{Object, decode, encode};
use super::leases::terms;
use super::schema::{AnyValue, text_or_null};
use super::skills::{EmptyInput, precondition};

/// `prompts::register`.
pub const REGISTER: Operation = Operation::function::<RegisterPromptInput, RegisterPromptOutput>(
    "prompts::register",
    "Store a slash command whose text a handler function renders.",
    |registry, payload| {
        Box::pin(async move {
            let input: RegisterPromptInput = decode(&payload)?;
            let checked: PromptName = input.name.parse()?;
            let function = input.function_id.parse()?;
            let arguments = input
                .arguments
                .into_iter()
                .map(|Object(argument)| argument.into_core())
                .collect();
            let registration = PromptRegistration {
                name: checked,
                description: input.description,
                arguments,
                function_id: function,
                expected: input.if_match,
                lease: terms(input.owner.as_deref(), input.ttl_ms, input.worker)?,
                rollback: None,
            };
            let registered_at = registry.register_prompt(registration).await?;
            encode(&RegisterPromptOutput {
                name: input.name,
                registered_at,
            })
        })
    },
);

/// A slash command to store.
#[derive(Deserialize, JsonSchema)]
struct RegisterPromptInput {
    /// One segment of `[a-z0-9_-]`, at most 64 characters.
    name: String,
    /// Shown to the person who picks the prompt.
    description: String,
    #[serde(default)]
    arguments: Vec<Object<PromptArgument>>,
    /// The function that is called with the arguments and returns the text.
    function_id: String,
    /// The digest (`sha256:...`) of the definition that must be registered now, or null if none
    /// must be. Another definition is not replaced: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// Who keeps it registered, such as the name of a worker; at most 256 bytes.
    #[serde(default)]
    #[schemars(default, schema_with = "text_or_null")]
    owner: Option<String>,
    /// How long it is valid without being registered again or renewed, in milliseconds. By
    /// default it stays until it is unregistered.
    #[serde(default)]
    ttl_ms: Option<u64>,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PromptArgument {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "text_or_null")]
    description: Option<String>,
    #[serde(default)]
    required: bool,
}

impl PromptArgument {
    fn into_core(self) -> skills_core::PromptArgument {
        skills_core::PromptArgument {
            name: self.name.into(),
            description: self.description.map(Into::into),
            required: self.required,
        }
    }

    pub(crate) fn from_core(argument: &skills_core::PromptArgument) -> Self {
        Self {
            name: argument.name.to_string(),
            description: argument.description.as_deref().map(str::to_owned),
            required: argument.required,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct RegisterPromptOutput {
    name: String,
    registered_at: Arc<str>,
}

/// `prompts::unregister`.
pub const UNREGISTER: Operation =
    Operation::function::<UnregisterPromptInput, UnregisterPromptOutput>(
        "prompts::unregister",
        "Remove a prompt by name. Removing an unknown name is not an error.",
        |registry, payload| {
            Box::pin(async move {
                let UnregisterPromptInput {
                    name,
                    if_match,
                    worker,
                } = decode(&payload)?;
                let (checked, actor) = (name.parse()?, Actor::worker(worker));
                let removed = registry.unregister_prompt_by(&checked, if_match, actor);
                let removed = removed.await?;
                encode(&UnregisterPromptOutput { name, removed })
            })
        },
    );

#[derive(Deserialize, JsonSchema)]
struct UnregisterPromptInput {
    name: String,
    /// The digest (`sha256:...`) of the definition that must be registered now. Another definition
    /// is not removed: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}

#[derive(Serialize, JsonSchema)]
struct UnregisterPromptOutput {
    name: String,
    removed: bool,
}

/// `prompts::list`.
pub const LIST: Operation = Operation::function::<ListPromptsInput, ListPromptsOutput>(
    "prompts::list",
    "List every prompt: name, handler, number of arguments.",
    |registry, payload| {
        Box::pin(async move {
            let ListPromptsInput {} = decode(&payload)?;
            let listing = registry.prompts().await?;
            let entry = |prompt: skills_core::PromptHead| PromptEntry {
                name: prompt.name.to_string(),
                function_id: prompt.function_id,
                arguments: prompt.arguments,
                registered_at: prompt.registered_at,
                origin: prompt.origin.as_str(),
                owner: (prompt.lease.as_ref())
                    .and_then(|lease| Some(lease.owner.as_ref()?.to_string())),
                stale: prompt.lease.as_ref().is_some_and(|lease| lease.stale),
                expires_at: prompt.lease.and_then(|lease| lease.expires_at),
                hides: prompt.hides.iter().map(|origin| origin.as_str()).collect(),
            };
            encode(&ListPromptsOutput {
                prompts: listing.entries.into_iter().map(entry).collect(),
            })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct ListPromptsInput {}

#[derive(Serialize, JsonSchema)]
struct ListPromptsOutput {
    prompts: Vec<PromptEntry>,
}

#[derive(Serialize, JsonSchema)]
struct PromptEntry {
    name: String,
    function_id: String,
    arguments: usize,
    registered_at: Arc<str>,
    /// `state` for what a worker registered, otherwise the source it comes from.
    origin: &'static str,
    /// The origins of documents with the same name. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hides: Vec<&'static str>,
    /// Who keeps it registered. Absent if the registration named no owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// When its lease ends. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Arc<str>>,
    /// True if its lease has ended. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
}

/// `prompts::mcp-list`.
pub const MCP_LIST: Operation = Operation::function::<EmptyInput, AnyValue>(
    "prompts::mcp-list",
    "Internal: every prompt with its arguments, as the protocol lists them.",
    |registry, payload| {
        Box::pin(async move {
            let EmptyInput {} = decode(&payload)?;
            let menu = registry.prompt_menu().await?;
            let entry = |prompt: &skills_core::PromptMenuEntry| {
                let arguments = prompt.arguments.iter().map(PromptArgument::from_core);
                json!({
                    "name": prompt.name.as_str(),
                    "description": &*prompt.description,
                    "arguments": arguments.collect::<Vec<_>>(),
                })
            };
            encode(&json!({ "prompts": menu.iter().map(entry).collect::<Value>() }))
        })
    },
)
.idempotent();

/// `prompts::mcp-get`.
pub const MCP_GET: Operation = Operation::function::<PromptGetInput, AnyValue>(
    "prompts::mcp-get",
    "Internal: render a prompt with arguments, as protocol messages.",
    |registry, payload| {
        Box::pin(async move {
            let PromptGetInput { name, arguments } = decode(&payload)?;
            encode(&registry.render_prompt(&name.parse()?, arguments).await?)
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct PromptGetInput {
    name: String,
    /// The arguments by name.
    #[serde(default)]
    #[schemars(with = "serde_json::Value")]
    arguments: Option<Json>,
}
