//! Skills in hidden folders, which a folder that is served whole leaves out: they are reported, so
//! that nothing disappears.

use std::fs::{self, DirEntry, FileType};
use std::path::{Path, PathBuf};

use skills_core::{SKILL_MD, Skipped};

use super::walk::Walk;
use super::{Scan, SkillMd};
use crate::limits::{HIDDEN_DEPTH_MAX, HIDDEN_ENTRIES_MAX};
use crate::pattern::{Pattern, PatternOrigin};
use crate::reason::display_path;

/// A hidden folder with skills.
#[derive(Debug)]
pub struct HiddenSkills {
    /// The folder.
    path: PathBuf,
    /// The folder in it to serve instead.
    skills: PathBuf,
}

impl Walk<'_> {
    /// Looks for skills in a name that the walk leaves out, if it is a hidden folder.
    pub(super) fn hidden(&mut self, entry: &DirEntry, kind: FileType) {
        let name = entry.file_name();
        let is_searched = kind.is_dir()
            && self.skill_md == SkillMd::Folder
            && self.pattern.origin == PatternOrigin::Folder
            && name.as_encoded_bytes().starts_with(b".")
            && name != ".git";
        if !is_searched {
            return;
        }
        let path = entry.path();
        let found = find_skill(&path, HIDDEN_DEPTH_MAX, &mut HIDDEN_ENTRIES_MAX.clone());
        if let Some(skill) = found {
            // The folder of the first skill has others beside it, unless it is the hidden one.
            let parent = skill.parent().filter(|_| skill != path);
            let skills = parent.unwrap_or(&path).to_owned();
            self.scan.hidden.push(HiddenSkills { path, skills });
        }
    }
}

/// The first folder with a `SKILL.md`, in a folder or below. Links are not followed.
fn find_skill(folder: &Path, depth: usize, remaining: &mut usize) -> Option<PathBuf> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        *remaining = remaining.checked_sub(1)?;
        if entry.file_name() == SKILL_MD {
            return Some(folder.to_owned());
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 && entry.file_name() != "node_modules" {
            folders.push(entry.path());
        }
    }
    folders.sort();
    let mut folders = folders.iter();
    folders.find_map(|folder| find_skill(folder, depth - 1, remaining))
}

impl Scan {
    /// Reports hidden folders with skills, unless a pattern starts in them.
    pub(super) fn report_hidden(&mut self, patterns: &[Pattern]) {
        if self.hidden.is_empty() {
            return;
        }
        let roots = patterns
            .iter()
            .filter_map(|it| fs::canonicalize(&it.root).ok());
        let roots: Vec<_> = roots.collect();
        let mut hidden = std::mem::take(&mut self.hidden);
        hidden.sort_by(|a, b| a.path.cmp(&b.path));
        for HiddenSkills { path, skills } in hidden {
            let path = fs::canonicalize(&path).unwrap_or(path);
            if roots.iter().any(|root| root.starts_with(&path)) {
                continue;
            }
            self.skipped.push(Skipped {
                place: display_path(&path),
                reason: format!(
                    "is a hidden folder with skills, which are not served; name the folder {} \
                     itself to serve them",
                    display_path(&skills)
                ),
            });
        }
    }
}
