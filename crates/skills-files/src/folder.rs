//! The markdown files below one folder that a person named, by the rules of the patterns: links
//! are followed inside the folder only, and a `SKILL.md` stands for its folder.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use skills_core::{SKILL_MD, SkillId, Skipped};

use crate::markdown::{file_id, folder_id};
use crate::pattern::Pattern;
use crate::read_file::{FileContent, ReadFileError, read_unlinked_file};
use crate::reason::display_path;
use crate::scan::{FoundFile, FoundFolder, Limits, SkillMd, scan};

/// The files of a folder, and what is left out.
#[derive(Debug, Default)]
pub struct MarkdownFolder {
    /// The files, in byte order of their paths.
    pub files: Vec<MarkdownFile>,
    /// What cannot be read, by its path below the folder.
    pub skipped: Vec<Skipped>,
}

/// A file below a folder.
#[derive(Debug)]
pub struct MarkdownFile {
    /// Its path below the folder, with `/` on every platform.
    pub name: String,
    /// The id it has as a skill, or why its path is not one.
    pub id: Result<SkillId, String>,
    real_path: PathBuf,
}

impl MarkdownFolder {
    /// Finds the files that end in `.md`. Hidden files and folders and
    /// `node_modules` are left out. Fails if the
    /// folder cannot be listed.
    pub fn find(folder: &Path) -> io::Result<Self> {
        // The walk reports a folder that cannot be read; here it is an error.
        drop(folder.read_dir()?);
        let root = display_path(&folder.canonicalize()?);
        let found = Pattern::of_folder(folder, ".md")
            .and_then(|pattern| scan(&[pattern], Limits::DEFAULT, SkillMd::Folder))
            .map_err(io::Error::other)?;
        let below = |skipped: Skipped| Skipped {
            place: match skipped.place.strip_prefix(&root) {
                Some(name) => name.trim_start_matches(std::path::is_separator).to_owned(),
                None => skipped.place,
            },
            reason: skipped.reason,
        };
        let mut folder = Self {
            files: Vec::with_capacity(found.found.len()),
            skipped: found.skipped.into_iter().map(below).collect(),
        };
        let is_skill = |found: &FoundFile| found.folder.as_ref().map(|f| f.id_path.clone());
        let skills: HashSet<_> = found.found.iter().filter_map(is_skill).collect();
        for mut found in found.found {
            match found.folder.take() {
                Some(skill) => folder.add_skill_folder(&found, &skill, &skills),
                None => folder.files.push(MarkdownFile {
                    name: slashed(&found.relative),
                    id: file_id(&found.relative),
                    real_path: found.target.unwrap_or(found.path),
                }),
            }
        }
        Ok(folder)
    }

    /// Adds the `SKILL.md` of a folder, and its markdown as skills below. Other files are left
    /// out. `skills`: the id paths of all skill folders.
    fn add_skill_folder(
        &mut self,
        found: &FoundFile,
        folder: &FoundFolder,
        skills: &HashSet<String>,
    ) {
        let skill_md = slashed(&found.relative);
        let name = |path: &str| match skill_md.strip_suffix(SKILL_MD) {
            Some(folder) => format!("{folder}{path}"),
            None => path.to_owned(),
        };
        self.files.push(MarkdownFile {
            id: folder_id(&folder.id_path).map(|(id, _)| id),
            real_path: found.real_path().to_owned(),
            name: name(SKILL_MD),
        });
        let members = match &folder.members {
            Ok(members) => members,
            Err(reason) => {
                return self.skipped.push(Skipped {
                    place: skill_md.clone(),
                    reason: reason.clone(),
                });
            }
        };
        for member in members {
            let path = member.path.as_str();
            // The files of a skill below are added with that one.
            let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
            let is_other = above.any(|part| skills.contains(&format!("{}/{part}", folder.id_path)));
            if path == SKILL_MD || is_other {
                continue;
            }
            match path.strip_suffix(".md") {
                Some(stem) => self.files.push(MarkdownFile {
                    name: name(path),
                    id: folder_id(&format!("{}/{stem}", folder.id_path)).map(|(id, _)| id),
                    real_path: folder.real_path_of(member),
                }),
                None => self.skipped.push(Skipped {
                    place: name(path),
                    reason: "is not markdown; a registered skill has no other files".into(),
                }),
            }
        }
    }
}

/// A path with `/` on every platform.
fn slashed(path: &Path) -> String {
    let parts = path.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

impl MarkdownFile {
    /// Reads it, at most `limit` bytes.
    pub fn read(&self, limit: usize) -> Result<FileContent, ReadFileError> {
        read_unlinked_file(&self.real_path, limit)
    }
}
