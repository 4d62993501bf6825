//! `skills list`: what is there.

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::CliError;
use super::connection::{Connection, open};
use super::humanize::{age, count, size};
use super::options::Options;
use super::table::lay_out;

/// List every skill, as a tree.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// One line per skill with its whole id, instead of a tree.
    #[arg(long)]
    flat: bool,

    /// Only skills from here: registered ones, files, or 3md documents.
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<Origin>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills list                          a tree with sizes and ages
  skills list --flat --origin fs       whole ids of the skills that are files
  skills list --json | jq -r '.data.skills[].id'";

/// Where a skill comes from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Origin {
    /// Registered, kept in state.
    State,
    /// A markdown file.
    Fs,
    /// A 3md document.
    #[value(name = "3md")]
    Agent3md,
}

impl Origin {
    /// The name in lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Fs => "fs",
            Self::Agent3md => "3md",
        }
    }
}

/// One skill of a list.
#[derive(Deserialize, Serialize)]
pub struct Entry {
    pub id: String,
    pub bytes: u64,
    #[serde(default)]
    pub registered_at: String,
    /// Workers before 0.2.4 had no other.
    #[serde(default = "state")]
    pub origin: String,
}

fn state() -> String {
    Origin::State.name().into()
}

#[derive(Deserialize, Serialize)]
struct Listing {
    skills: Vec<Entry>,
}

pub fn run(args: &ListArgs) -> Result<(), CliError> {
    open(&args.options, async |connection| {
        let skills = entries(connection, args.origin).await?;
        let listing = Listing { skills };
        connection.output.data("list", &listing, |output| {
            let skills = &listing.skills;
            let rows = if args.flat {
                flat(skills)
            } else {
                tree(skills)
            };
            lay_out(&rows, [false, true, true, false], output.columns())
        })?;
        let bytes = listing.skills.iter().map(|skill| skill.bytes).sum();
        let total = count(listing.skills.len(), "skill");
        connection
            .output
            .remark(&format!("{total}, {}", size(bytes)));
        Ok(())
    })
}

/// Every skill, or those from one place.
pub async fn entries(
    connection: &Connection,
    origin: Option<Origin>,
) -> Result<Vec<Entry>, CliError> {
    let listing: Listing = connection.call("skills::list", &json!({})).await?;
    let mut skills = listing.skills;
    if let Some(origin) = origin {
        skills.retain(|skill| skill.origin == origin.name());
    }
    Ok(skills)
}

type Row = [String; 4];

fn row(name: String, skill: &Entry, now: Timestamp) -> Row {
    let age = format!("{:>6}", age(&skill.registered_at, now));
    [name, size(skill.bytes), age, skill.origin.clone()]
}

fn flat(skills: &[Entry]) -> Vec<Row> {
    let now = Timestamp::now();
    skills
        .iter()
        .map(|skill| row(skill.id.clone(), skill, now))
        .collect()
}

/// Children below their parent; a parent that is no skill itself gets a line with a
/// slash and nothing else.
fn tree(skills: &[Entry]) -> Vec<Row> {
    let now = Timestamp::now();
    let mut sorted: Vec<_> = skills.iter().collect();
    // A slash sorts before everything else, so that children follow their parent.
    let key = |id: &str| {
        id.bytes()
            .map(|b| if b == b'/' { 0 } else { b })
            .collect::<Vec<_>>()
    };
    sorted.sort_by_cached_key(|skill| key(&skill.id));
    let mut rows = Vec::with_capacity(sorted.len());
    let mut above: Vec<&str> = Vec::new();
    for skill in sorted {
        let path: Vec<_> = skill.id.split('/').collect();
        let (name, parents) = path.split_last().unwrap_or((&"", &[]));
        let shared = above.iter().zip(&path).take_while(|(a, b)| a == b).count();
        for (depth, parent) in parents.iter().enumerate().skip(shared) {
            let name = format!("{}{parent}/", "  ".repeat(depth));
            rows.push([name, String::new(), String::new(), String::new()]);
        }
        rows.push(row(
            format!("{}{name}", "  ".repeat(parents.len())),
            skill,
            now,
        ));
        above = path;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_every_parent_once() {
        let ids = ["a-c", "a", "a/b", "x/y/z", "x/y/w", "x/q"];
        let skills = ids.map(|id| Entry {
            id: id.into(),
            bytes: 1,
            registered_at: String::new(),
            origin: "state".into(),
        });
        let names: Vec<_> = tree(&skills).into_iter().map(|[name, ..]| name).collect();
        assert_eq!(
            names,
            ["a", "  b", "a-c", "x/", "  q", "  y/", "    w", "    z"]
        );
    }
}
