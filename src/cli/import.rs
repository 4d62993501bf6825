//! `skills import`: registers a directory of markdown files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use skills_api::history::SKILL_HISTORY;
use skills_core::{Digest, Kind, Precondition, SkillId};
use skills_files::{MarkdownFile, MarkdownFolder};

use super::batch::{self, Outcome, Summary};
use super::connection::{Connection, open};
use super::history::SkillHistory;
use super::list::{Entry, listing};
use super::options::Options;
use super::read::content;
use super::register::register;
use super::{CliError, input};

/// Register every markdown file below a directory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The directory; `DIR/resend/email.md` becomes `resend/email`, `DIR/pdf/SKILL.md` becomes
    /// `pdf`, and `DIR/pdf/references/api.md` becomes `pdf/references/api`.
    dir: PathBuf,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills import docs                   every .md file below docs
  skills import docs                   run again: only files that changed

Files whose name is not a valid id, or whose content is not a valid skill, and files of a
skill folder other than markdown are listed and left out, and the exit code is 2. It is 6 if
all that was left out has an id that something else got meanwhile. What is imported has no owner.
A registered skill that cannot be read is replaced. Hidden files, node_modules and names in
capitals such as README.md are ignored. Links are followed inside the directory only; others are
left out too.";

pub fn run(args: &ImportArgs) -> Result<(), CliError> {
    let (files, summary) = find(&args.dir)?;
    if files.is_empty() && summary.skipped.is_empty() {
        return Err(CliError::not_found(
            format!("{} has no .md files", args.dir.display()),
            "the id of `DIR/resend/email.md` is `resend/email`",
        ));
    }
    open(&args.options, async |connection| {
        let registered = listing(connection, None).await?.skills;
        let registered: HashMap<_, _> = registered
            .iter()
            .map(|entry| (entry.id.as_str(), entry))
            .collect();
        let without_lease = RefCell::default();
        let work = |file: File| {
            let entry = registered.get(file.id.as_str()).copied();
            import(connection, file, entry, &without_lease)
        };
        let summary = batch::run(connection, "importing", files, summary, work).await;
        for line in without_lease.take() {
            connection.output.warn(&line);
        }
        let hint = "names are ids: lowercase letters, digits, `-` and `_`; the rest was imported";
        summary?.print(&connection.output, ["import", "imported", "left out"], hint)
    })
}

struct File {
    id: SkillId,
    file: MarkdownFile,
}

/// Registers one file, unless the registered skill is equal. What another writer registers
/// meanwhile stays. What is registered without its owner or lease now is told in `without_lease`.
async fn import(
    connection: &Connection,
    file: File,
    entry: Option<&Entry>,
    without_lease: &RefCell<Vec<String>>,
) -> Result<Outcome, CliError> {
    let body = match input::body(&file.file) {
        Ok(body) => body,
        Err(error) => return Ok(Outcome::Skipped(error.message)),
    };
    let expected = if entry.is_some_and(|entry| entry.origin == "state") {
        let content = content(connection, &format!("iii://{}", file.id)).await?;
        let registered = content.text()?;
        if registered == body {
            return Ok(Outcome::Equal);
        }
        digest_of(&registered)
    } else {
        Precondition::Absent
    };
    let id = &file.id;
    let owner = entry.and_then(|entry| entry.owner.as_ref());
    let mut lost = owner.map(|owner| {
        format!("{id}: it is registered without its owner `{owner}` and without a lease now")
    });
    let registered = match register(connection, id, &body, expected).await {
        Err(error) if error.kind == Kind::Conflict && expected == Precondition::Absent => {
            match unlisted(connection, id).await? {
                Some((expected, _)) if expected == digest_of(&body) => return Ok(Outcome::Equal),
                Some((expected, has_owner)) => {
                    // Not its name: the same text may have got another owner since.
                    lost = has_owner.then(|| {
                        format!("{id}: it is registered without an owner and a lease now")
                    });
                    register(connection, id, &body, expected).await
                }
                None => Err(error),
            }
        }
        registered => registered,
    };
    match registered {
        Ok(_) => {
            without_lease.borrow_mut().extend(lost);
            Ok(Outcome::Done)
        }
        Err(error) if error.kind == Kind::Conflict => Ok(Outcome::Conflict(error.message)),
        Err(error) => Err(error),
    }
}

fn digest_of(body: &str) -> Precondition {
    Precondition::Digest(Digest::of(body.as_bytes()))
}

/// What an import replaces although it is in no list, and whether its version names an owner: a
/// registered skill that is off, or that cannot be read. None if another was registered meanwhile.
async fn unlisted(
    connection: &Connection,
    id: &SkillId,
) -> Result<Option<(Precondition, bool)>, CliError> {
    match content(connection, &format!("iii://@state/{id}")).await {
        Ok(_) => return Ok(None),
        Err(error) if error.kind == Kind::Broken => return Ok(Some((Precondition::Any, false))),
        Err(error) if error.kind == Kind::NotFound => {}
        Err(error) => return Err(error),
    }
    let input = json!({ "id": id.as_str() });
    let history: SkillHistory = match connection.call(&SKILL_HISTORY, &input).await {
        Err(error) if error.kind == Kind::NotFound => return Ok(None),
        history => history?,
    };
    let mut versions = history.versions.into_iter();
    let current = versions.find(|version| version.current);
    Ok(current.and_then(|current| {
        let digest = current.digest?.parse().ok()?;
        Some((Precondition::Digest(digest), current.owner.is_some()))
    }))
}

/// The markdown files below a directory with their ids. Files without a valid id are skipped.
fn find(dir: &Path) -> Result<(Vec<(String, File)>, Summary), CliError> {
    let found = MarkdownFolder::find(dir).map_err(|error| {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            _ => Kind::Invalid,
        };
        CliError::new(kind, format!("cannot read {}: {error}", dir.display()))
            .with_hint("name a directory; `skills register ID FILE` takes a single file")
    })?;
    let (mut files, mut summary) = (Vec::new(), Summary::default());
    for skipped in found.skipped {
        summary.add(skipped.place, Outcome::Skipped(skipped.reason));
    }
    let mut taken = HashMap::new();
    for file in found.files {
        let what = file.name.clone();
        let id = match &file.id {
            Ok(id) => id.clone(),
            Err(reason) => {
                summary.add(what, Outcome::Skipped(reason.clone()));
                continue;
            }
        };
        if let Some(first) = taken.get(&id) {
            let reason = format!("has the id `{id}` that {first} has already; rename one");
            summary.add(what, Outcome::Skipped(reason));
            continue;
        }
        taken.insert(id.clone(), what.clone());
        files.push((what, File { id, file }));
    }
    Ok((files, summary))
}
