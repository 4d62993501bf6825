//! What completes an argument: ids, names and functions of the registry that the command would use,
//! and the skills of a document.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use agent3md::Agent;
use clap::Parser;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_core::SCHEME;

use super::bash_words::BashWords;
use super::{VARIABLE, requested_words};
use crate::app::{LocalRegistry, Location, locate};
use crate::cli::options::Options;

/// How long the registry may take: a person waits.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The function that lists functions.
const FUNCTIONS: &str = "engine::functions::list";

/// Completes the ids of skills.
pub fn skill_ids() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let current = current.to_string_lossy();
        let (scheme, start) = match current.strip_prefix(SCHEME) {
            Some(start) => (SCHEME, start),
            None => ("", &*current),
        };
        let ids = listed("skills::list", "skills", "id");
        let ids = ids.into_iter().filter(|id| id.starts_with(start));
        ids.map(|id| CompletionCandidate::new(format!("{scheme}{id}")))
            .collect()
    })
}

/// Completes the names of prompts.
pub fn prompt_names() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        starting_with(current, listed("prompts::list", "prompts", "name"))
    })
}

/// Completes the ids of functions.
pub fn functions() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let listed = listed(FUNCTIONS, "functions", "function_id");
        starting_with(current, listed)
    })
}

/// Completes the skills of the document that the command line names.
pub fn document_skills() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let words = words();
        let is_document = |word: &&OsString| {
            let extension = Path::new(word).extension();
            extension.is_some_and(|extension| extension.eq_ignore_ascii_case("3md"))
        };
        let file = words.iter().find(is_document).map(Path::new);
        let text = file.and_then(|file| skills_files::agents::file::read(file).ok());
        let agent = text.and_then(|text| Agent::parse(&text).ok());
        let names = agent.iter().flat_map(Agent::skills);
        starting_with(current, names.map(|skill| skill.name.clone()))
    })
}

fn starting_with(
    current: &OsStr,
    values: impl IntoIterator<Item = String>,
) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let values = values
        .into_iter()
        .filter(|value| value.starts_with(&*current));
    values.map(CompletionCandidate::new).collect()
}

/// The words of the command line that is completed.
fn words() -> Vec<OsString> {
    let words = requested_words();
    match std::env::var(VARIABLE) {
        Ok(shell) if shell == "bash" => BashWords::from_environment(words).words,
        _ => words,
    }
}

/// One field of each entry of a list that a function returns. Nothing if there is no answer.
fn listed(function: &str, list: &str, field: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    let answer = runtime.block_on(async { tokio::time::timeout(TIMEOUT, ask(function)).await });
    runtime.shutdown_background();
    let answer = answer.ok().flatten().unwrap_or_default();
    let entries = answer[list].as_array().into_iter().flatten();
    let values = entries.filter_map(|entry| entry[field].as_str());
    values.map(str::to_owned).collect()
}

/// Calls a function of the registry that the command would use.
async fn ask(function: &str) -> Option<Value> {
    let options = options()?;
    let loaded = options.target.engine.usable_config().ok()?;
    let (target, _) = options.target.target();
    let payload = to_raw_value(&json!({})).ok()?;
    let result: Option<Box<RawValue>> = match locate(target).await.ok()? {
        Location::Engine { client, .. } => client.call(function, payload, TIMEOUT).await.ok()?,
        Location::Directory(dir) => match skills_api::find_function(function) {
            Some(operation) => {
                let registry = LocalRegistry::existing(&dir, &loaded).ok()?;
                (operation.run)(registry, payload).await.ok()
            }
            None => return (function == FUNCTIONS).then(functions_here),
        },
    };
    serde_json::from_str(result.as_deref()?.get()).ok()
}

/// Without an engine, the operations of the registry are all functions.
fn functions_here() -> Value {
    let functions = skills_api::functions().map(|operation| json!({ "function_id": operation.id }));
    json!({ "functions": functions.collect::<Vec<_>>() })
}

/// The options of the command line that say which registry it uses.
fn options() -> Option<Options> {
    #[derive(Parser)]
    struct Given {
        #[command(flatten)]
        options: Options,
    }
    const NAMES: &[&str] = &["--url", "--token", "--config", "--data-dir"];
    let words = words();
    let mut given = vec![OsString::from("skills")];
    for (at, word) in words.iter().enumerate() {
        let text = word.to_string_lossy();
        let is_pair = |name: &&str| {
            let rest = text.strip_prefix(*name);
            rest.is_some_and(|rest| rest.starts_with('='))
        };
        if NAMES.iter().any(is_pair) {
            given.push(word.clone());
        } else if NAMES.contains(&&*text) {
            given.extend([word.clone(), words.get(at + 1)?.clone()]);
        }
        if text == "--discover" {
            given.push(word.clone());
        }
    }
    Given::try_parse_from(given).ok().map(|given| given.options)
}
