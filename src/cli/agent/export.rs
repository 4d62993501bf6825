//! `skills agent export`: the skills as markdown files, or everything as one JSON document.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use skills_core::{Kind, escape_control};

use super::show::Full;
use super::{CliError, Output, open, text_of};
use skills_files::agents::{AgentSkill, AgentSkills};

#[derive(Args)]
pub struct ExportArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The folder to write to: the agent becomes `{agent}.md`, its skills `{agent}/{skill}.md`.
    #[arg(value_name = "FOLDER", required_unless_present = "manifest")]
    folder: Option<PathBuf>,

    /// Print the manifest with every skill's instructions as JSON instead.
    #[arg(long, conflicts_with = "folder")]
    manifest: bool,

    /// Replace files that are there.
    #[arg(long)]
    force: bool,
}

pub fn run(args: &ExportArgs, output: &Output) -> Result<(), CliError> {
    match &args.folder {
        Some(folder) if !args.manifest => markdown(args, folder, output),
        _ => manifest(&args.file, output),
    }
}

fn manifest(path: &Path, output: &Output) -> Result<(), CliError> {
    #[derive(Serialize)]
    struct Whole<'a> {
        manifest: agent3md::Manifest<'a>,
        bodies: Vec<Full<'a>>,
    }
    let agent = open(path)?;
    let whole = Whole {
        manifest: agent.manifest(),
        bodies: agent.skills().map(Full::from).collect(),
    };
    output.data("agent export", &whole, |_| {
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    })
}

fn markdown(args: &ExportArgs, folder: &Path, output: &Output) -> Result<(), CliError> {
    let shown_file = args.file.display();
    let book = AgentSkills::read(&text_of(&args.file)?, &Arc::from(""));
    let book = book.map_err(|reason| CliError::broken(format!("{shown_file} {reason}")))?;
    let place = |page: &AgentSkill| folder.join(format!("{}.md", page.skill.id));
    // Looked for first: half an export is worse than none.
    let taken = book.pages.iter().map(place).find(|path| path.exists());
    if let Some(path) = taken.filter(|_| !args.force) {
        return Err(CliError::invalid(
            format!("{} is there already", path.display()),
            "choose another folder, or replace it with --force",
        ));
    }
    let mut files = Vec::with_capacity(book.pages.len());
    for page in &book.pages {
        let path = place(page);
        write(&path, page, args.force).map_err(|error| CliError {
            kind: Kind::Broken,
            message: format!("cannot write {}: {error}", path.display()),
            hint: Some("is the folder one this user may write to?".into()),
        })?;
        files.push(path.display().to_string());
    }
    let data = json!({ "files": files, "skipped": book.skipped });
    output.data("agent export", &data, |_| {
        files.iter().fold(String::new(), |all, file| {
            all + &escape_control(file) + "\n"
        })
    })?;
    match &book.skipped[..] {
        [] => Ok(()),
        skipped => Err(CliError {
            kind: Kind::Broken,
            message: format!("left out: {}", skipped.join("; ")),
            hint: Some("rename these skills, then export again with --force".into()),
        }),
    }
}

fn write(path: &Path, page: &AgentSkill, replace: bool) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut options = fs::File::options();
    options.write(true).truncate(true);
    // Somebody may have made it since we looked.
    options.create_new(!replace).create(replace);
    options.open(path)?.write_all(text(page).as_bytes())
}

/// The file of a skill: its triggers are front matter, a list that any reader of YAML takes.
fn text(page: &AgentSkill) -> String {
    let body = page.body.trim_end();
    match &page.skill.head.triggers {
        Some(triggers) => format!("---\ntriggers: {}\n---\n{body}\n", json!(triggers[..])),
        // A body that opens like front matter must not lose its beginning.
        None if body.starts_with("---") => format!("---\n---\n{body}\n"),
        None => format!("{body}\n"),
    }
}
