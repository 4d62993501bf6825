//! `skills prompts get`: the text of a prompt.

use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::prompts::MCP_GET;
use skills_core::{Kind, PromptName, nearest};

use super::list::{Prompt, prompts};
use crate::cli::connection::open;
use crate::cli::options::Options;
use crate::cli::output::line;
use crate::cli::{CliError, completions, key_value};

/// Render a prompt with arguments.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GetArgs {
    /// The prompt's name.
    #[arg(add = completions::prompt_names())]
    name: String,

    /// Its arguments, as `key=value`.
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills prompts get greet name=Ada
  skills prompts get greet 'name=Ada Lovelace' tone=formal";

#[derive(Deserialize, Serialize)]
struct Rendered {
    #[serde(default)]
    description: Value,
    messages: Vec<Value>,
}

pub fn run(args: &GetArgs) -> Result<(), CliError> {
    let name: PromptName = args.name.trim_start_matches('/').parse()?;
    let example = "write arguments as key=value, as in `name=Ada`";
    let arguments = key_value::parse(&args.arguments, "an argument", example)?;
    open(&args.options, async |connection| {
        let prompts = prompts(connection).await?;
        let prompt = prompts.iter().find(|prompt| prompt.name == name.as_str());
        if let Some(prompt) = prompt {
            check(prompt, &arguments)?;
        }
        let payload = json!({ "name": name.as_str(), "arguments": arguments });
        let rendered: Result<Rendered, CliError> = connection.call(&MCP_GET, &payload).await;
        let is_refused = matches!(&rendered, Err(error) if error.kind == Kind::Invalid);
        // A refusal names them itself.
        for note in prompt
            .filter(|_| !is_refused)
            .iter()
            .flat_map(|it| unknown(it, &arguments))
        {
            connection.output.note(&note);
        }
        let rendered = rendered?;
        connection.output.data("prompts get", &rendered, |output| {
            output.document(&line(&to_text(&rendered.messages)), true, false)
        })
    })
}

/// A missing argument is an error.
fn check(prompt: &Prompt, given: &BTreeMap<&str, &str>) -> Result<(), CliError> {
    let (name, arguments) = (&prompt.name, &prompt.arguments);
    let mut missing: Vec<_> = arguments.iter().filter(|one| one.required).collect();
    missing.retain(|argument| !given.contains_key(argument.name.as_str()));
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|one| one.name.as_str()).collect();
        return Err(CliError::invalid(
            format!("prompt `{name}` needs {}", names.join(", ")),
            format!("skills prompts get {name} {}=...", names.join("=... ")),
        ));
    }
    Ok(())
}

/// A note on each unknown argument. It is not an error here: the handler may use it.
fn unknown(prompt: &Prompt, given: &BTreeMap<&str, &str>) -> Vec<String> {
    let (name, arguments) = (&prompt.name, &prompt.arguments);
    let names: Vec<_> = arguments.iter().map(|one| one.name.as_str()).collect();
    let unknown = given.keys().filter(|key| !names.contains(key));
    let note = |key: &&str| {
        let near = nearest(key, names.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_default();
        format!("prompt `{name}` has no argument `{key}`{near}")
    };
    unknown.map(note).collect()
}

/// The text of a single message of the user; otherwise every message below its role.
fn to_text(messages: &[Value]) -> String {
    let text = |message: &Value| match message["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{:#}", message["content"]),
    };
    if let [message] = messages
        && message["role"] == "user"
    {
        return text(message);
    }
    let with_role = |message: &Value| {
        let role = message["role"].as_str().unwrap_or("unknown");
        format!("{role}:\n{}\n", text(message).trim_end())
    };
    messages
        .iter()
        .map(with_role)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_printed_below_their_roles() {
        let message =
            |role, text| json!({ "role": role, "content": { "type": "text", "text": text } });
        assert_eq!(to_text(&[message("user", "Hi")]), "Hi");
        assert_eq!(
            to_text(&[message("user", "Hi"), message("assistant", "Ho\n")]),
            "user:\nHi\n\nassistant:\nHo\n"
        );
        let image = json!({ "role": "user", "content": { "type": "image" } });
        assert!(to_text(&[image]).contains("\"image\""));
    }
}
