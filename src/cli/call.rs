//! `skills call`: calls any function on the engine.

use clap::Args;
use serde_json::{Value, json};
use skills_core::{FunctionId, Kind, check_call, nearest};

use super::connection::{Access, Connection, open};
use super::options::Options;
use super::output::line;
use super::{CliError, completions, input, key_value};

/// The largest payload, in bytes.
const PAYLOAD_MAX: usize = 16 << 20;

/// Call any function of the registry or of a worker.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CallArgs {
    /// The function's id, such as `skills::list`.
    #[arg(add = completions::functions())]
    function: String,

    /// The payload: JSON, `-` for JSON on stdin, or fields as `key=value`. A value that is JSON,
    /// such as `3`, `true` or `["a"]`, is used as such, anything else is text.
    #[arg(value_name = "JSON|KEY=VALUE")]
    payload: Vec<String>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills call skills::list
  skills call demo::greet name=Ada
  skills call demo::greet '{\"name\": \"Ada\"}'
  skills call demo::add a=1 b=2        numbers, as in {\"a\": 1, \"b\": 2}
  skills call demo::find id='\"7\"'      the text 7
  skills call skills::register - < skill.json
  skills call engine::functions::list  list the functions

A text is printed unchanged, everything else as JSON.";

pub fn run(args: &CallArgs) -> Result<(), CliError> {
    let function: FunctionId = args.function.parse()?;
    let payload = match args.payload.as_slice() {
        [] => json!({}),
        [dash] if dash == "-" => from_json(&input::text(
            "-".as_ref(),
            PAYLOAD_MAX,
            &args.options.output(),
        )?)?,
        [json] if key_value::split(json).is_none() => from_json(json)?,
        fields => from_fields(fields)?,
    };
    open(&args.options, async |connection| {
        check(connection, &function, &payload).await?;
        let function = function.as_str();
        let result: Value = match connection.call_function(function, &payload).await {
            Ok(result) => result,
            Err(error) => return Err(suggest(connection, function, error).await),
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

fn from_json(text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::invalid(
            format!("the payload is not valid JSON: {error}"),
            "write fields as key=value, or quote JSON for your shell, as in '{\"uri\": \"iii://skills\"}'",
        )
    })
}

fn from_fields(fields: &[String]) -> Result<Value, CliError> {
    let hint = "write fields as key=value, or the whole payload as one JSON text";
    let fields = key_value::parse(fields, "a field", hint)?.into_iter();
    let json = |value: &str| serde_json::from_str(value).unwrap_or_else(|_| value.into());
    let fields = fields.map(|(key, value)| (key.to_owned(), json(value)));
    Ok(Value::Object(fields.collect()))
}

/// Checks the payload against the schema that the function declares. The operations of the
/// registry check their input themselves.
async fn check(
    connection: &Connection,
    function: &FunctionId,
    payload: &Value,
) -> Result<(), CliError> {
    let is_operation = skills_api::find_function(function.as_str()).is_some();
    if is_operation || matches!(connection.access, Access::Local(_)) {
        return Ok(());
    }
    let ids = json!({ "function_ids": [function.as_str()] });
    let described = connection.call_function::<Value>("engine::functions::info", &ids);
    // Without a description the call itself shows what is wrong.
    let described = described.await.unwrap_or_default();
    let schema = &described["functions"][0]["request_schema"];
    Ok(check_call(function, schema, payload)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_text_unless_they_are_json() {
        let check = |given: &[&str], expected: &str| {
            let given: Vec<_> = given.iter().map(ToString::to_string).collect();
            let got = from_fields(&given);
            let got = got.map_or_else(|error| error.message, |payload| payload.to_string());
            assert_eq!(got, expected, "for {given:?}");
        };
        check(&["name=Ada", "n=3"], r#"{"n":3,"name":"Ada"}"#);
        check(
            &["a=true", "b=[1]", "c=\"7\""],
            r#"{"a":true,"b":[1],"c":"7"}"#,
        );
        check(
            &["zip=01", "empty=", "x=a=b"],
            r#"{"empty":"","x":"a=b","zip":"01"}"#,
        );
        check(&["a=1", "a=2"], "`a` is given twice");
        check(&["a=1", "b"], "`b` is not a field");
        check(&["a=1", "{}"], "`{}` is not a field");
    }
}
