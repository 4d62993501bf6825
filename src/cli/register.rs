//! `skills register` and `skills unregister`.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_core::{BODY_MAX, SkillId, nearest};

use super::connection::{Connection, open};
use super::humanize::size;
use super::list::entries;
use super::options::Options;
use super::output::lines;
use super::{CliError, address, input};

/// Keep a markdown file as a skill.
#[derive(Args)]
#[command(after_help = REGISTER_EXAMPLES)]
pub struct RegisterArgs {
    /// The id to keep it under, such as `resend/email`.
    id: String,

    /// The markdown, at most 256 KiB; `-` is stdin.
    file: PathBuf,

    #[command(flatten)]
    options: Options,
}

const REGISTER_EXAMPLES: &str = "Examples:
  skills register resend/email email.md
  echo '# Hello' | skills register hello -

What was registered under the id before is replaced.";

/// Remove skills.
#[derive(Args)]
#[command(after_help = UNREGISTER_EXAMPLES)]
pub struct UnregisterArgs {
    /// The ids of registered skills; one that is not there is no error.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const UNREGISTER_EXAMPLES: &str = "Examples:
  skills unregister resend/email
  skills unregister a b c --json       which of them were there";

pub fn run(args: &RegisterArgs) -> Result<(), CliError> {
    let id = address::id(&args.id)?;
    let skill = input::text(&args.file, BODY_MAX, &args.options.output())?;
    open(&args.options, async |connection| {
        let answer = register(connection, &id, &skill).await?;
        connection
            .output
            .data("register", &answer, |_| format!("iii://{id}\n"))?;
        connection
            .output
            .remark(&format!("registered, {}", size(skill.len() as u64)));
        Ok(())
    })
}

/// What was registered, and when.
#[derive(Deserialize, Serialize)]
pub struct Registered {
    id: String,
    registered_at: String,
}

/// Keeps one skill.
pub async fn register(
    connection: &Connection,
    id: &SkillId,
    skill: &str,
) -> Result<Registered, CliError> {
    let payload = json!({ "id": id.as_str(), "skill": skill });
    connection.call("skills::register", &payload).await
}

#[derive(Deserialize, Serialize)]
struct Removed {
    id: String,
    removed: bool,
}

pub fn unregister(args: &UnregisterArgs) -> Result<(), CliError> {
    let ids = args.ids.iter().map(|id| address::id(id));
    let ids: Vec<SkillId> = ids.collect::<Result<_, CliError>>()?;
    open(&args.options, async |connection| {
        let mut outcome: Vec<Removed> = Vec::new();
        for id in &ids {
            let payload = json!({ "id": id.as_str() });
            outcome.push(connection.call("skills::unregister", &payload).await?);
        }
        let missing = outcome.iter().filter(|one| !one.removed);
        let missing: Vec<_> = missing.map(|one| one.id.as_str()).collect();
        if !missing.is_empty() {
            explain(connection, &missing).await?;
        }
        connection
            .output
            .data("unregister", &json!({ "skills": outcome }), |_| {
                let removed = outcome.iter().filter(|one| one.removed);
                lines(removed.map(|one| one.id.as_str()))
            })
    })
}

/// Says why nothing was removed: a file is not ours to remove, and a typing mistake
/// has a likely meaning.
async fn explain(connection: &Connection, missing: &[&str]) -> Result<(), CliError> {
    let skills = entries(connection, None).await?;
    for id in missing {
        let note = if let Some(skill) = skills.iter().find(|skill| skill.id == *id) {
            let origin = &skill.origin;
            format!("`{id}` was not registered but comes from `{origin}`; remove it there")
        } else {
            let ids = skills.iter().map(|skill| skill.id.as_str());
            match nearest(id, ids) {
                Some(near) => format!("`{id}` was not registered; did you mean `{near}`?"),
                None => format!("`{id}` was not registered"),
            }
        };
        connection.output.note(&note);
    }
    Ok(())
}
