//! `skills rollback` and `skills prompts rollback`: registers an older version again.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::Operation;
use skills_api::history::{PROMPT_ROLLBACK, SKILL_ROLLBACK};
use skills_core::{Digest, PromptName, VersionRef};

use super::CliError;
use super::connection::open;
use super::options::Options;

/// Register an older version of a skill again, as a new version.
#[derive(Args)]
#[command(after_help = SKILL_EXAMPLES)]
pub struct SkillRollbackArgs {
    /// The id of the skill, also of one that was unregistered.
    id: String,

    /// The number of the version, or the beginning of its digest: `sha256:ab12`.
    version: String,

    /// Only if what is registered has this digest; otherwise it fails with exit code 6.
    #[arg(long, value_name = "DIGEST")]
    if_match: Option<String>,

    #[command(flatten)]
    options: Options,
}

const SKILL_EXAMPLES: &str = "Examples:
  skills history resend/email          the versions
  skills rollback resend/email 3
  skills rollback resend/email sha256:4f0c61a2

Nothing is deleted: what was registered before is a version too. Owner and lease stay.";

/// Register an older version of a prompt again, as a new version.
#[derive(Args)]
#[command(after_help = PROMPT_EXAMPLES)]
pub struct PromptRollbackArgs {
    /// The name of the prompt, also of one that was unregistered.
    name: String,

    /// The number of the version, or the beginning of its digest: `sha256:ab12`.
    version: String,

    /// Only if what is registered has this digest; otherwise it fails with exit code 6.
    #[arg(long, value_name = "DIGEST")]
    if_match: Option<String>,

    #[command(flatten)]
    options: Options,
}

const PROMPT_EXAMPLES: &str = "Examples:
  skills prompts history greet         the versions
  skills prompts rollback greet 3";

#[derive(Deserialize, Serialize)]
struct RolledBack {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    version: u64,
    from: u64,
    registered_at: String,
    /// Whether it was registered already, so that there is no new version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unchanged: bool,
}

pub fn skill(args: &SkillRollbackArgs) -> Result<(), CliError> {
    let id = skills_core::written_id(&args.id)?;
    let version: VersionRef = args.version.parse()?;
    let mut payload = json!({ "id": id.as_str(), "version": version.to_string() });
    expect(&mut payload, args.if_match.as_deref())?;
    rollback(&args.options, "rollback", &SKILL_ROLLBACK, &payload)
}

pub fn prompt(args: &PromptRollbackArgs) -> Result<(), CliError> {
    let name: PromptName = args.name.parse()?;
    let version: VersionRef = args.version.parse()?;
    let mut payload = json!({ "name": name.as_str(), "version": version.to_string() });
    expect(&mut payload, args.if_match.as_deref())?;
    rollback(
        &args.options,
        "prompts rollback",
        &PROMPT_ROLLBACK,
        &payload,
    )
}

/// Adds the digest that must be registered.
fn expect(payload: &mut Value, if_match: Option<&str>) -> Result<(), CliError> {
    if let Some(digest) = if_match {
        payload["if_match"] = digest.parse::<Digest>()?.to_string().into();
    }
    Ok(())
}

fn rollback(
    options: &Options,
    command: &str,
    operation: &Operation,
    payload: &Value,
) -> Result<(), CliError> {
    open(options, async |connection| {
        let done: RolledBack = connection.call(operation, payload).await?;
        let name = done.id.as_deref().or(done.name.as_deref());
        let name = name.unwrap_or_default();
        connection
            .output
            .data(command, &done, |_| format!("{name}\n"))?;
        let RolledBack { version, from, .. } = done;
        let remark = if !done.unchanged {
            format!("registered version {from} again, as version {version}")
        } else if version == from {
            format!("version {from} is registered already; there is no new version")
        } else {
            format!(
                "what version {from} says is registered already, as version {version}; there is no new \
                 version"
            )
        };
        connection.output.remark(&remark);
        Ok(())
    })
}
