//! `skills agent export`: the skills as markdown files, or everything as one JSON document.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use skills_core::escape_control;
use skills_files::agents::{AgentSkill, AgentSkills};

use super::show::SkillBody;
use super::{CliError, Output, load, read_text};
use crate::cli::output::lines;
use crate::cli::write_file::{cannot_write, first_link, write_file};

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

    /// Replace existing files.
    #[arg(long)]
    force: bool,
}

pub fn run(args: &ExportArgs, output: &Output) -> Result<(), CliError> {
    match &args.folder {
        Some(folder) => write_markdown(args, folder, output),
        None => print_manifest(&args.file, output),
    }
}

fn print_manifest(path: &Path, output: &Output) -> Result<(), CliError> {
    #[derive(Serialize)]
    struct Whole<'a> {
        manifest: agent3md::Manifest<'a>,
        bodies: Vec<SkillBody<'a>>,
    }
    let agent = load(path)?;
    let whole = Whole {
        manifest: agent.manifest(),
        bodies: agent.skills().map(SkillBody::from).collect(),
    };
    output.data("agent export", &whole, |_| {
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    })
}

fn write_markdown(args: &ExportArgs, folder: &Path, output: &Output) -> Result<(), CliError> {
    let agent = AgentSkills::parse(&read_text(&args.file)?, &Arc::from(""));
    let agent =
        agent.map_err(|reason| CliError::broken(format!("{} {reason}", args.file.display())))?;
    let file_of = |page: &AgentSkill| PathBuf::from(format!("{}.md", page.skill.id));
    let path_of = |page: &AgentSkill| folder.join(file_of(page));
    // Checked before anything is written: a partial export is worse than none.
    let existing = agent.skills.iter().map(path_of).find(|path| path.exists());
    if let Some(path) = existing.filter(|_| !args.force) {
        return Err(CliError::invalid(
            format!("{} already exists", path.display()),
            "choose another folder, or replace files with --force",
        ));
    }
    let mut pages = agent.skills.iter();
    if let Some(link) = pages.find_map(|page| first_link(folder, &file_of(page))) {
        return Err(CliError::invalid(
            format!("{} is a link, which may lead elsewhere", link.display()),
            "remove it, or choose another folder",
        ));
    }
    let mut files = Vec::with_capacity(agent.skills.len());
    for page in &agent.skills {
        let path = path_of(page);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| write_file(&path, text(page), args.force))
            .map_err(|error| cannot_write(&path, &error))?;
        files.push(path.display().to_string());
    }
    let data = json!({ "files": files, "skipped": agent.skipped });
    output.data("agent export", &data, |_| {
        lines(files.iter().map(|file| escape_control(file)))
    })?;
    match &agent.skipped[..] {
        [] => Ok(()),
        skipped => {
            let message = format!("left out: {}", skipped.join("; "));
            let hint = "rename these skills, then export again with --force";
            Err(CliError::broken(message).with_hint(hint))
        }
    }
}

/// The file of a skill, with its triggers as front matter: JSON is valid YAML.
fn text(page: &AgentSkill) -> String {
    let body = page.body.trim_end();
    match &page.skill.head.triggers {
        Some(triggers) => format!("---\ntriggers: {}\n---\n{body}\n", json!(triggers[..])),
        // Otherwise the beginning of this body would be read as front matter.
        None if body.starts_with("---") => format!("---\n---\n{body}\n"),
        None => format!("{body}\n"),
    }
}
