//! `skills call`: any function on the engine.

use clap::Args;
use serde_json::Value;
use serde_json::json;
use skills_core::{FunctionId, Kind, nearest};

use super::connection::{Connection, open};
use super::options::Options;
use super::output::line;
use super::{CliError, input};

/// The longest payload that is taken.
const PAYLOAD_MAX: usize = 16 << 20;

/// Call any function, of the registry or of a worker.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CallArgs {
    /// The function's id, such as `skills::list`.
    function: String,

    /// What it is called with, as JSON; `-` is stdin.
    #[arg(value_name = "JSON", default_value = "{}")]
    payload: String,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills call skills::list
  skills call demo::greet '{\"name\": \"Ada\"}'
  skills call skills::register - < skill.json
  skills call engine::functions::list  what there is to call

A text is printed as it is, everything else as JSON.";

pub fn run(args: &CallArgs) -> Result<(), CliError> {
    let function: FunctionId = args.function.parse()?;
    let function = function.to_string();
    let text = match args.payload.as_str() {
        "-" => input::text("-".as_ref(), PAYLOAD_MAX, &args.options.output())?,
        given => given.to_owned(),
    };
    let payload: Value = serde_json::from_str(&text).map_err(|error| {
        CliError::invalid(
            format!("the payload is no JSON: {error}"),
            "quote it for your shell, as in '{\"uri\": \"iii://skills\"}'",
        )
    })?;
    open(&args.options, async |connection| {
        let answer = match connection.call_raw(&function, &payload).await {
            Ok(answer) => answer,
            Err(stop) => return Err(suggest(connection, &function, stop).await),
        };
        let answer: Value = match answer {
            None => Value::Null,
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(|error| CliError::broken(format!("the answer is no JSON: {error}")))?,
        };
        connection
            .output
            .data("call", &answer, |output| match &answer {
                Value::String(text) => output.document(&line(text), false, false),
                other => format!("{other:#}\n"),
            })
    })
}

/// Adds the function that was probably meant, if the engine knows one.
async fn suggest(connection: &Connection, function: &str, mut stop: CliError) -> CliError {
    if stop.kind == Kind::NotFound
        && stop.message.starts_with("function not found")
        && let Ok(listed) = connection
            .call::<Value>(
                "engine::functions::list",
                &json!({ "include_internal": true }),
            )
            .await
        && let Some(functions) = listed["functions"].as_array()
    {
        let ids = functions
            .iter()
            .filter_map(|one| one["function_id"].as_str());
        if let Some(near) = nearest(function, ids) {
            stop.hint = Some(format!("did you mean `{near}`?"));
        }
    }
    stop
}
