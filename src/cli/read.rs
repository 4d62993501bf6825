//! `skills read` and `skills index`: the content of an address.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::skills::RESOURCES_READ;

use super::CliError;
use super::address;
use super::connection::{Connection, open};
use super::options::Options;

/// Read a skill, the index, or the output of a function.
#[derive(Args)]
#[command(after_help = READ_EXAMPLES)]
pub struct ReadArgs {
    /// An address or an id: `iii://resend/email`, `resend/email`, `resend/email.md`.
    uri: String,

    /// Print it unchanged on a terminal too.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: Options,
}

const READ_EXAMPLES: &str = "Examples:
  skills read resend/email             a skill, rendered on a terminal, raw in a pipe
  skills read iii://fn/demo/guide      the output of the function demo::guide
  skills read resend/email > email.md  a copy";

/// Read the index: every skill with its title and description.
#[derive(Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub struct IndexArgs {
    /// Print it unchanged on a terminal too.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: Options,
}

const INDEX_EXAMPLES: &str = "Examples:
  skills index                         the page that agents read first
  skills index --raw | head            as markdown";

/// The content of an address.
#[derive(Deserialize, Serialize)]
pub struct Content {
    pub uri: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    pub text: String,
}

pub fn run(args: &ReadArgs) -> Result<(), CliError> {
    let uri = address::uri(&args.uri)?.to_string();
    print_content("read", &uri, args.raw, &args.options)
}

pub fn index(args: &IndexArgs) -> Result<(), CliError> {
    print_content("index", "iii://skills", args.raw, &args.options)
}

fn print_content(command: &str, uri: &str, raw: bool, options: &Options) -> Result<(), CliError> {
    open(options, async |connection| {
        let content = content(connection, uri).await?;
        connection.output.data(command, &content, |output| {
            let is_markdown = content.mime_type == "text/markdown";
            output.document(&content.text, is_markdown, raw)
        })
    })
}

/// Reads one address.
pub async fn content(connection: &Connection, uri: &str) -> Result<Content, CliError> {
    #[derive(Deserialize)]
    struct Contents {
        contents: [Content; 1],
    }
    let payload = json!({ "uri": uri });
    let read: Contents = connection.call(&RESOURCES_READ, &payload).await?;
    let [content] = read.contents;
    Ok(content)
}
