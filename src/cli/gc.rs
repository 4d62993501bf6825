//! `skills gc`: removes what named an owner that is gone.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::leases::GC;

use super::CliError;
use super::connection::open;
use super::humanize::{age, count};
use super::options::Options;
use super::table::lay_out;

/// Remove what named an owner that is neither connected nor holds a valid lease.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GcArgs {
    /// List what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills gc --dry-run                  what would be removed, and why
  skills gc --dry-run --json | jq '.data.owners'
  skills gc

An owner is connected if a worker of this name or id is, or the worker that registered the entry.
Needs an engine, which knows the workers. Entries without an owner and a lease always stay.";

#[derive(Deserialize, Serialize)]
struct Garbage {
    dry_run: bool,
    skills: Vec<Entry>,
    prompts: Vec<Entry>,
    owners: Vec<OwnerState>,
    rows: usize,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expired_at: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct OwnerState {
    owner: String,
    connected: bool,
    skills: usize,
    prompts: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

pub fn run(args: &GcArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let payload = json!({ "dry_run": args.dry_run });
        let garbage: Garbage = connection.call(&GC, &payload).await?;
        let output = &connection.output;
        output.data("gc", &garbage, |_| {
            let now = Timestamp::now();
            let skills = garbage
                .skills
                .iter()
                .map(|entry| ("skill", &entry.id, entry));
            let prompts = garbage
                .prompts
                .iter()
                .map(|entry| ("prompt", &entry.name, entry));
            let row = |(kind, name, entry): (&str, &Option<String>, &Entry)| {
                let owner = entry.owner.as_ref();
                let ended = entry.expired_at.as_deref();
                [
                    name.clone().unwrap_or_default(),
                    kind.to_owned(),
                    owner.map_or_else(|| "no owner".to_owned(), |owner| format!("owner {owner}")),
                    ended.map_or_else(
                        || "not connected".to_owned(),
                        |ended| format!("lease ended {}", age(ended, now)),
                    ),
                ]
            };
            let rows: Vec<_> = skills.chain(prompts).map(row).collect();
            lay_out(&rows, [false; 4], None)
        })?;
        let gone = match garbage.skills.len() + garbage.prompts.len() {
            1 => "1 entry".to_owned(),
            number => format!("{number} entries"),
        };
        let kept = garbage.owners.iter();
        let kept = kept.filter(|owner| owner.connected || owner.expires_at.is_some());
        let kept = count(kept.count(), "owner");
        let done = if args.dry_run {
            "would be removed"
        } else {
            "removed"
        };
        output.remark(&format!(
            "{gone} {done}; {kept} connected or with a valid lease"
        ));
        Ok(())
    })
}
