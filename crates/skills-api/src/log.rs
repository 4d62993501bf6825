//! `skills::log`: who changed what and when.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{EntryName, Error, LogEntry, LogRequest};

use super::Operation;
use super::decode::{decode, encode};
use super::history::VersionEntry;

/// `skills::log`.
pub const LOG: Operation = Operation::function::<LogInput, LogOutput>(
    "skills::log",
    "List who changed which skills and prompts and when, newest first.",
    |registry, payload| {
        Box::pin(async move {
            let LogInput {
                id,
                name,
                since,
                limit,
            } = decode(&payload)?;
            let entry = match (id, name) {
                (Some(_), Some(_)) => {
                    return Err(Error::invalid("id", "and `name` must not both be given"));
                }
                (Some(id), None) => Some(EntryName::Skill(id.parse()?)),
                (None, Some(name)) => Some(EntryName::Prompt(name.parse()?)),
                (None, None) => None,
            };
            let request = LogRequest {
                entry,
                since,
                limit,
            };
            let log = registry.log(&request).await?;
            encode(&LogOutput {
                changes: log.entries.into_iter().map(LogLine::of).collect(),
                total: log.total,
            })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct LogInput {
    /// Only the changes of this skill.
    #[serde(default)]
    id: Option<String>,
    /// Only the changes of this prompt.
    #[serde(default)]
    name: Option<String>,
    /// Only changes at this time or later: RFC 3339 in UTC, such as `2026-01-31T12:00:00Z`.
    #[serde(default)]
    since: Option<Arc<str>>,
    /// The most changes; at most 10000.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct LogOutput {
    /// Newest first.
    changes: Vec<LogLine>,
    /// How many there are.
    total: usize,
}

/// One change.
#[derive(Serialize, JsonSchema)]
struct LogLine {
    /// The skill. Absent for a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The prompt. Absent for a skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    version: VersionEntry,
}

impl LogLine {
    fn of(entry: LogEntry) -> Self {
        let LogEntry { entry, change } = entry;
        let (id, name) = match entry {
            EntryName::Skill(id) => (Some(id.to_string()), None),
            EntryName::Prompt(name) => (None, Some(name.to_string())),
        };
        Self {
            id,
            name,
            version: VersionEntry::of(change),
        }
    }
}
