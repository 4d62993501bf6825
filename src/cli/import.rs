//! `skills import`: a folder of markdown becomes registered skills.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use skills_core::{Kind, SkillId};

use super::batch::{self, Outcome, Summary};
use super::connection::{Connection, open_for_many};
use super::list::{Entry, entries};
use super::options::Options;
use super::read::content;
use super::register::register;
use super::{CliError, input};

/// Register every markdown file below a directory.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The directory; `DIR/resend/email.md` becomes `resend/email`.
    dir: PathBuf,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills import docs                   every .md below docs, by its path
  skills import docs                   again: only what has changed since

Files whose name is no id, or whose content is no skill, are named and left out; the
exit code is 2 then. Hidden files and links to directories are not looked at.";

pub fn run(args: &ImportArgs) -> Result<(), CliError> {
    let (files, summary) = find(&args.dir)?;
    if files.is_empty() && summary.skipped.is_empty() {
        return Err(CliError::not_found(
            format!("{} has no .md files", args.dir.display()),
            "the id of `DIR/resend/email.md` is `resend/email`",
        ));
    }
    open_for_many(&args.options, async |connection| {
        let there = entries(connection, None).await?;
        let there: HashMap<_, _> = there.iter().map(|one| (one.id.as_str(), one)).collect();
        let work = |file: File| {
            let known = there.get(file.id.as_str()).copied();
            import(connection, file, known)
        };
        let summary = batch::run(connection, "importing", files, summary, work).await?;
        let hint = "names are ids: lowercase letters, digits, `-` and `_`; the rest was imported";
        summary.print(&connection.output, ["import", "imported", "left out"], hint)
    })
}

struct File {
    id: SkillId,
    path: PathBuf,
}

/// Registers one file, unless what is registered is equal.
async fn import(
    connection: &Connection,
    file: File,
    known: Option<&Entry>,
) -> Result<Outcome, CliError> {
    let body = match input::body(&file.path) {
        Ok(body) => body,
        Err(stop) => return Ok(Outcome::Skipped(stop.message)),
    };
    let may_be_equal =
        known.is_some_and(|known| known.origin == "state" && known.bytes == body.len() as u64);
    if may_be_equal
        && content(connection, &format!("iii://{}", file.id))
            .await?
            .text
            == body
    {
        return Ok(Outcome::Equal);
    }
    register(connection, &file.id, &body).await?;
    Ok(Outcome::Done)
}

/// Every markdown file below a directory with the id it gets, and those that get none.
fn find(dir: &Path) -> Result<(Vec<(String, File)>, Summary), CliError> {
    let (mut files, mut summary) = (Vec::new(), Summary::default());
    let mut waiting = vec![dir.to_owned()];
    while let Some(next) = waiting.pop() {
        let failed = |error: std::io::Error| CliError {
            kind: match error.kind() {
                std::io::ErrorKind::NotFound => Kind::NotFound,
                _ => Kind::Invalid,
            },
            message: format!("cannot read {}: {error}", next.display()),
            hint: Some("name a directory; `skills register ID FILE` takes a single file".into()),
        };
        for entry in fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.file_type().map_err(failed)?.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let what = relative(dir, &path);
                let is_file = path.metadata().is_ok_and(|found| found.is_file());
                let id = what.strip_suffix(".md").unwrap_or(&what).parse::<SkillId>();
                match id {
                    _ if !is_file => summary.add(what, Outcome::Skipped("it is no file".into())),
                    Ok(id) => files.push((what, File { id, path })),
                    Err(error) => summary.add(what, Outcome::Skipped(error.to_text())),
                }
            }
        }
    }
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok((files, summary))
}

/// The path below `dir`, with `/` everywhere.
fn relative(dir: &Path, path: &Path) -> String {
    let below = path.strip_prefix(dir).unwrap_or(path);
    let parts = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
