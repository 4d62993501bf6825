//! What a command line names, read and checked.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use skills_core::{LintSettings, SKILL_MD, SkillId};
use skills_files::agents::file::is_document;
use skills_lint::{Collection, Findings, Skill};

use super::LintArgs;
use crate::app::{lint_collection, lint_file, registered_skill};
use crate::cli::connection::{Access, Connection, open};
use crate::cli::list::listing;
use crate::cli::paths::check_paths;
use crate::cli::read::content;
use crate::cli::{CliError, block_on};
use crate::config::{Config, LoadedConfig};

/// Findings with the files that they are about.
pub struct Checked {
    pub findings: Findings,
    /// The bytes of the files, by how they are shown.
    pub files: HashMap<Arc<str>, Vec<u8>>,
}

pub fn check(args: &LintArgs) -> Result<Checked, CliError> {
    let loaded = args.options.target.engine.usable_config()?;
    let mut settings = loaded.config.lint.clone();
    let ignored = args.ignore.iter().map(|code| ((*code).to_owned(), None));
    settings.severities.extend(ignored);
    let (paths, ids): (Vec<_>, Vec<_>) = args
        .subjects
        .iter()
        .partition::<Vec<_>, _>(|subject| subject.exists());
    let ids = ids.into_iter().map(|subject| parse_id(subject));
    let ids = ids.collect::<Result<BTreeSet<_>, _>>()?;
    if ids.is_empty() && !paths.is_empty() {
        let collection = collect_paths(&paths, &loaded)?;
        return Ok(Checked::new(collection, &settings));
    }
    if !paths.is_empty() {
        return Err(CliError::invalid(
            "both paths and ids are named",
            "check them one after the other",
        ));
    }
    for warning in &loaded.warnings {
        args.options.output().warn(warning);
    }
    let collection = open(&args.options, async |connection| {
        collect_all(connection, &loaded).await
    })?;
    let missing = ids.iter().find(|id| {
        let has_id = |skill: &Skill| skill.id.as_ref() == Some(id);
        !collection.skills.iter().any(has_id)
    });
    if let Some(id) = missing {
        let known = collection
            .skills
            .iter()
            .filter_map(|skill| skill.id.as_ref());
        let near = skills_core::nearest(id.as_str(), known.map(SkillId::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name a path that exists or the id of a skill".to_owned(),
        };
        return Err(CliError::not_found(format!("skill not found: {id}"), hint));
    }
    let named: BTreeSet<Arc<str>> = collection
        .skills
        .iter()
        .filter(|skill| skill.id.as_ref().is_some_and(|id| ids.contains(id)))
        .flat_map(|skill| skill.bundled.iter().chain([&skill.document]))
        .map(|file| Arc::clone(&file.shown))
        .collect();
    let mut checked = Checked::new(collection, &settings);
    if !ids.is_empty() {
        let is_named = |finding: &skills_lint::Finding| named.contains(&finding.file);
        checked.findings.all.retain(is_named);
        checked.findings.allowed.retain(is_named);
    }
    Ok(checked)
}

impl Checked {
    fn new(collection: Collection, settings: &LintSettings) -> Self {
        let findings = skills_lint::check(&collection, settings);
        let files = collection.skills.into_iter().flat_map(|skill| {
            let files = skill.bundled.into_iter().chain([skill.document]);
            files.filter_map(|file| Some((file.shown, file.bytes?)))
        });
        Self {
            findings,
            files: files.collect(),
        }
    }
}

fn parse_id(subject: &Path) -> Result<SkillId, CliError> {
    let text = subject.to_string_lossy();
    skills_core::written_id(&text).map_err(|error| {
        let hint = "name a path that exists or the id of a skill";
        CliError::not_found(format!("there is no path or skill `{text}`: {error}"), hint)
    })
}

/// Only what is named: links to other skills are not judged.
fn collect_paths(paths: &[&PathBuf], loaded: &LoadedConfig) -> Result<Collection, CliError> {
    let is_file = |path: &Path| path.is_file() && !is_document(path);
    let mut folders = Vec::new();
    let mut collection = Collection::default();
    for path in paths {
        match path.parent() {
            Some(parent) if path.file_name().is_some_and(|name| name == SKILL_MD) => {
                let parent = if parent == Path::new("") {
                    Path::new(".")
                } else {
                    parent
                };
                folders.push(parent.canonicalize().unwrap_or_else(|_| parent.to_owned()));
            }
            _ if is_file(path) => collection.skills.extend(lint_file(path)),
            _ => folders.push((*path).clone()),
        }
    }
    if !folders.is_empty() {
        let loaded = LoadedConfig {
            config: Config {
                skills: Vec::new(),
                prompts: Vec::new(),
                agents: Vec::new(),
                ..loaded.config.clone()
            },
            base: loaded.base.clone(),
            paths: check_paths(&folders)?,
            ..LoadedConfig::default()
        };
        let found = block_on(async { Ok(lint_collection(&loaded).await?) })?;
        collection.skills.extend(found.skills);
        collection.known.extend(found.known);
        collection.unserved.extend(found.unserved);
    }
    collection.is_partial = true;
    Ok(collection)
}

/// The configured sources and the registered skills.
async fn collect_all(
    connection: &Connection,
    loaded: &LoadedConfig,
) -> Result<Collection, CliError> {
    let mut collection = lint_collection(loaded).await?;
    for entry in listing(connection, Some("state")).await?.skills {
        let uri = format!("iii://{}", entry.id);
        let text = content(connection, &uri).await?.text()?;
        if let Ok(id) = entry.id.parse() {
            collection.skills.push(registered_skill(id, &text));
        }
    }
    collection.functions = functions(connection).await;
    Ok(collection)
}

/// The functions that workers offer, if an engine can be asked.
async fn functions(connection: &Connection) -> Option<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Function {
        function_id: String,
    }
    #[derive(Deserialize)]
    struct Functions {
        functions: Vec<Function>,
    }
    let Access::Remote { .. } = &connection.access else {
        return None;
    };
    let input = json!({});
    let listed = connection.call_function::<Functions>("engine::functions::list", &input);
    let functions = listed.await.ok()?.functions.into_iter();
    Some(functions.map(|function| function.function_id).collect())
}
