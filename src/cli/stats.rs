//! `skills stats`: how often skills are used.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::stats::STATS;

use super::CliError;
use super::connection::open;
use super::humanize::count;
use super::options::Options;
use super::table::lay_out;

/// Show how often each skill was offered, routed to and fetched, the most used first.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    /// Only skills that no route led to and that nothing read.
    #[arg(long)]
    unused: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills stats                             every skill with its counts
  skills stats --unused                    the skills that nothing uses
  skills stats --json | jq '.data.skills[0]'

Counts have no text of a request. `usage: false` in config.yaml turns them off.";

#[derive(Deserialize, Serialize)]
struct Answer {
    counted: bool,
    skills: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    id: String,
    offered: u64,
    routed: u64,
    fetched: u64,
}

pub fn run(args: &StatsArgs) -> Result<(), CliError> {
    let input = json!({ "unused": args.unused });
    open(&args.options, async |connection| {
        let answer: Answer = connection.call(&STATS, &input).await?;
        connection.output.data("stats", &answer, |output| {
            text(&answer.skills, output.columns())
        })?;
        let skills = count(answer.skills.len(), "skill");
        let unused = if args.unused { " unused" } else { "" };
        let off = if answer.counted {
            ""
        } else {
            "; uses are not counted (`usage: false`)"
        };
        connection.output.remark(&format!("{skills}{unused}{off}"));
        Ok(())
    })
}

fn text(skills: &[Entry], width: Option<usize>) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let head = ["id", "offered", "routed", "fetched"].map(str::to_owned);
    let rows = skills.iter().map(|entry| {
        let [offered, routed, fetched] =
            [entry.offered, entry.routed, entry.fetched].map(|count| count.to_string());
        [entry.id.clone(), offered, routed, fetched]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    lay_out(&rows, [false, true, true, true], width)
}
