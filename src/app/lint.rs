//! The collection that is checked: every file that a configuration names.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::limits::MAX_SKILL_FILES_BYTES;
use skills_core::{Error, SKILL_MD, SkillFolder, SkillId, Skipped};
use skills_files::agents::file::is_document;
use skills_files::{LoadedFile, Sources, read_file};
use skills_lint::{Collection, File, Kind, KnownSkill, Skill, Unserved};

use super::file_sources;
use crate::config::LoadedConfig;

/// The deepest folder of a skill that is searched for hidden files.
const HIDDEN_DEPTH: usize = 6;

/// The skills, prompts and documents of the sources, with their files.
pub async fn lint_collection(loaded: &LoadedConfig) -> Result<Collection, Error> {
    collect(&file_sources(loaded)).await
}

/// The same of sources that were built already.
pub async fn collect(sources: &Sources) -> Result<Collection, Error> {
    let report = sources.report().await?;
    let folder = report.folder.unwrap_or_default();
    let agents = report.agents.unwrap_or_default();
    let mut collection = Collection::default();
    let folders: Vec<_> = folder.skills.iter().filter_map(skill_folder).collect();
    for file in &folder.skills {
        collection.skills.extend(skill(file, &folders));
        let problem = file
            .folder
            .as_ref()
            .and_then(|folder| folder.files_problem.as_ref());
        collection.unserved.extend(problem.map(|reason| Unserved {
            shown: shown(&file.path),
            reason: reason.to_string(),
        }));
    }
    for file in &folder.prompts {
        collection
            .skills
            .extend(document(&file.path, None, Kind::Prompt));
    }
    for agent in &agents.documents {
        let mut ids = agent.ids.iter().filter_map(|id| id.parse::<SkillId>().ok());
        collection
            .skills
            .extend(document(&agent.path, ids.next(), Kind::Agent3md));
        collection.known.extend(ids.map(|id| KnownSkill {
            id,
            files: Vec::new(),
        }));
    }
    for Skipped { place, reason } in folder.skipped.into_iter().chain(agents.skipped) {
        let path = Path::new(&place);
        // Its findings have places.
        let invalid = is_document(path)
            .then(|| document(path, None, Kind::Agent3md))
            .flatten();
        match invalid {
            Some(skill) => collection.skills.push(skill),
            None => collection.unserved.push(Unserved {
                shown: shown(path),
                reason: format!("it {reason}"),
            }),
        }
    }
    Ok(collection)
}

/// A registered skill.
pub fn registered_skill(id: SkillId, text: &str) -> Skill {
    let shown = format!("iii://{id}").into();
    Skill {
        id: Some(id),
        kind: Kind::Markdown,
        document: File {
            name: SKILL_MD.into(),
            shown,
            bytes: Some(text.into()),
        },
        bundled: Vec::new(),
    }
}

/// A single markdown file as a skill.
pub fn lint_file(path: &Path) -> Option<Skill> {
    let kind = if is_document(path) {
        Kind::Agent3md
    } else {
        Kind::Markdown
    };
    document(path, None, kind)
}

fn skill(file: &LoadedFile, folders: &[&Path]) -> Option<Skill> {
    let id = file.name.parse().ok();
    let Some(folder) = &file.folder else {
        return document(&file.path, id, Kind::Markdown);
    };
    let root = file.path.parent()?;
    let name = root.file_name()?.to_string_lossy().into_owned();
    let mut skill = document(&file.path, id, Kind::Folder { name })?;
    skill.document.name = SKILL_MD.into();
    skill.bundled = bundled(root, folder, folders);
    Some(skill)
}

/// The files of a folder; those of skills in it belong to them.
fn bundled(root: &Path, folder: &SkillFolder, folders: &[&Path]) -> Vec<File> {
    let is_own = |path: &Path| {
        let mut above = path.ancestors().skip(1).take_while(|above| *above != root);
        !above.any(|above| folders.contains(&above))
    };
    let names = folder.files.iter().map(|file| file.path.as_str());
    let mut files: Vec<_> = names
        .filter(|name| *name != SKILL_MD && is_own(&root.join(name)))
        .map(|name| {
            let path = root.join(name);
            File {
                name: name.into(),
                shown: shown(&path),
                bytes: read(&path),
            }
        })
        .collect();
    let mut found = Vec::new();
    hidden_files(root, HIDDEN_DEPTH, &mut found);
    files.extend(found.into_iter().filter(|path| is_own(path)).map(|path| {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        File {
            name: name.replace('\\', "/"),
            shown: shown(&path),
            bytes: None,
        }
    }));
    files
}

/// The names of hidden files, which are not served and travel with a copy of the folder.
fn hidden_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if kind.is_dir() && !is_hidden && depth > 0 {
            hidden_files(&entry.path(), depth - 1, found);
        } else if kind.is_file() && is_hidden {
            found.push(entry.path());
        }
    }
}

fn document(path: &Path, id: Option<SkillId>, kind: Kind) -> Option<Skill> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(Skill {
        id,
        kind,
        document: File {
            name,
            shown: shown(path),
            bytes: Some(read(path)?),
        },
        bundled: Vec::new(),
    })
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let content = read_file(path, MAX_SKILL_FILES_BYTES);
    content.ok().map(|content| content.bytes)
}

fn skill_folder(file: &LoadedFile) -> Option<&Path> {
    file.folder.as_ref().and_then(|_| file.path.parent())
}

/// A path as a person names it: below the current directory without it.
fn shown(path: &Path) -> Arc<str> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let below = here
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    let path = below.as_deref().unwrap_or(path);
    path.display().to_string().into()
}
