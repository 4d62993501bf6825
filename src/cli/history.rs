//! `skills history` and `skills prompts history`: the versions of an entry.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::history::{PROMPT_HISTORY, SKILL_HISTORY};
use skills_core::PromptName;

use super::CliError;
use super::connection::{Connection, open};
use super::humanize::{age, count, size};
use super::options::Options;
use super::table::lay_out;

/// List the versions of a registered skill, newest first.
#[derive(Args)]
#[command(after_help = SKILL_EXAMPLES)]
pub struct SkillHistoryArgs {
    /// The id of the skill, also of one that was unregistered.
    id: String,

    #[command(flatten)]
    options: Options,
}

const SKILL_EXAMPLES: &str = "Examples:
  skills history resend/email
  skills read resend/email@3           the text of version 3
  skills diff resend/email 1 3         what changed between two versions
  skills rollback resend/email 3       register version 3 again";

/// List the versions of a registered prompt, newest first.
#[derive(Args)]
#[command(after_help = PROMPT_EXAMPLES)]
pub struct PromptHistoryArgs {
    /// The name of the prompt, also of one that was unregistered.
    name: String,

    #[command(flatten)]
    options: Options,
}

const PROMPT_EXAMPLES: &str = "Examples:
  skills prompts history greet
  skills prompts history greet --json  with the definitions
  skills prompts rollback greet 3";

/// One version, as the operation lists it.
#[derive(Deserialize, Serialize)]
pub struct VersionEntry {
    pub version: u64,
    pub at: String,
    pub op: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<serde_json::Value>,
}

/// The versions of a skill.
#[derive(Deserialize, Serialize)]
pub struct SkillHistory {
    pub id: String,
    pub versions: Vec<VersionEntry>,
}

#[derive(Deserialize, Serialize)]
struct PromptHistory {
    name: String,
    versions: Vec<VersionEntry>,
}

impl VersionEntry {
    /// What made it, with the version that a rollback brought back.
    pub fn made_by(&self) -> String {
        match self.from {
            Some(from) => format!("{} to {from}", self.op),
            None => self.op.clone(),
        }
    }

    /// The owner that it named and the worker that made the call, as far as they are known.
    pub fn actor(&self) -> String {
        let owner = self.owner.iter().map(|owner| format!("owner {owner}"));
        let worker = self.worker.iter().map(|worker| format!("worker {worker}"));
        owner.chain(worker).collect::<Vec<_>>().join(", ")
    }
}

pub fn skill(args: &SkillHistoryArgs) -> Result<(), CliError> {
    let id = skills_core::written_id(&args.id)?.to_string();
    open(&args.options, async |connection| {
        let history = read(connection, &id).await?;
        connection.output.data("history", &history, |output| {
            text(&history.versions, output.columns())
        })?;
        remark(connection, &history.versions);
        Ok(())
    })
}

pub fn prompt(args: &PromptHistoryArgs) -> Result<(), CliError> {
    let name = args.name.parse::<PromptName>()?;
    open(&args.options, async |connection| {
        let payload = json!({ "name": name.as_str() });
        let history: PromptHistory = connection.call(&PROMPT_HISTORY, &payload).await?;
        connection
            .output
            .data("prompts history", &history, |output| {
                text(&history.versions, output.columns())
            })?;
        remark(connection, &history.versions);
        Ok(())
    })
}

/// The versions of a skill.
pub async fn read(connection: &Connection, id: &str) -> Result<SkillHistory, CliError> {
    let payload = json!({ "id": id });
    connection.call(&SKILL_HISTORY, &payload).await
}

fn remark(connection: &Connection, versions: &[VersionEntry]) {
    let number = count(versions.len(), "version");
    let gone = if versions.iter().any(|version| version.current) {
        ""
    } else {
        "; not registered now"
    };
    connection.output.remark(&format!("{number}{gone}"));
}

fn text(versions: &[VersionEntry], width: Option<usize>) -> String {
    let now = Timestamp::now();
    let rows: Vec<_> = versions
        .iter()
        .map(|version| {
            let digest = version.digest.as_deref().unwrap_or_default();
            [
                version.version.to_string(),
                age(&version.at, now),
                version.made_by(),
                version.bytes.map(size).unwrap_or_default(),
                // As much of it as names a version in practice.
                digest.get(..19).unwrap_or(digest).to_owned(),
                if version.current { "current" } else { "" }.to_owned(),
                version.actor(),
            ]
        })
        .collect();
    let right = [true, true, false, true, false, false, false];
    lay_out(&rows, right, width)
}
