//! `skills call`: calls any function on the engine.

use clap::Args;
use serde_json::Value;
use serde_json::json;
use skills_core::{FunctionId, Kind, nearest};

use super::connection::{Connection, open};
use super::options::Options;
use super::output::line;
use super::{CliError, input};

/// The largest payload, in bytes.
const PAYLOAD_MAX: usize = 16 << 20;

/// Call any function of the registry or of a worker.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CallArgs {
    /// The function's id, such as `skills::list`.
    function: String,

    /// The payload as JSON; `-` is stdin.
    #[arg(value_name = "JSON", default_value = "{}")]
    payload: String,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills call skills::list
  skills call demo::greet '{\"name\": \"Ada\"}'
  skills call skills::register - < skill.json
  skills call engine::functions::list  list the functions

A text is printed unchanged, everything else as JSON.";

pub fn run(args: &CallArgs) -> Result<(), CliError> {
    let function: FunctionId = args.function.parse()?;
    let function = function.to_string();
    let text = match args.payload.as_str() {
        "-" => input::text("-".as_ref(), PAYLOAD_MAX, &args.options.output())?,
        given => given.to_owned(),
    };
    let payload: Value = serde_json::from_str(&text).map_err(|error| {
        CliError::invalid(
            format!("the payload is not valid JSON: {error}"),
            "quote it for your shell, as in '{\"uri\": \"iii://skills\"}'",
        )
    })?;
    open(&args.options, async |connection| {
        let result: Value = match connection.call_function(&function, &payload).await {
            Ok(result) => result,
            Err(error) => return Err(suggest(connection, &function, error).await),
        };
        connection.output.data("call", &result, |output| {
            let text = match &result {
                Value::String(text) => line(text),
                other => format!("{other:#}\n"),
            };
            output.document(&text, false, false)
        })
    })
}

/// Adds a hint with the most similar function of the engine.
async fn suggest(connection: &Connection, function: &str, error: CliError) -> CliError {
    if error.kind != Kind::NotFound || !error.message.starts_with("function not found") {
        return error;
    }
    let payload = json!({ "include_internal": true });
    let listed = connection.call_function::<Value>("engine::functions::list", &payload);
    let listed = listed.await.unwrap_or_default();
    let functions = listed["functions"].as_array().into_iter().flatten();
    let ids = functions.filter_map(|function| function["function_id"].as_str());
    match nearest(function, ids) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error,
    }
}
