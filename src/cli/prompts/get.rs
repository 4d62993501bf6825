//! `skills prompts get`: the text of a prompt.

use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_core::{PromptName, nearest};

use super::list::{Prompt, prompts};
use crate::cli::CliError;
use crate::cli::connection::open;
use crate::cli::options::Options;
use crate::cli::output::{Output, line};

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
        if let Some(prompt) = prompts(connection)
            .await?
            .iter()
            .find(|one| one.name == name.as_str())
        {
            check(prompt, &arguments, &connection.output)?;
        }
        let payload = json!({ "name": name.as_str(), "arguments": arguments });
        let rendered: Rendered = connection.call("prompts::mcp-get", &payload).await?;
        connection.output.data("prompts get", &rendered, |output| {
            output.document(&line(&in_words(&rendered.messages)), true, false)
        })
    })
}

/// `key=value` by key.
fn parse(given: &[String]) -> Result<BTreeMap<&str, &str>, CliError> {
    let mut arguments = BTreeMap::new();
    for one in given {
        let example = "write arguments as key=value, as in `name=Ada`";
        let (key, value) = one
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| CliError::invalid(format!("`{one}` is no argument"), example))?;
        if arguments.insert(key.trim(), value).is_some() {
            let message = format!("argument `{key}` is given twice");
            return Err(CliError::invalid(message, "leave one of them out"));
        }
    }
    Ok(arguments)
}

/// What is missing is an error; what the prompt does not name may still mean something
/// to its handler.
fn check(prompt: &Prompt, given: &BTreeMap<&str, &str>, output: &Output) -> Result<(), CliError> {
    let required = prompt.arguments.iter().filter(|argument| argument.required);
    let missing: Vec<_> = required
        .map(|argument| argument.name.as_str())
        .filter(|name| !given.contains_key(name))
        .collect();
    if !missing.is_empty() {
        let example: Vec<_> = missing.iter().map(|name| format!("{name}=...")).collect();
        return Err(CliError::invalid(
            format!("prompt `{}` needs {}", prompt.name, missing.join(", ")),
            format!("skills prompts get {} {}", prompt.name, example.join(" ")),
        ));
    }
    let names = || {
        prompt
            .arguments
            .iter()
            .map(|argument| argument.name.as_str())
    };
    for key in given
        .keys()
        .filter(|key| !names().any(|name| name == **key))
    {
        let near = nearest(key, names()).map(|near| format!("; did you mean `{near}`?"));
        output.note(&format!(
            "prompt `{}` names no argument `{key}`{}",
            prompt.name,
            near.unwrap_or_default()
        ));
    }
    Ok(())
}

/// The text of one message from the user as it is; a conversation with who says what.
fn in_words(messages: &[Value]) -> String {
    let text = |message: &Value| match message["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{:#}", message["content"]),
    };
    match messages {
        [one] if one["role"] == "user" => text(one),
        many => {
            let said = |message: &Value| {
                let role = message["role"].as_str().unwrap_or("somebody");
                format!("{role}:\n{}\n", text(message).trim_end())
            };
            many.iter().map(said).collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let check = |given: &[&str], expected: &str| {
            let given: Vec<_> = given.iter().map(|&one| one.to_owned()).collect();
            let got = parse(&given).map_or_else(|stop| stop.message, |map| format!("{map:?}"));
            assert_eq!(got, expected, "for {given:?}");
        };
        check(&[], "{}");
        check(&["a=b=c", "d="], r#"{"a": "b=c", "d": ""}"#);
        check(&["a"], "`a` is no argument");
        check(&["=b"], "`=b` is no argument");
        check(&["a=1", "a=2"], "argument `a` is given twice");
    }

    #[test]
    fn conversations_say_who_speaks() {
        let message =
            |role, text| json!({ "role": role, "content": { "type": "text", "text": text } });
        assert_eq!(in_words(&[message("user", "Hi")]), "Hi");
        assert_eq!(
            in_words(&[message("user", "Hi"), message("assistant", "Ho\n")]),
            "user:\nHi\n\nassistant:\nHo\n"
        );
        let image = json!({ "role": "user", "content": { "type": "image" } });
        assert!(in_words(&[image]).contains("\"image\""));
    }
}
