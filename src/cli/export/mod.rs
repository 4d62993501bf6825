//! `skills export`: writes skills to a directory, as markdown files or as skill folders.

mod agent_skills;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use skills_core::Kind;
use skills_files::{ReadFileError, read_file};

use super::CliError;
use super::batch::{self, Outcome, Summary};
use super::connection::{Access, Connection, open};
use super::humanize::count;
use super::list::{ORIGINS, listing};
use super::options::Options;
use super::read::original;
use super::write_file::{cannot_write, first_link, write_file};

/// Write every skill to a directory, as one markdown file or one folder each.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// The directory, created if missing; `resend/email` becomes `DIR/resend/email.md`, or
    /// `DIR/resend/email/SKILL.md` as an Agent Skill.
    dir: PathBuf,

    /// Only skills of this origin.
    #[arg(long, value_name = "ORIGIN", value_parser = ORIGINS)]
    origin: Option<String>,

    /// The form of the files: texts with their front matter, or folders with a `SKILL.md` and all
    /// files of the skill, which other agents load.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,

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
  skills export .claude/skills --format agent-skills
                                       folders that every agent loads

Files are written atomically. Without --force a file that differs is kept, and the exit
code is 2. A skill that cannot be read is left out, and the exit code is 1.";

/// Values of `--format`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Markdown,
    AgentSkills,
}

/// What may be done with an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Plain,
    Executable,
}

pub fn run(args: &ExportArgs) -> Result<(), CliError> {
    let dir = &args.dir;
    fs::create_dir_all(dir).map_err(|error| cannot_write(dir, &error))?;
    let hint = "--force overwrites files that differ; the rest was exported";
    open(&args.options, async |connection| {
        tell_of_off(connection, args.origin.as_deref()).await?;
        if let Format::AgentSkills = args.format {
            let origin = args.origin.as_deref();
            let summary = agent_skills::export(connection, dir, origin, args.force).await?;
            return summary.print(&connection.output, ["export", "exported", "left out"], hint);
        }
        let listing = listing(connection, args.origin.as_deref()).await?;
        let items = listing
            .skills
            .into_iter()
            .map(|skill| (format!("{}.md", skill.id), skill.id));
        let work = |id: String| export(connection, dir, id, args.force);
        let mut summary = Summary::default();
        for row in listing.damaged {
            summary.add(row.place, Outcome::Damaged(row.reason));
        }
        let summary = batch::run(connection, "exporting", items.collect(), summary, work).await?;
        summary.print(&connection.output, ["export", "exported", "kept"], hint)
    })
}

/// Names the registered skills that are off: no list has them, so that a copy would lack them in
/// silence.
async fn tell_of_off(connection: &Connection, origin: Option<&str>) -> Result<(), CliError> {
    let Access::Local(local) = &connection.access else {
        return Ok(());
    };
    if origin.is_some_and(|origin| origin != ORIGINS[0]) {
        return Ok(());
    }
    let off = local.registry.registered_findings().await?.off;
    if !off.is_empty() {
        let count = count(off.len(), "registered skill");
        connection.output.warn(&format!(
            "{count} left out because of `visibility: off`; `skills doctor` names them, and \
             `skills backup` has them"
        ));
    }
    Ok(())
}

async fn export(
    connection: &Connection,
    dir: &Path,
    id: String,
    force: bool,
) -> Result<Outcome, CliError> {
    let body = match original(connection, &id).await {
        Ok(content) => content.text()?,
        // Unregistered since the list was made.
        Err(error) if error.kind == Kind::NotFound => return Ok(Outcome::Skipped(error.message)),
        Err(error) if error.kind == Kind::Broken => return Ok(Outcome::Damaged(error.message)),
        Err(error) => return Err(error),
    };
    let (file, body) = (format!("{id}.md"), body.into_bytes());
    write_in_background(dir, file, body, Mode::Plain, force).await
}

/// Writes `dir/file` on another thread: a slow disk must not block the other items.
async fn write_in_background(
    dir: &Path,
    file: String,
    bytes: Vec<u8>,
    mode: Mode,
    force: bool,
) -> Result<Outcome, CliError> {
    let (dir, file) = (dir.to_owned(), PathBuf::from(file));
    let write = move || {
        let written = write(&dir, &file, &bytes, force)?;
        if mode == Mode::Executable && matches!(written, Outcome::Done | Outcome::Equal) {
            let path = dir.join(file);
            make_executable(&path).map_err(|error| cannot_write(&path, &error))?;
        }
        Ok(written)
    };
    let written = tokio::task::spawn_blocking(write).await;
    written.map_err(|error| CliError::broken(error.to_string()))?
}

/// Adds the right to execute wherever there is the right to read.
#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)?.permissions().mode();
    let executable = mode | (mode & 0o444) >> 2;
    if executable == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(executable))
}

/// The system has no such permission.
#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Writes `dir/file`, unless something is there that must stay.
fn write(dir: &Path, file: &Path, bytes: &[u8], force: bool) -> Result<Outcome, CliError> {
    let skipped = |reason: &str| Ok(Outcome::Skipped(reason.to_owned()));
    if let Some(link) = first_link(dir, file) {
        let link = link.display();
        return skipped(&format!(
            "{link} is a link, which may lead elsewhere; remove it"
        ));
    }
    let path = &dir.join(file);
    match read_file(path, bytes.len()) {
        Ok(present) if present.bytes == bytes => return Ok(Outcome::Equal),
        Ok(_) | Err(ReadFileError::TooLarge { .. }) if !force => {
            return skipped("the file differs");
        }
        Err(ReadFileError::Directory) => return skipped("a directory has that name"),
        Err(ReadFileError::NotRegular) => return skipped("it is not a regular file; remove it"),
        // Writing reports any other problem.
        Ok(_) | Err(ReadFileError::TooLarge { .. } | ReadFileError::Io(_)) => {}
    }
    let parent = path.parent().unwrap_or(dir);
    let written = fs::create_dir_all(parent).and_then(|()| write_file(path, bytes, true));
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
        let export = |body: &str, force| {
            write(dir.path(), Path::new("a/b.md"), body.as_bytes(), force).unwrap()
        };
        assert_eq!(export("one", false), Outcome::Done);
        assert_eq!(export("one", false), Outcome::Equal);
        for other in ["two", "a longer one", ""] {
            assert!(matches!(export(other, false), Outcome::Skipped(_)));
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(export("two", true), Outcome::Done);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn a_directory_of_the_same_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        fs::create_dir(&path).unwrap();
        let outcome = write(dir.path(), Path::new("a.md"), b"x", true);
        assert!(path.is_dir(), "{outcome:?}");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_or_into_a_pipe() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("out")).unwrap();
        fs::create_dir_all(path("elsewhere")).unwrap();
        fs::write(path("elsewhere/file.md"), "theirs").unwrap();
        symlink(path("elsewhere"), path("out/folder")).unwrap();
        symlink(path("elsewhere/file.md"), path("out/file.md")).unwrap();
        symlink(path("elsewhere/none"), path("out/dangling")).unwrap();
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(path("out/pipe.md")).status().unwrap().success());
        for (file, reason) in [
            ("folder/a.md", "out/folder is a link"),
            ("file.md", "out/file.md is a link"),
            ("dangling/a.md", "out/dangling is a link"),
            ("pipe.md", "is not a regular file"),
        ] {
            for force in [false, true] {
                match write(&path("out"), Path::new(file), b"ours", force).unwrap() {
                    Outcome::Skipped(text) => assert!(text.contains(reason), "{text}"),
                    other => panic!("{file}: {other:?}"),
                }
            }
        }
        assert_eq!(
            fs::read_to_string(path("elsewhere/file.md")).unwrap(),
            "theirs"
        );
        assert_eq!(fs::read_dir(path("elsewhere")).unwrap().count(), 1);
        // The directory that the user named may be a link.
        symlink(path("elsewhere"), path("named")).unwrap();
        let outcome = write(&path("named"), Path::new("a.md"), b"ours", false).unwrap();
        assert_eq!(outcome, Outcome::Done);
    }
}
