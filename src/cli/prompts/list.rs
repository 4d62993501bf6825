//! `skills prompts list`: what there is to pick from.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::CliError;
use crate::cli::connection::{Connection, open};
use crate::cli::humanize::count;
use crate::cli::options::Options;
use crate::cli::table::lay_out;

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

/// A prompt as somebody picking it sees it.
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
    /// How it is called: `greet <name> [tone]`.
    fn usage(&self) -> String {
        let argument = |argument: &Argument| {
            let name = &argument.name;
            if argument.required {
                format!(" <{name}>")
            } else {
                format!(" [{name}]")
            }
        };
        let arguments: Vec<_> = self.arguments.iter().map(argument).collect();
        format!("{}{}", self.name, arguments.concat())
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
            let rows: Vec<_> = menu.prompts.iter().map(row).collect();
            // Descriptions may be long: they are cut, not left out.
            let rows = match output.columns() {
                Some(columns) => fit(rows, columns),
                None => rows,
            };
            lay_out(&rows, [false, false], None)
        })?;
        connection
            .output
            .remark(&count(menu.prompts.len(), "prompt"));
        Ok(())
    })
}

/// Every prompt with its arguments.
pub async fn prompts(connection: &Connection) -> Result<Vec<Prompt>, CliError> {
    let menu: Menu = connection.call("prompts::mcp-list", &json!({})).await?;
    Ok(menu.prompts)
}

/// Cuts the second column where a line would be too long.
fn fit(rows: Vec<[String; 2]>, columns: usize) -> Vec<[String; 2]> {
    let usage = rows.iter().map(|[usage, _]| usage.chars().count()).max();
    let room = columns.saturating_sub(usage.unwrap_or(0) + 2);
    let cut = |[usage, description]: [String; 2]| {
        let long = description.chars().count() > room;
        let description = match (long, room) {
            (false, _) => description,
            (true, 0..4) => String::new(),
            (true, room) => description
                .chars()
                .take(room - 3)
                .chain("...".chars())
                .collect(),
        };
        [usage, description]
    };
    rows.into_iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_to_the_terminal() {
        let rows = || vec![["greet <name>".to_owned(), "Compose a greeting.".to_owned()]];
        let check = |columns, expected: &str| {
            let [[_, description]] = &fit(rows(), columns)[..] else {
                panic!("one row")
            };
            assert_eq!(description, expected, "for {columns}");
        };
        check(33, "Compose a greeting.");
        check(32, "Compose a greet...");
        check(18, "C...");
        check(17, "");
        check(3, "");
    }
}
