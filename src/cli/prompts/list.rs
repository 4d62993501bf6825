//! `skills prompts list`: the prompts with their arguments.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::prompts::MCP_LIST;

use crate::cli::CliError;
use crate::cli::connection::{Connection, open};
use crate::cli::humanize::count;
use crate::cli::options::Options;
use crate::cli::table::{fit_last, lay_out};

/// List every prompt with its arguments.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills prompts list
  skills prompts list --json | jq -r '.data.prompts[].name'

Arguments in <angle brackets> are required, those in [brackets] are not.";

/// A prompt as clients list it.
#[derive(Deserialize, Serialize)]
pub struct Prompt {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub arguments: Vec<Argument>,
}

#[derive(Deserialize, Serialize)]
pub struct Argument {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub required: bool,
}

impl Prompt {
    /// Name and arguments: `greet <name> [tone]`.
    fn usage(&self) -> String {
        let argument = |Argument { name, required, .. }: &Argument| match required {
            true => format!(" <{name}>"),
            false => format!(" [{name}]"),
        };
        let arguments: String = self.arguments.iter().map(argument).collect();
        format!("{}{arguments}", self.name)
    }
}

#[derive(Deserialize, Serialize)]
struct Menu {
    prompts: Vec<Prompt>,
}

pub fn run(args: &ListArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let prompts = prompts(connection).await?;
        let menu = Menu { prompts };
        connection.output.data("prompts list", &menu, |output| {
            let row = |prompt: &Prompt| {
                let description = prompt.description.split_whitespace();
                [prompt.usage(), description.collect::<Vec<_>>().join(" ")]
            };
            let mut rows: Vec<_> = menu.prompts.iter().map(row).collect();
            if let Some(columns) = output.columns() {
                fit_last(&mut rows, columns);
            }
            lay_out(&rows, [false, false], None)
        })?;
        let total = count(menu.prompts.len(), "prompt");
        connection.output.remark(&total);
        Ok(())
    })
}

/// Every prompt with its arguments.
pub async fn prompts(connection: &Connection) -> Result<Vec<Prompt>, CliError> {
    let menu: Menu = connection.call(&MCP_LIST, &json!({})).await?;
    Ok(menu.prompts)
}
