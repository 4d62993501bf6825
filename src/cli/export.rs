//! `skills export`: skills become a folder of markdown.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use skills_core::Kind;

use super::CliError;
use super::batch::{Outcome, Summary, each};
use super::connection::{Connection, open_for_many};
use super::list::{Origin, entries};
use super::options::Options;
use super::read::content;

/// Write every skill to a directory, as one markdown file each.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// The directory, made if need be; `resend/email` becomes `DIR/resend/email.md`.
    dir: PathBuf,

    /// Only skills from here.
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<Origin>,

    /// Overwrite files that differ.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills export backup                 every skill; again later: only what is new
  skills export backup --force         overwrite what has changed since
  skills export mine --origin state    registered skills, no files

A file is either whole or not there. One that differs is left alone without --force; the
exit code is 2 then.";

pub fn run(args: &ExportArgs) -> Result<(), CliError> {
    make(&args.dir).map_err(|error| CliError::broken(cannot_write(&args.dir, &error)))?;
    open_for_many(&args.options, async |connection| {
        let skills = entries(connection, args.origin).await?;
        let items = skills
            .into_iter()
            .map(|skill| (format!("{}.md", skill.id), skill.id));
        let work = |id: String| export(connection, &args.dir, id, args.force);
        let summary = Summary::default();
        let summary = each(connection, "exporting", items.collect(), summary, work).await?;
        let hint = "--force overwrites files that differ; the rest was exported";
        summary.say(
            &connection.output,
            ["export", "exported", "left alone"],
            hint,
        )
    })
}

async fn export(
    connection: &Connection,
    dir: &Path,
    id: String,
    force: bool,
) -> Result<Outcome, CliError> {
    let body = match content(connection, &format!("iii://{id}")).await {
        Ok(content) => content.text,
        // Unregistered since the list was made, or damaged.
        Err(stop) if matches!(stop.kind, Kind::NotFound | Kind::Broken) => {
            return Ok(Outcome::Skipped(stop.message));
        }
        Err(stop) => return Err(stop),
    };
    let path = dir.join(format!("{id}.md"));
    // Disks may be slow, and others are under way.
    let written = tokio::task::spawn_blocking(move || write(&path, &body, force)).await;
    written.map_err(|error| CliError::broken(error.to_string()))?
}

fn write(path: &Path, body: &str, force: bool) -> Result<Outcome, CliError> {
    match fs::read(path) {
        Ok(there) if there == body.as_bytes() => return Ok(Outcome::Equal),
        Ok(_) if !force => return Ok(Outcome::Skipped("the file there differs".into())),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Ok(Outcome::Skipped("there is a directory of that name".into()));
        }
        // Whatever else is wrong shows when it is written.
        Ok(_) | Err(_) => {}
    }
    replace(path, body).map_err(|error| CliError::broken(cannot_write(path, &error)))?;
    Ok(Outcome::Done)
}

/// Writes a file so that nobody ever sees half of it: beside it first, then renamed.
fn replace(path: &Path, body: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make(dir)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = dir.join(format!(".{name}.{}.part", std::process::id()));
    let written = fs::File::create(&part).and_then(|mut file| {
        file.write_all(body.as_bytes())?;
        // Else a power cut could leave an empty file under the final name.
        file.sync_all()
    });
    let outcome = written.and_then(|()| fs::rename(&part, path));
    if outcome.is_err() {
        // It may not even be there; the first failure is the one to tell.
        let _ = fs::remove_file(&part);
    }
    outcome
}

fn make(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.md");
        let export = |body: &str, force| write(&path, body, force).unwrap();
        assert_eq!(export("one", false), Outcome::Done);
        assert_eq!(export("one", false), Outcome::Equal);
        assert!(matches!(export("two", false), Outcome::Skipped(_)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(export("two", true), Outcome::Done);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let left: Vec<_> = fs::read_dir(dir.path().join("a")).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing but the file itself");
    }

    #[test]
    fn a_directory_in_the_way_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::create_dir(&path).unwrap();
        let outcome = write(&path, "x", true);
        assert!(path.is_dir(), "{outcome:?}");
    }
}
