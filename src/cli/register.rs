//! `skills register`: stores a markdown file as a skill.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::skills::{REGISTER, RESOURCES_READ};
use skills_core::{BODY_MAX, Document, Precondition, SkillId};

use super::connection::{Connection, open};
use super::humanize::size;
use super::lease::LeaseArgs;
use super::options::Options;
use super::{CliError, completions, input};

/// Register a markdown file as a skill.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RegisterArgs {
    /// The id, such as `resend/email`.
    #[arg(add = completions::skill_ids())]
    id: String,

    /// The markdown file, at most 256 KiB; `-` is stdin.
    file: PathBuf,

    #[command(flatten)]
    lease: LeaseArgs,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills register resend/email email.md
  echo '# Hello' | skills register hello -
  skills register resend email.md --owner mailer --ttl 5m

A skill that is already registered under the id is replaced.";

pub fn run(args: &RegisterArgs) -> Result<(), CliError> {
    let id = skills_core::written_id(&args.id)?;
    let skill = input::text(&args.file, BODY_MAX, &args.options.output())?;
    let mut payload = json!({ "id": id.as_str(), "skill": skill });
    args.lease.add_to(&mut payload)?;
    open(&args.options, async |connection| {
        let before = body(connection, &id).await;
        let registered: Registered = connection.call(&REGISTER, &payload).await?;
        let outcome = match before {
            None => "registered",
            Some(before) if before == skill => "unchanged",
            Some(_) => "replaced",
        };
        let output = &connection.output;
        output.data("register", &registered, |_| format!("iii://{id}\n"))?;
        for warning in Document::parse(&skill).warnings() {
            output.warn(&format!("{id}: {warning}"));
        }
        output.remark(&format!("{outcome}, {}", size(skill.len() as u64)));
        Ok(())
    })
}

#[derive(Deserialize, Serialize)]
pub struct Registered {
    id: String,
    registered_at: String,
}

/// What is registered under the id now. A skill that cannot be read can still be registered.
async fn body(connection: &Connection, id: &SkillId) -> Option<String> {
    let payload = json!({ "uri": format!("iii://@state/{id}"), "uncounted": true });
    let read: Value = connection.call(&RESOURCES_READ, &payload).await.ok()?;
    Some(read["contents"][0]["text"].as_str()?.to_owned())
}

/// Registers one skill.
pub async fn register(
    connection: &Connection,
    id: &SkillId,
    skill: &str,
    expected: Precondition,
) -> Result<Registered, CliError> {
    let mut payload = json!({ "id": id.as_str(), "skill": skill });
    match expected {
        Precondition::Any => {}
        Precondition::Absent => payload["if_match"] = Value::Null,
        Precondition::Digest(digest) => payload["if_match"] = digest.to_string().into(),
    }
    connection.call(&REGISTER, &payload).await
}
