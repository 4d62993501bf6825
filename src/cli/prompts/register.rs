//! `skills prompts register` and `skills prompts unregister`.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_core::{FunctionId, PromptName, nearest};

use super::list::prompts;
use crate::cli::CliError;
use crate::cli::connection::{Connection, open};
use crate::cli::options::Options;
use crate::cli::output::lines;

/// Keep a prompt whose text a function renders.
#[derive(Args)]
#[command(after_help = REGISTER_EXAMPLES)]
pub struct RegisterArgs {
    /// The name: lowercase letters, digits, `-` and `_`.
    name: String,

    /// The function that is called with the arguments and answers the text.
    #[arg(long, value_name = "FUNCTION")]
    function: String,

    /// What somebody picking it reads.
    #[arg(long, value_name = "TEXT")]
    description: String,

    /// An argument that must be given; may be repeated.
    #[arg(long, value_name = "NAME[=TEXT]")]
    required: Vec<String>,

    /// An argument that may be left out; may be repeated.
    #[arg(long, value_name = "NAME[=TEXT]")]
    optional: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const REGISTER_EXAMPLES: &str = "Examples:
  skills prompts register greet --function demo::greet --description 'Compose a greeting.' \\
      --required 'name=Who to greet' --optional tone";

/// Remove prompts.
#[derive(Args)]
#[command(after_help = UNREGISTER_EXAMPLES)]
pub struct UnregisterArgs {
    /// The names of registered prompts; one that is not there is no error.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const UNREGISTER_EXAMPLES: &str = "Examples:
  skills prompts unregister greet";

#[derive(Deserialize, Serialize)]
struct Registered {
    name: String,
    registered_at: String,
}

pub fn run(args: &RegisterArgs) -> Result<(), CliError> {
    let name: PromptName = args.name.parse()?;
    let function: FunctionId = args.function.parse()?;
    let argument = |required| {
        move |given: &String| -> Value {
            let (name, description) = match given.split_once('=') {
                Some((name, description)) => (name, Some(description)),
                None => (given.as_str(), None),
            };
            json!({ "name": name, "description": description, "required": required })
        }
    };
    let required = args.required.iter().map(argument(true));
    let arguments: Vec<_> = required
        .chain(args.optional.iter().map(argument(false)))
        .collect();
    open(&args.options, async |connection| {
        let payload = json!({
            "name": name.as_str(),
            "description": args.description,
            "arguments": arguments,
            "function_id": function.to_string(),
        });
        let answer: Registered = connection.call("prompts::register", &payload).await?;
        connection
            .output
            .data("prompts register", &answer, |_| format!("{name}\n"))
    })
}

#[derive(Deserialize, Serialize)]
struct Removed {
    name: String,
    removed: bool,
}

pub fn unregister(args: &UnregisterArgs) -> Result<(), CliError> {
    let names = args.names.iter().map(|name| Ok(name.parse()?));
    let names: Vec<PromptName> = names.collect::<Result<_, CliError>>()?;
    open(&args.options, async |connection| {
        let mut outcome: Vec<Removed> = Vec::new();
        for name in &names {
            let payload = json!({ "name": name.as_str() });
            outcome.push(connection.call("prompts::unregister", &payload).await?);
        }
        let missing: Vec<_> = outcome.iter().filter(|one| !one.removed).collect();
        if !missing.is_empty() {
            explain(connection, &missing).await?;
        }
        connection
            .output
            .data("prompts unregister", &json!({ "prompts": outcome }), |_| {
                let removed = outcome.iter().filter(|one| one.removed);
                lines(removed.map(|one| one.name.as_str()))
            })
    })
}

async fn explain(connection: &Connection, missing: &[&Removed]) -> Result<(), CliError> {
    let there = prompts(connection).await?;
    for Removed { name, .. } in missing {
        let names = || there.iter().map(|prompt| prompt.name.as_str());
        let note = if names().any(|one| one == name) {
            format!("`{name}` was not registered but comes from a file; remove it there")
        } else {
            match nearest(name, names()) {
                Some(near) => format!("`{name}` was not registered; did you mean `{near}`?"),
                None => format!("`{name}` was not registered"),
            }
        };
        connection.output.note(&note);
    }
    Ok(())
}
