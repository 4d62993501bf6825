//! `skills prompts register`: stores a prompt whose text a function renders.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::prompts::REGISTER;
use skills_core::{FunctionId, PromptName};

use crate::cli::CliError;
use crate::cli::connection::open;
use crate::cli::lease::LeaseArgs;
use crate::cli::options::Options;

/// Register a prompt whose text a function renders.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RegisterArgs {
    /// The name: lowercase letters, digits, `-` and `_`.
    name: String,

    /// The function that is called with the arguments and returns the text.
    #[arg(long, value_name = "FUNCTION")]
    function: String,

    /// The description that clients show in the list of prompts.
    #[arg(long, value_name = "TEXT")]
    description: String,

    /// A required argument; may be repeated.
    #[arg(long, value_name = "NAME[=TEXT]")]
    required: Vec<String>,

    /// An optional argument; may be repeated.
    #[arg(long, value_name = "NAME[=TEXT]")]
    optional: Vec<String>,

    #[command(flatten)]
    lease: LeaseArgs,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills prompts register greet --function demo::greet --description 'Compose a greeting.' \\
      --required 'name=Who to greet' --optional tone";

#[derive(Deserialize, Serialize)]
struct Registered {
    name: String,
    registered_at: String,
}

pub fn run(args: &RegisterArgs) -> Result<(), CliError> {
    let name: PromptName = args.name.parse()?;
    let function: FunctionId = args.function.parse()?;
    let required = args.required.iter().map(|given| argument(given, true));
    let optional = args.optional.iter().map(|given| argument(given, false));
    let arguments: Vec<_> = required.chain(optional).collect();
    let mut payload = json!({
        "name": name.as_str(),
        "description": args.description,
        "arguments": arguments,
        "function_id": function.to_string(),
    });
    args.lease.add_to(&mut payload)?;
    open(&args.options, async |connection| {
        let registered: Registered = connection.call(&REGISTER, &payload).await?;
        let output = &connection.output;
        output.data("prompts register", &registered, |_| format!("{name}\n"))
    })
}

/// `NAME` or `NAME=TEXT`, as an argument of the function.
fn argument(given: &str, required: bool) -> Value {
    let (name, description) = match given.split_once('=') {
        Some((name, description)) => (name, Some(description)),
        None => (given, None),
    };
    json!({ "name": name, "description": description, "required": required })
}
