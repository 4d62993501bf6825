//! `skills fetch`: the contents of several addresses as one text.

use clap::Args;
use serde_json::json;
use skills_api::fetch::FETCH;

use super::connection::open;
use super::options::Options;
use super::output::line;
use super::{CliError, completions};

/// Read several addresses into one text, each below a heading with its address.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct FetchArgs {
    /// Addresses or ids, of sections too (`resend/email#errors`). If one cannot be read, the
    /// command fails.
    #[arg(required = true, value_name = "URI", add = completions::skill_ids())]
    uris: Vec<String>,

    /// The longest text, in tokens of 4 bytes; longer documents are cut at headings.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: Option<u32>,

    /// Print what can be read; an address that cannot be is shown with its error.
    #[arg(long)]
    partial: bool,

    /// Print it unchanged on a terminal too.
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills fetch skills resend/email     the index and a skill
  skills fetch a b c > context.md      three skills for a model's context
  skills fetch a --max-tokens 500      the beginning of a, cut at a heading";

pub fn run(args: &FetchArgs) -> Result<(), CliError> {
    let uris = args
        .uris
        .iter()
        .map(|uri| Ok(skills_core::written_uri(uri)?.to_string()));
    let uris: Vec<String> = uris.collect::<Result<_, CliError>>()?;
    let mut input = json!({ "uris": uris });
    if let Some(max_tokens) = args.max_tokens {
        input["max_tokens"] = max_tokens.into();
    }
    if args.partial {
        input["partial"] = true.into();
    }
    open(&args.options, async |connection| {
        let text: String = connection.call(&FETCH, &input).await?;
        let data = json!({ "uris": uris, "text": text });
        connection.output.data("fetch", &data, |output| {
            output.document(&line(&text), true, args.raw)
        })
    })
}
