//! `skills gc`: removes what named an owner that is gone.

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::leases::GC;

use super::CliError;
use super::connection::open;
use super::humanize::{age, count, size};
use super::options::Options;
use super::output::{Output, lines};
use super::table::lay_out;

/// Remove what named an owner that is neither connected nor holds a valid lease.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GcArgs {
    /// List what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,

    /// Give back versions instead: the texts of what is not registered any more, and versions
    /// beyond `history.versions`. Makes the file of the store smaller.
    #[arg(long)]
    history: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills gc --dry-run                  what would be removed, and why
  skills gc --dry-run --json | jq '.data.owners'
  skills gc
  skills gc --history                  no rollback of unregistered skills after that

An owner is connected if a worker of this name or id is, or the worker that registered the entry.
Needs an engine, which knows the workers. Entries without an owner and a lease always stay.";

#[derive(Deserialize, Serialize)]
struct Garbage {
    dry_run: bool,
    skills: Vec<Entry>,
    prompts: Vec<Entry>,
    owners: Vec<OwnerState>,
    rows: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<History>,
}

#[derive(Deserialize, Serialize)]
struct History {
    versions: usize,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    freed: Option<u64>,
    skills: Vec<String>,
    prompts: Vec<String>,
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
    skills: usize,
    prompts: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

pub fn run(args: &GcArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let payload = json!({ "dry_run": args.dry_run, "history": args.history });
        let garbage: Garbage = connection.call(&GC, &payload).await?;
        let output = &connection.output;
        if let Some(history) = &garbage.history {
            return print_history(output, &garbage, history);
        }
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
        for line in garbage.owners.iter().filter_map(OwnerState::kept) {
            output.remark(&line);
        }
        let unknown = garbage.owners.iter().filter(|owner| owner.unknown);
        let unknown = unknown.count();
        if unknown > 0 {
            output.warn(&format!(
                "it is not known whether {} {} connected: another process serves this data directory; \
                 run it when only one does",
                count(unknown, "owner"),
                if unknown == 1 { "is" } else { "are" },
            ));
        }
        output.remark(&garbage.summary());
        Ok(())
    })
}

impl Garbage {
    /// What was removed, or would be.
    fn summary(&self) -> String {
        let mut parts = Vec::new();
        match self.skills.len() + self.prompts.len() {
            0 => {}
            1 => parts.push("1 entry".to_owned()),
            number => parts.push(format!("{number} entries")),
        }
        if self.rows > 0 {
            let rows = count(self.rows, "row");
            parts.push(format!("{rows} of leases without an entry"));
        }
        done(self.dry_run, &parts.join(" and "))
    }
}

impl OwnerState {
    /// Why the entries of this owner stay; none if they do not.
    fn kept(&self) -> Option<String> {
        let reason = match (self.connected, &self.expires_at) {
            (true, _) => "it is connected",
            (false, Some(_)) => "it has a valid lease",
            (false, None) if self.unknown => "it is not known whether it is connected",
            (false, None) => return None,
        };
        let entries = [(self.skills, "skill"), (self.prompts, "prompt")];
        let entries = entries.into_iter().filter(|(number, _)| *number > 0);
        let entries: Vec<_> = entries.map(|(number, what)| count(number, what)).collect();
        Some(format!(
            "owner {} keeps {}: {reason}",
            self.owner,
            entries.join(" and ")
        ))
    }
}

/// `removed 2 entries`.
fn done(dry_run: bool, what: &str) -> String {
    match (dry_run, what) {
        (_, "") => "nothing to remove".to_owned(),
        (true, what) => format!("would remove {what}; nothing was removed"),
        (false, what) => format!("removed {what}"),
    }
}

fn print_history(output: &Output, garbage: &Garbage, history: &History) -> Result<(), CliError> {
    output.data("gc", garbage, |_| {
        let prompts = history.prompts.iter().map(|name| format!("prompt {name}"));
        lines(history.skills.iter().cloned().chain(prompts))
    })?;
    let versions = match history.versions {
        0 => String::new(),
        number => format!("{} ({})", count(number, "version"), size(history.bytes)),
    };
    let freed = match history.freed {
        None | Some(0) => String::new(),
        Some(freed) => format!("; the file of the store is {} smaller", size(freed)),
    };
    output.remark(&format!("{}{freed}", done(garbage.dry_run, &versions)));
    Ok(())
}
