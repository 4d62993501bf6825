//! `skills list`: the skills as a tree or a flat list.

use std::collections::HashMap;

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::skills::{LIST, RESOURCES_LIST};
use skills_core::{Error, ResourceUri, SCHEME, written_id};

use super::connection::{Connection, open};
use super::humanize::{age, count, size};
use super::options::Options;
use super::table::{fit_last, lay_out};
use super::{CliError, completions};

/// List every skill with its title, as a tree.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Only this skill and those below it, as in `resend`.
    #[arg(add = completions::skill_ids())]
    prefix: Option<String>,

    /// Print one line per skill with its full id, instead of a tree.
    #[arg(long)]
    flat: bool,

    /// Only registered skills (`state`), markdown files (`fs`) or 3md documents (`3md`).
    #[arg(long, value_name = "ORIGIN", value_parser = ORIGINS)]
    origin: Option<String>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills list                          a tree with sizes, files, ages and titles
  skills list resend                   the skill resend and those below it
  skills list --flat --origin fs       the full ids of skills that are files
  skills list --json | jq -r '.data.skills[].id'";

/// Values of `--origin`.
pub const ORIGINS: [&str; 3] = ["state", "fs", "3md"];

/// One skill of a list.
#[derive(Deserialize, Serialize)]
pub struct Entry {
    pub id: String,
    #[serde(default)]
    pub uri: String,
    /// Empty if it has none.
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub description: String,
    pub bytes: u64,
    #[serde(default)]
    pub registered_at: String,
    /// Workers before 0.2.4 have registered skills only and send no origin.
    #[serde(default = "state")]
    pub origin: String,
    /// The number of files of a skill folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The origins of documents with the same id, which it hides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hides: Vec<String>,
    /// Who keeps it registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// When its lease ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether its lease has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// `state`, or `state, hides fs, owner mailer, stale`.
pub fn origin_and_marks(
    origin: &str,
    hides: &[String],
    owner: Option<&str>,
    stale: bool,
) -> String {
    let mut text = origin.to_owned();
    if !hides.is_empty() {
        text.extend([", hides ", &hides.join(" and ")]);
    }
    if let Some(owner) = owner {
        text.extend([", owner ", owner]);
    }
    if stale {
        text.push_str(", stale");
    }
    text
}

fn state() -> String {
    ORIGINS[0].into()
}

/// What the listed ids are, or are below; none for the address of the index, which has all.
/// `skills` is not an id, and yet skills may be below it.
fn prefix(written: &str) -> Result<Option<String>, Error> {
    let written = written.trim();
    if written == ResourceUri::Index.to_string() {
        return Ok(None);
    }
    let written = written.trim_end_matches('/');
    match written.strip_prefix(SCHEME).unwrap_or(written) {
        "skills" => Ok(Some("skills".into())),
        _ => written_id(written).map(|id| Some(id.as_str().to_owned())),
    }
}

/// A list of skills.
#[derive(Deserialize, Serialize)]
pub struct Listing {
    pub skills: Vec<Entry>,
    /// Registered skills that cannot be served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<Damaged>,
}

/// A registered skill that cannot be served.
#[derive(Deserialize, Serialize)]
pub struct Damaged {
    pub place: String,
    pub reason: String,
}

pub fn run(args: &ListArgs) -> Result<(), CliError> {
    let prefix = args.prefix.as_deref().map_or(Ok(None), prefix)?;
    open(&args.options, async |connection| {
        let mut listing = listing(connection, args.origin.as_deref()).await?;
        if let Some(prefix) = &prefix {
            let below = format!("{prefix}/");
            let is_listed = |id: &str| id == prefix || id.starts_with(&below);
            listing.skills.retain(|skill| is_listed(&skill.id));
        }
        describe(connection, &mut listing.skills).await?;
        for Damaged { place, reason } in &listing.damaged {
            connection.output.warn(&format!("{place}: {reason}"));
        }
        connection.output.data("list", &listing, |output| {
            let rows = if args.flat { flat } else { tree };
            let mut rows = rows(&listing.skills, Timestamp::now());
            // The number of files is shown if a skill has one.
            if listing.skills.iter().any(|skill| skill.files.is_some()) {
                let columns = output
                    .columns()
                    .inspect(|columns| fit_last(&mut rows, *columns));
                return lay_out(&rows, [false, true, true, true, false, false], columns);
            }
            let rows = rows.into_iter();
            let without_files =
                |[name, bytes, _, age, origin, title]: Row| [name, bytes, age, origin, title];
            let mut rows: Vec<_> = rows.map(without_files).collect();
            let columns = output
                .columns()
                .inspect(|columns| fit_last(&mut rows, *columns));
            lay_out(&rows, [false, true, true, false, false], columns)
        })?;
        if listing.skills.is_empty()
            && let Some(prefix) = &prefix
        {
            let note = format!("no skill is `{prefix}` or below it; `skills list` shows all");
            connection.output.note(&note);
        } else if listing.skills.is_empty() && args.origin.is_none() {
            connection.output.note(
                "no skills yet; `skills register ID FILE` adds one, `skills serve FOLDER` serves a folder",
            );
        }
        let bytes = listing.skills.iter().map(|skill| skill.bytes).sum();
        let total = count(listing.skills.len(), "skill");
        let total = format!("{total}, {}", size(bytes));
        connection.output.remark(&total);
        Ok(())
    })
}

/// Every skill, or those of one origin.
pub async fn listing(connection: &Connection, origin: Option<&str>) -> Result<Listing, CliError> {
    let mut listing: Listing = connection.call(&LIST, &json!({})).await?;
    if let Some(origin) = origin {
        listing.skills.retain(|skill| skill.origin == origin);
        // What is damaged is registered.
        listing.damaged.retain(|_| origin == ORIGINS[0]);
    }
    Ok(listing)
}

/// Adds addresses, titles and descriptions, which agents see in the list of resources.
async fn describe(connection: &Connection, skills: &mut [Entry]) -> Result<(), CliError> {
    #[derive(Deserialize)]
    struct Resources {
        resources: Vec<Resource>,
    }
    #[derive(Deserialize)]
    struct Resource {
        uri: String,
        name: String,
        #[serde(default)]
        description: String,
    }
    let listed: Resources = connection.call(&RESOURCES_LIST, &json!({})).await?;
    let listed = listed.resources.into_iter();
    let mut listed: HashMap<_, _> = listed.map(|one| (one.uri.clone(), one)).collect();
    for skill in skills {
        skill.uri = format!("{SCHEME}{}", skill.id);
        if let Some(resource) = listed.remove(&skill.uri) {
            // A skill without a title is named by its id.
            if resource.name != skill.id {
                skill.title = resource.name;
            }
            skill.description = resource.description;
        }
    }
    Ok(())
}

/// Name, size, files, age, origin, title.
type Row = [String; 6];

fn row(name: String, skill: &Entry, now: Timestamp) -> Row {
    let age = format!("{:>6}", age(&skill.registered_at, now));
    let files = skill.files.map(|files| count(files, "file"));
    let files = files.unwrap_or_default();
    let owner = skill.owner.as_deref();
    let origin = origin_and_marks(&skill.origin, &skill.hides, owner, skill.stale);
    let title = skill.title.clone();
    [name, size(skill.bytes), files, age, origin, title]
}

fn flat(skills: &[Entry], now: Timestamp) -> Vec<Row> {
    let row = |skill: &Entry| row(skill.id.clone(), skill, now);
    skills.iter().map(row).collect()
}

/// Rows with children below their parent. A parent that is not a skill has a row with its name
/// and a slash only.
fn tree(skills: &[Entry], now: Timestamp) -> Vec<Row> {
    let mut sorted: Vec<_> = skills.iter().collect();
    // A slash sorts before every other character, so that children follow their parent.
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
            let mut row = Row::default();
            row[0] = name;
            rows.push(row);
        }
        let name = format!("{}{name}", "  ".repeat(parents.len()));
        rows.push(row(name, skill, now));
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
            uri: String::new(),
            title: String::new(),
            description: String::new(),
            bytes: 1,
            registered_at: String::new(),
            origin: "state".into(),
            files: None,
            hides: Vec::new(),
            owner: None,
            expires_at: None,
            stale: false,
        });
        let names: Vec<_> = tree(&skills, Timestamp::now())
            .into_iter()
            .map(|[name, ..]| name)
            .collect();
        assert_eq!(
            names,
            ["a", "  b", "a-c", "x/", "  q", "  y/", "    w", "    z"]
        );
    }
}
