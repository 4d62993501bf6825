//! `skills read` and `skills index`: the content of an address.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skills_api::skills::{INDEX, RESOURCES_READ};
use skills_core::{IndexPart, SkillId};

use super::connection::{Connection, open};
use super::humanize::size;
use super::options::Options;
use super::output::Text;
use super::{CliError, completions};

/// Read a skill, a file of a skill, the index, or the output of a function.
#[derive(Args)]
#[command(after_help = READ_EXAMPLES)]
pub struct ReadArgs {
    /// An address, an id or a file of a skill: `iii://resend/email`, `resend/email`,
    /// `resend/email.md`, `pdf/scripts/run.py`.
    #[arg(add = completions::skill_ids())]
    uri: String,

    /// Print it unchanged on a terminal too.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: Options,
}

const READ_EXAMPLES: &str = "Examples:
  skills read resend/email             a skill, rendered on a terminal, raw in a pipe
  skills read resend/email?toc         its headings
  skills read 'resend/email#errors'    one section
  skills read resend/email@3           version 3 of it
  skills read pdf/scripts/run.py       a file of the skill folder pdf
  skills read iii://fn/demo/guide      the output of the function demo::guide
  skills read resend/email > email.md  a copy";

/// Read the index: every skill with its title and description.
#[derive(Args)]
#[command(after_help = INDEX_EXAMPLES)]
pub struct IndexArgs {
    /// Only this skill and those below it, as in `resend` or `iii://resend/`.
    #[arg(add = completions::skill_ids())]
    prefix: Option<String>,

    /// The longest text, in tokens of 4 bytes; subtrees beyond it are folded.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,

    /// Print it unchanged on a terminal too.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: Options,
}

const INDEX_EXAMPLES: &str = "Examples:
  skills index                         the page that agents read first
  skills index resend                  the skill resend and those below it
  skills index --budget 500            at most 500 tokens, the rest folded
  skills index --raw | head            as markdown";

/// The content of an address.
#[derive(Deserialize, Serialize)]
pub struct Content {
    pub uri: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    #[serde(flatten)]
    pub data: Data,
}

/// Text, or bytes in base64.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    Text(String),
    Blob(String),
}

impl Content {
    /// The text; an error with size and type if it is not text.
    pub fn text(self) -> Result<String, CliError> {
        match self.data {
            Data::Text(text) => Ok(text),
            Data::Blob(_) => Err(self.not_text("write it to a file")),
        }
    }

    /// The bytes, text or not.
    pub fn bytes(&self) -> Result<Vec<u8>, CliError> {
        match &self.data {
            Data::Text(text) => Ok(text.clone().into_bytes()),
            Data::Blob(blob) => BASE64_STANDARD.decode(blob).map_err(|error| {
                CliError::broken(format!("{}: it is not base64: {error}", self.uri))
            }),
        }
    }

    fn not_text(&self, hint: impl Into<String>) -> CliError {
        let bytes = self.bytes().map_or(0, |bytes| bytes.len());
        let (size, kind) = (size(bytes as u64), &self.mime_type);
        let message = format!("{} is not text: {size} of {kind}", self.uri);
        CliError::invalid(message, hint)
    }
}

pub fn run(args: &ReadArgs) -> Result<(), CliError> {
    let uri = skills_core::written_uri(&args.uri)?.to_string();
    print_content("read", &uri, args.raw, &args.options)
}

pub fn index(args: &IndexArgs) -> Result<(), CliError> {
    let prefix = args.prefix.as_deref().unwrap_or_default();
    let prefix = prefix.trim().trim_end_matches('/');
    let below = match prefix {
        "" | "skills" | "iii://skills" => None,
        prefix => Some(skills_core::written_id(prefix)?),
    };
    let part = IndexPart {
        below,
        ..IndexPart::default()
    };
    open(&args.options, async |connection| {
        let prefix = part.below.as_ref().map(SkillId::as_str);
        let input = json!({ "prefix": prefix, "budget_tokens": args.budget });
        let mut index: IndexText = connection.call(&INDEX, &input).await?;
        if args.budget.is_none() {
            // It is what the address has.
            index.uri = Some(part.to_string());
            index.mime_type = Some("text/markdown");
        }
        connection.output.data("index", &index, |output| {
            output.document(&index.text, true, args.raw)
        })
    })
}

/// The index within a budget.
#[derive(Deserialize, Serialize)]
struct IndexText {
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(
        rename = "mimeType",
        skip_deserializing,
        skip_serializing_if = "Option::is_none"
    )]
    mime_type: Option<&'static str>,
    text: String,
    included: usize,
    folded: usize,
    omitted: usize,
}

fn print_content(command: &str, uri: &str, raw: bool, options: &Options) -> Result<(), CliError> {
    open(options, async |connection| {
        let content = read(connection, &json!({ "uri": uri })).await?;
        let output = &connection.output;
        let text = match &content.data {
            Data::Text(text) => {
                let is_markdown = content.mime_type == "text/markdown";
                output.document(text, is_markdown, raw)
            }
            Data::Blob(_) if output.shows_on_terminal() && !raw => {
                let hint = "write it to a file, as in `skills read ADDRESS > FILE`";
                return Err(content.not_text(hint));
            }
            Data::Blob(_) => Text::Bytes(content.bytes()?),
        };
        output.data(command, &content, |_| text)
    })
}

/// Reads a skill as it was registered or as its file has it, with front matter.
pub async fn original(connection: &Connection, id: &str) -> Result<Content, CliError> {
    let uri = format!("iii://{id}");
    let payload = json!({ "uri": uri, "uncounted": true, "original": true });
    read(connection, &payload).await
}

/// Reads one address for a check or a copy, which is not counted as a use.
pub async fn content(connection: &Connection, uri: &str) -> Result<Content, CliError> {
    read(connection, &json!({ "uri": uri, "uncounted": true })).await
}

async fn read(connection: &Connection, payload: &Value) -> Result<Content, CliError> {
    #[derive(Deserialize)]
    struct Contents {
        contents: [Content; 1],
    }
    let read: Contents = connection.call(&RESOURCES_READ, payload).await?;
    let [content] = read.contents;
    Ok(content)
}
