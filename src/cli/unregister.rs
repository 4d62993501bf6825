//! `skills unregister` and `skills prompts unregister`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use skills_api::{Operation, prompts, skills};
use skills_core::{PromptName, nearest};

use super::connection::open;
use super::options::Options;
use super::output::lines;
use super::{CliError, completions};

/// Remove skills.
#[derive(Args)]
#[command(after_help = SKILLS_EXAMPLES)]
pub struct SkillsArgs {
    /// The ids of registered skills; an unknown id is not an error.
    #[arg(required = true, value_name = "ID", add = completions::skill_ids())]
    ids: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const SKILLS_EXAMPLES: &str = "Examples:
  skills unregister resend/email
  skills unregister a b c --json       shows which of them were registered";

/// Remove prompts.
#[derive(Args)]
#[command(after_help = PROMPTS_EXAMPLES)]
pub struct PromptsArgs {
    /// The names of registered prompts; an unknown name is not an error.
    #[arg(required = true, value_name = "NAME", add = completions::prompt_names())]
    names: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const PROMPTS_EXAMPLES: &str = "Examples:
  skills prompts unregister greet";

pub fn skills(args: &SkillsArgs) -> Result<(), CliError> {
    let ids = args
        .ids
        .iter()
        .map(|id| Ok(skills_core::written_id(id)?.to_string()));
    let ids: Vec<_> = ids.collect::<Result<_, CliError>>()?;
    let operations = [&skills::UNREGISTER, &skills::LIST];
    unregister(&args.options, operations, ["skills", "id"], &ids)
}

pub fn prompts(args: &PromptsArgs) -> Result<(), CliError> {
    let names = args.names.iter();
    let names = names.map(|name| Ok(name.parse::<PromptName>()?.to_string()));
    let names: Vec<_> = names.collect::<Result<_, CliError>>()?;
    let operations = [&prompts::UNREGISTER, &prompts::LIST];
    unregister(&args.options, operations, ["prompts", "name"], &names)
}

#[derive(Deserialize)]
struct Unregistered {
    removed: bool,
}

/// Removes entries. `entries` and `key` are the fields that have the entries of a list and the
/// id of an entry.
fn unregister(
    options: &Options,
    [unregister, list]: [&Operation; 2],
    [entries, key]: [&str; 2],
    ids: &[String],
) -> Result<(), CliError> {
    let command = match entries {
        "skills" => "unregister",
        _ => "prompts unregister",
    };
    open(options, async |connection| {
        let mut results = Vec::new();
        for id in ids {
            let payload = json!({ key: id });
            let Unregistered { removed } = connection.call(unregister, &payload).await?;
            results.push((id, removed));
        }
        if results.iter().any(|(_, removed)| !removed) {
            let listed: Value = connection.call(list, &json!({})).await?;
            let listed = listed[entries].as_array().map_or(&[][..], Vec::as_slice);
            for (id, _) in results.iter().filter(|(_, removed)| !removed) {
                connection.output.note(&explain(id, listed, key));
            }
        }
        let entry = |(id, removed): &(&String, bool)| json!({ key: id, "removed": removed });
        let data = json!({ entries: results.iter().map(entry).collect::<Value>() });
        connection.output.data(command, &data, |_| {
            let removed = results.iter().filter(|(_, removed)| *removed);
            lines(removed.map(|(id, _)| id))
        })
    })
}

/// Why nothing was removed: the entry comes from a file, or the id may be mistyped.
fn explain(id: &str, listed: &[Value], key: &str) -> String {
    let reason = match listed.iter().find(|entry| entry[key] == *id) {
        Some(entry) => {
            let origin = entry["origin"].as_str().unwrap_or("state");
            format!(" but comes from `{origin}`; remove it there")
        }
        None => match nearest(id, listed.iter().filter_map(|entry| entry[key].as_str())) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        },
    };
    format!("`{id}` was not registered{reason}")
}
