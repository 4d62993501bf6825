//! `skills prompts get`: the text of a prompt.

use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::prompts::MCP_GET;
use skills_core::{Kind, PromptName, nearest};

use super::list::{Prompt, prompts};
use crate::cli::CliError;
use crate::cli::connection::open;
use crate::cli::options::Options;
use crate::cli::output::line;

/// Render a prompt with arguments.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GetArgs {
    /// The prompt's name.
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
    let arguments = parse(&args.arguments)?;
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

/// The values of `key=value` by key.
fn parse(given: &[String]) -> Result<BTreeMap<&str, &str>, CliError> {
    let mut arguments = BTreeMap::new();
    for pair in given {
        let example = "write arguments as key=value, as in `name=Ada`";
        let (key, value) = pair
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| CliError::invalid(format!("`{pair}` is not an argument"), example))?;
        if arguments.insert(key.trim(), value).is_some() {
            let message = format!("argument `{key}` is given twice");
            return Err(CliError::invalid(message, "leave one of them out"));
        }
    }
    Ok(arguments)
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
    fn arguments() {
        let check = |given: &[&str], expected: &str| {
            let given: Vec<_> = given.iter().map(ToString::to_string).collect();
            let got = parse(&given).map_or_else(|error| error.message, |map| format!("{map:?}"));
            assert_eq!(got, expected, "for {given:?}");
        };
        check(&[], "{}");
        check(&["a=b=c", "d="], r#"{"a": "b=c", "d": ""}"#);
        check(&["a"], "`a` is not an argument");
        check(&["=b"], "`=b` is not an argument");
        check(&["a=1", "a=2"], "argument `a` is given twice");
    }

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
