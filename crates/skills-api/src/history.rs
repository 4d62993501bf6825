//! Versions of skills and prompts: `skills::history`, `skills::rollback` and the same for prompts.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use skills_core::{
    Actor, Precondition, PromptName, PromptVersion, RolledBack, SkillId, VersionHead, VersionRef,
};

use super::Operation;
use super::decode::{decode, encode};
use super::lint::check_registration;
use super::prompts::PromptArgument;
use super::schema::text_or_null;
use super::skills::precondition;

/// `skills::history`.
pub const SKILL_HISTORY: Operation = Operation::function::<SkillHistoryInput, SkillHistoryOutput>(
    "skills::history",
    "List the versions of a registered skill, newest first; each is read at iii://{id}@{version}.",
    |registry, payload| {
        Box::pin(async move {
            let SkillHistoryInput { id } = decode(&payload)?;
            let versions = registry.skill_history(&id.parse()?).await?;
            let versions = versions.into_iter().map(VersionEntry::of).collect();
            encode(&SkillHistoryOutput { id, versions })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct SkillHistoryInput {
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct SkillHistoryOutput {
    id: String,
    /// Newest first.
    versions: Vec<VersionEntry>,
}

/// One version.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VersionEntry {
    /// Its number. Numbers only grow.
    version: u64,
    /// When it was made. A clock that is set back makes earlier times.
    at: Arc<str>,
    /// What made it: `register`, `rollback`, `found` (registered without a version, for example
    /// by an older release), `unregister`, `expire` (its lease ended) or `gc`.
    op: &'static str,
    /// The SHA-256 of its content. Absent for removals.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The length of its content. Absent for removals.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    /// The version that a rollback brought back.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    /// The owner that the registration named.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The name of the worker that made the call, or its id, if the engine tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<Arc<str>>,
    /// True for what is registered now. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
}

impl VersionEntry {
    pub(crate) fn of(head: VersionHead) -> Self {
        let Actor {
            owner,
            worker,
            worker_name,
        } = head.actor;
        Self {
            version: head.version,
            at: head.at,
            op: head.op.as_str(),
            digest: head.digest.map(|digest| digest.to_string()),
            bytes: head.bytes,
            from: head.from,
            owner: owner.map(|owner| owner.to_string()),
            worker: worker_name.or(worker),
            current: head.current,
        }
    }
}

/// `skills::rollback`.
pub const SKILL_ROLLBACK: Operation = Operation::function::<SkillRollbackInput, RollbackOutput>(
    "skills::rollback",
    "Register an older version of a skill again, as a new version.",
    |registry, payload| {
        Box::pin(async move {
            let SkillRollbackInput {
                id,
                version: GivenVersion(version),
                if_match,
                worker,
            } = decode(&payload)?;
            let id: SkillId = id.parse()?;
            let version = registry.skill_version(&id, &version).await?;
            check_registration(&registry, &id, &version.body)?;
            let rolled_back = registry.rollback_skill(&id, version, if_match, worker);
            encode(&RollbackOutput::of(
                Some(id.to_string()),
                None,
                rolled_back.await?,
            ))
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct SkillRollbackInput {
    id: String,
    /// The number of the version, or the beginning of its digest (`sha256:ab12`).
    version: GivenVersion,
    /// The digest (`sha256:...`) of the body that must be registered now, or null if none must
    /// be. Another body is not replaced: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}

/// A version as a number or a text.
struct GivenVersion(VersionRef);

impl<'de> Deserialize<'de> for GivenVersion {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(input)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        text.parse().map(Self).map_err(|error: skills_core::Error| {
            // The hint too: the error of a field has none of its own.
            serde::de::Error::custom(error.to_text())
        })
    }
}

impl JsonSchema for GivenVersion {
    fn schema_name() -> Cow<'static, str> {
        "GivenVersion".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 1 })
    }
}

#[derive(Serialize, JsonSchema)]
struct RollbackOutput {
    /// The id of the skill. Absent for a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The name of the prompt. Absent for a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The version that has the content now: a new one, unless it was current already.
    version: u64,
    /// The version that was brought back.
    from: u64,
    registered_at: Arc<str>,
    /// True if the content was registered already, so that there is no new version. Absent
    /// otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unchanged: bool,
}

impl RollbackOutput {
    fn of(id: Option<String>, name: Option<String>, rolled_back: RolledBack) -> Self {
        let RolledBack {
            version,
            from,
            registered_at,
            unchanged,
        } = rolled_back;
        Self {
            id,
            name,
            version,
            from,
            registered_at,
            unchanged,
        }
    }
}

/// `prompts::history`.
pub const PROMPT_HISTORY: Operation =
    Operation::function::<PromptHistoryInput, PromptHistoryOutput>(
        "prompts::history",
        "List the versions of a registered prompt with their definitions, newest first.",
        |registry, payload| {
            Box::pin(async move {
                let PromptHistoryInput { name } = decode(&payload)?;
                let versions = registry.prompt_history(&name.parse()?).await?;
                let versions = versions.into_iter().map(PromptVersionEntry::of).collect();
                encode(&PromptHistoryOutput { name, versions })
            })
        },
    )
    .idempotent();

#[derive(Deserialize, JsonSchema)]
struct PromptHistoryInput {
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct PromptHistoryOutput {
    name: String,
    /// Newest first.
    versions: Vec<PromptVersionEntry>,
}

/// One version of a prompt.
#[derive(Serialize, JsonSchema)]
struct PromptVersionEntry {
    #[serde(flatten)]
    version: VersionEntry,
    /// What it was. Absent for removals.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<PromptDefinition>,
}

#[derive(Serialize, JsonSchema)]
struct PromptDefinition {
    description: String,
    arguments: Vec<PromptArgument>,
    function_id: String,
}

impl PromptVersionEntry {
    fn of(version: PromptVersion) -> Self {
        let PromptVersion { head, prompt } = version;
        Self {
            version: VersionEntry::of(head),
            prompt: prompt.map(|prompt| PromptDefinition {
                description: prompt.description.into(),
                arguments: (prompt.arguments.iter())
                    .map(PromptArgument::from_core)
                    .collect(),
                function_id: prompt.function_id.to_string(),
            }),
        }
    }
}

/// `prompts::rollback`.
pub const PROMPT_ROLLBACK: Operation = Operation::function::<PromptRollbackInput, RollbackOutput>(
    "prompts::rollback",
    "Register an older version of a prompt again, as a new version.",
    |registry, payload| {
        Box::pin(async move {
            let PromptRollbackInput {
                name,
                version: GivenVersion(version),
                if_match,
                worker,
            } = decode(&payload)?;
            let name: PromptName = name.parse()?;
            let rolled_back = registry.rollback_prompt(&name, &version, if_match, worker);
            encode(&RollbackOutput::of(
                None,
                Some(name.to_string()),
                rolled_back.await?,
            ))
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct PromptRollbackInput {
    name: String,
    /// The number of the version, or the beginning of its digest (`sha256:ab12`).
    version: GivenVersion,
    /// The digest (`sha256:...`) of the definition that must be registered now, or null if none
    /// must be. Another definition is not replaced: the call fails as `conflict`.
    #[serde(default, deserialize_with = "precondition")]
    #[schemars(default, schema_with = "text_or_null")]
    if_match: Precondition,
    /// The worker that made the call; the engine adds it.
    #[serde(default, rename = "_caller_worker_id")]
    #[schemars(skip)]
    worker: Option<Arc<str>>,
}
