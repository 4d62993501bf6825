//! `skills search` and `skills route`: finding skills by words, and the skill for a request.

use std::fmt::Write as _;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::search::{ROUTE, SEARCH};
use skills_core::escape_control;

use super::CliError;
use super::connection::{Connection, open};
use super::humanize::count;
use super::list::ORIGINS;
use super::options::Options;

/// Search skills and prompts by words and by meaning, best first.
#[derive(Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub struct SearchArgs {
    /// What to search for.
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,

    /// How many matches to print, at most 100.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Only ids that begin with this, such as `resend/`.
    #[arg(long)]
    prefix: Option<String>,

    /// Only registered ones (`state`), markdown files (`fs`) or 3md documents (`3md`).
    #[arg(long, value_name = "ORIGIN", value_parser = ORIGINS)]
    origin: Option<String>,

    /// The next page: the cursor that the page before printed.
    #[arg(long)]
    cursor: Option<String>,

    #[command(flatten)]
    options: Options,
}

const SEARCH_EXAMPLES: &str = "Examples:
  skills search send mail                  the skills and prompts about it
  skills search mail --prefix resend/      those below resend
  skills search mail --json | jq -r '.data.matches[].id'";

/// Find the skill for a request, with the words that decided it.
#[derive(Args)]
#[command(after_help = ROUTE_EXAMPLES)]
pub struct RouteArgs {
    /// The request, in the user's words.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,

    /// How many skills to print, at most 100.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    options: Options,
}

const ROUTE_EXAMPLES: &str = "Examples:
  skills route how do I write a commit message
  skills route --json \"e-mail the customer\" | jq -r '.data.matches[0].uri'";

/// A match of either.
#[derive(Deserialize, Serialize)]
pub struct Found {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub score: f64,
    pub why: Vec<Reason>,
    pub matched: Vec<String>,
}

/// A word that counted.
#[derive(Deserialize, Serialize)]
pub struct Reason {
    pub word: String,
    pub fields: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct SearchAnswer {
    matches: Vec<Found>,
    total: usize,
    abstained: bool,
    close: Vec<Found>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// The skills for a request.
#[derive(Deserialize, Serialize)]
pub struct RouteAnswer {
    pub matches: Vec<Found>,
    pub abstained: bool,
    pub close: Vec<Found>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

pub fn search(args: &SearchArgs) -> Result<(), CliError> {
    let input = json!({
        "text": args.words.join(" "),
        "limit": args.limit,
        "prefix": args.prefix,
        "origin": args.origin,
        "cursor": args.cursor,
    });
    open(&args.options, async |connection| {
        let answer: SearchAnswer = connection.call(&SEARCH, &input).await?;
        connection
            .output
            .data("search", &answer, |_| text(&answer.matches))?;
        let remark = match (&answer.cursor, answer.total) {
            (_, 0) => in_commands(answer.advice.as_deref().unwrap_or("nothing matches")),
            (Some(cursor), total) => {
                let shown = answer.matches.len();
                format!(
                    "{shown} of {}; the next: --cursor {cursor}",
                    count(total, "result")
                )
            }
            (None, total) => count(total, "result"),
        };
        connection.output.remark(&remark);
        Ok(())
    })
}

pub fn route(args: &RouteArgs) -> Result<(), CliError> {
    let request = args.text.join(" ");
    open(&args.options, async |connection| {
        let input = json!({ "text": request, "limit": args.limit });
        let answer: RouteAnswer = connection.call(&ROUTE, &input).await?;
        connection.output.data("route", &answer, |_| {
            let mut out = text(&answer.matches);
            if !answer.close.is_empty() {
                let _ = write!(out, "less likely:\n{}", text(&answer.close));
            }
            out
        })?;
        if answer.abstained {
            let advice = answer.advice.as_deref();
            let advice = advice.unwrap_or("no skill clearly serves this request");
            connection.output.remark(&in_commands(advice));
        }
        Ok(())
    })
}

/// The advice of the registry, which names tools, for a person who has commands.
fn in_commands(advice: &str) -> String {
    let mut advice = advice.replace("one of `close`", "one of these");
    for option in ["prefix", "origin"] {
        advice = advice.replace(&format!("`{option}`"), &format!("`--{option}`"));
    }
    let Some((before, folder)) = advice.split_once("skill__list {\"prefix\": \"") else {
        return advice.replace("skill__list", "`skills list`");
    };
    let folder = folder.trim_end_matches("\"}").trim_end_matches('/');
    format!("{before}`skills list {folder}`")
}

/// Routes one request of a test, which is not counted as a use.
pub async fn ask_uncounted(
    connection: &Connection,
    request: &str,
    limit: usize,
) -> Result<RouteAnswer, CliError> {
    let input = json!({ "text": request, "limit": limit, "uncounted": true });
    connection.call(&ROUTE, &input).await
}

/// Score, id and title of each match on a line, its reasons on the next.
fn text(found: &[Found]) -> String {
    let mut out = String::new();
    for found in found {
        let title = escape_control(&found.title);
        let kind = if found.uri.is_some() { "" } else { " (prompt)" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:.2}  {}{kind}  {title}", found.score, found.id);
        let reasons = reasons(found);
        if !reasons.is_empty() {
            let _ = writeln!(out, "      {}", escape_control(&reasons));
        }
    }
    out
}

fn reasons(found: &Found) -> String {
    let triggers = found
        .matched
        .iter()
        .map(|trigger| format!("trigger \"{trigger}\""));
    let words = found.why.iter();
    let words = words.map(|reason| format!("{} ({})", reason.word, reason.fields.join(", ")));
    triggers.chain(words).collect::<Vec<_>>().join("; ")
}
