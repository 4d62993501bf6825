//! `skills prompts list`: the prompts with their arguments, where they come from, and who keeps them.

use std::collections::HashMap;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::prompts::{LIST, MCP_LIST};

use crate::cli::CliError;
use crate::cli::connection::{Connection, open};
use crate::cli::humanize::count;
use crate::cli::list::origin_and_marks;
use crate::cli::options::Options;
use crate::cli::table::{fit_last, lay_out};

/// List every prompt with its arguments, its origin and its owner.
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

#[derive(Deserialize)]
struct Menu {
    prompts: Vec<Prompt>,
}

/// A prompt of the list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    prompt: Prompt,
    #[serde(flatten)]
    source: Source,
}

/// Where a prompt comes from, and who keeps it registered.
#[derive(Default, Deserialize, Serialize)]
struct Source {
    #[serde(skip_serializing)]
    name: String,
    #[serde(default)]
    origin: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hides: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// When its lease ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Whether its lease has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
}

#[derive(Serialize)]
struct Listing {
    prompts: Vec<Listed>,
}

impl Listed {
    /// Usage, origin, description.
    fn row(&self) -> [String; 3] {
        let Source {
            origin,
            hides,
            owner,
            stale,
            ..
        } = &self.source;
        let description = self.prompt.description.split_whitespace();
        [
            self.prompt.usage(),
            origin_and_marks(origin, hides, owner.as_deref(), *stale),
            description.collect::<Vec<_>>().join(" "),
        ]
    }
}

pub fn run(args: &ListArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let listing = listing(connection).await?;
        connection.output.data("prompts list", &listing, |output| {
            let mut rows: Vec<_> = listing.prompts.iter().map(Listed::row).collect();
            if let Some(columns) = output.columns() {
                fit_last(&mut rows, columns);
            }
            lay_out(&rows, [false; 3], None)
        })?;
        let total = count(listing.prompts.len(), "prompt");
        connection.output.remark(&total);
        Ok(())
    })
}

async fn listing(connection: &Connection) -> Result<Listing, CliError> {
    #[derive(Deserialize)]
    struct Sources {
        prompts: Vec<Source>,
    }
    let prompts = prompts(connection).await?;
    let sources: Sources = connection.call(&LIST, &json!({})).await?;
    let sources = sources.prompts.into_iter();
    let mut sources: HashMap<_, _> = sources
        .map(|source| (source.name.clone(), source))
        .collect();
    let listed = |prompt: Prompt| {
        // A prompt that was removed in between has no source any more.
        let source = sources.remove(&prompt.name).unwrap_or_default();
        Listed { prompt, source }
    };
    let prompts = prompts.into_iter().map(listed).collect();
    Ok(Listing { prompts })
}

/// Every prompt with its arguments.
pub async fn prompts(connection: &Connection) -> Result<Vec<Prompt>, CliError> {
    let menu: Menu = connection.call(&MCP_LIST, &json!({})).await?;
    Ok(menu.prompts)
}
