//! `skills export`: writes skills to a directory of markdown files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use skills_core::Kind;

use super::CliError;
use super::batch::{self, Outcome, Summary};
use super::connection::{Connection, open};
use super::list::{ORIGINS, entries};
use super::options::Options;
use super::read::content;
use super::write_file::{cannot_write, write_file};

/// Write every skill to a directory, as one markdown file each.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// The directory, created if missing; `resend/email` becomes `DIR/resend/email.md`.
    dir: PathBuf,

    /// Only skills of this origin.
    #[arg(long, value_name = "ORIGIN", value_parser = ORIGINS)]
    origin: Option<String>,

    /// Overwrite files that differ.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills export backup                 every skill; run again later, only new ones
  skills export backup --force         overwrite files that differ
  skills export mine --origin state    registered skills only

Files are written atomically. Without --force a file that differs is kept, and the exit
code is 2.";

pub fn run(args: &ExportArgs) -> Result<(), CliError> {
    let dir = &args.dir;
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, &error))?;
    open(&args.options, async |connection| {
        let skills = entries(connection, args.origin.as_deref()).await?;
        let items = skills
            .into_iter()
            .map(|skill| (format!("{}.md", skill.id), skill.id));
        let work = |id: String| export(connection, dir, id, args.force);
        let summary = Summary::default();
        let summary = batch::run(connection, "exporting", items.collect(), summary, work).await?;
        let hint = "--force overwrites files that differ; the rest was exported";
        summary.print(&connection.output, ["export", "exported", "kept"], hint)
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
        Err(error) if matches!(error.kind, Kind::NotFound | Kind::Broken) => {
            return Ok(Outcome::Skipped(error.message));
        }
        Err(error) => return Err(error),
    };
    let path = dir.join(format!("{id}.md"));
    // A slow disk must not block the other items.
    let written = tokio::task::spawn_blocking(move || write(&path, &body, force)).await;
    written.map_err(|error| CliError::broken(error.to_string()))?
}

fn write(path: &Path, body: &str, force: bool) -> Result<Outcome, CliError> {
    match fs::read(path) {
        Ok(present) if present == body.as_bytes() => return Ok(Outcome::Equal),
        Ok(_) if !force => return Ok(Outcome::Skipped("the file differs".into())),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Ok(Outcome::Skipped("a directory has that name".into()));
        }
        // Writing reports any other problem.
        Ok(_) | Err(_) => {}
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(dir).and_then(|()| write_file(path, body, true));
    written.map_err(|error| cannot_write(path, &error))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_differs_is_kept_without_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.md");
        let export = |body: &str, force| write(&path, body, force).unwrap();
        assert_eq!(export("one", false), Outcome::Done);
        assert_eq!(export("one", false), Outcome::Equal);
        assert!(matches!(export("two", false), Outcome::Skipped(_)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(export("two", true), Outcome::Done);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn a_directory_of_the_same_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::create_dir(&path).unwrap();
        let outcome = write(&path, "x", true);
        assert!(path.is_dir(), "{outcome:?}");
    }
}
