//! `skills backup`: everything that the registry keeps, in one file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use skills_api::backup::{BACKUP, BackupInput, BackupOutput, BackupRow, LeftOut};

use super::CliError;
use super::connection::{Connection, open};
use super::humanize::size;
use super::options::Options;
use super::write_file::{cannot_write, write_file};
use crate::app::{self, Archive, ArchiveRow};

/// Write everything that the registry keeps to one file, while it runs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct BackupArgs {
    /// The file to write.
    file: PathBuf,

    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills backup skills.backup          of the registry that runs, else of the data directory
  skills backup \"$(date +%F).backup\"   one file for each day
  skills restore skills.backup --data-dir new

The file has the skills and prompts that were registered, their leases, counts and versions, as
they were at one moment. It is written atomically. Files that are served are not in it, and the
state of other workers neither. `gzip -dc FILE` shows it.";

/// How often everything is read until nothing changes in between.
const ATTEMPTS: usize = 10;

pub fn run(args: &BackupArgs) -> Result<(), CliError> {
    let path = &args.file;
    if path.exists() && !args.force {
        return Err(exists(path));
    }
    open(&args.options, async |connection| {
        let (rows, left_out) = read_all(connection).await?;
        let archive = Archive {
            created: app::now(),
            rows,
        };
        let bytes = archive.to_bytes();
        write_file(path, &bytes, args.force).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(path),
            _ => cannot_write(path, &error),
        })?;
        let output = &connection.output;
        let data = json!({
            "file": path,
            "bytes": bytes.len(),
            "rows": archive.counts(),
            "left_out": left_out,
        });
        output.data("backup", &data, |_| counts_text(&archive))?;
        let (shown, size) = (path.display(), size(bytes.len() as u64));
        output.remark(&format!("wrote {shown}, {size}"));
        if left_out.is_empty() {
            return Ok(());
        }
        for LeftOut { place, reason } in &left_out {
            output.warn(&format!("left out {place}: {reason}"));
        }
        let message = format!("{} damaged rows are not in the backup", left_out.len());
        Err(CliError::broken(message).with_hint("`skills doctor` says what to do about them"))
    })
}

fn exists(path: &Path) -> CliError {
    let message = format!("{} exists", path.display());
    CliError::invalid(message, "choose another name, or overwrite it with --force")
}

/// One line for each scope: its name, and its number of rows.
pub fn counts_text(archive: &Archive) -> String {
    let counts = archive.counts();
    let width = counts.keys().map(|scope| scope.len()).max().unwrap_or(0);
    let line = |(scope, count): (&&str, &usize)| format!("{scope:width$}  {count}\n");
    counts.iter().map(line).collect()
}

/// Reads every scope until two readings in a row are equal: then all rows are of one moment, the
/// one between the two. Each scope is read at once, so its rows always are.
async fn read_all(connection: &Connection) -> Result<(Vec<ArchiveRow>, Vec<LeftOut>), CliError> {
    let mut last = read_once(connection).await?;
    for _ in 1..ATTEMPTS {
        let next = read_once(connection).await?;
        let is_equal = |(a, b): (&ArchiveRow, &ArchiveRow)| {
            (&a.scope, &a.key, a.value.get()) == (&b.scope, &b.key, b.value.get())
        };
        let (rows, before) = (&next.0, &last.0);
        if rows.len() == before.len() && rows.iter().zip(before).all(is_equal) {
            return Ok(next);
        }
        last = next;
    }
    connection.output.note(
        "workers write all the time: each kind is of one moment, and these are a moment apart",
    );
    Ok(last)
}

async fn read_once(connection: &Connection) -> Result<(Vec<ArchiveRow>, Vec<LeftOut>), CliError> {
    let listed: BackupOutput = connection.call(&BACKUP, &BackupInput::default()).await?;
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for scope in listed.scopes {
        let input = BackupInput {
            scope: Some(scope.clone()),
        };
        let copy: BackupOutput = connection.call(&BACKUP, &input).await?;
        rows.extend(
            copy.rows
                .into_iter()
                .map(|BackupRow { key, value }| ArchiveRow {
                    scope: scope.clone(),
                    key,
                    value,
                }),
        );
        left_out.extend(copy.left_out);
    }
    Ok((rows, left_out))
}
