//! Finds the file of one skill by its id without a walk, if the patterns determine where
//! it must be.

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{SKILL_MD, SkillId, VisibilityRules};

use super::content::{MarkdownContent, Needs};
use super::skill::{SkillFile, id_segment};
use crate::file_set::FileSet;
use crate::pattern::Pattern;
use crate::reason::{display_path, io_reason, is_not_found};
use crate::scan::{FoundFolder, path_bytes, scan_skill_folder};
use crate::text_file::Unserved;

/// A body; `None` if there is no such file. Fails if the system does not allow a file to
/// be read: then it is unknown whether the skill exists.
pub type BodyResult = Result<Option<Arc<str>>, String>;

/// The same with the path of the file.
pub type FoundBodyResult = Result<Option<(PathBuf, Arc<str>)>, String>;

/// A file that can be the skill with an id.
struct Candidate<'a> {
    path: PathBuf,
    pattern: &'a Pattern,
    /// The root of the pattern without links.
    root: PathBuf,
    /// The folder, if the file is a `SKILL.md`: its path below the root.
    folder: Option<PathBuf>,
}

impl Candidate<'_> {
    /// The order of a listing.
    fn cmp(&self, other: &Self) -> Ordering {
        let paths = || path_bytes(&self.path).cmp(path_bytes(&other.path));
        self.pattern.rank.cmp(&other.pattern.rank).then_with(paths)
    }
}

/// Where a skill is.
pub enum SkillPlace {
    Folder(FoundFolder),
    /// A file that is no `SKILL.md`: its path without links.
    File(PathBuf),
}

/// A file that is served, and its body.
type Served<'a> = (Candidate<'a>, Arc<str>);

/// The files that can be one skill, in the order of the listing.
#[derive(Default)]
struct Candidates<'a> {
    found: Vec<Candidate<'a>>,
    /// The first path that could not be examined, with the reason.
    problem: Option<String>,
}

/// Only a walk can find the skill.
struct NeedsWalk;

impl FileSet<SkillFile> {
    /// The body of the skill that a listing has under `id`; `None` if only a walk can
    /// find it.
    pub fn lookup(&self, id: &SkillId, rules: &VisibilityRules) -> Option<FoundBodyResult> {
        let found = self.first_served(id, rules)?;
        Some(found.map(|found| found.map(|(candidate, body)| (candidate.path, body))))
    }

    /// Where the skill is that a listing has under `id`; `None` if only a walk can find it.
    /// Fails like [`Self::lookup`].
    pub fn lookup_place(
        &self,
        id: &SkillId,
        rules: &VisibilityRules,
    ) -> Option<Result<Option<SkillPlace>, String>> {
        let place = |candidate: Candidate<'_>| {
            let Candidate { pattern, root, .. } = &candidate;
            let Some(folder) = &candidate.folder else {
                return Ok(Some(SkillPlace::File(candidate.path)));
            };
            let found = scan_skill_folder(pattern, root, folder, self.limits)?;
            Ok(found.map(SkillPlace::Folder))
        };
        Some(match self.first_served(id, rules)? {
            Ok(Some((candidate, _))) => place(candidate),
            Ok(None) => Ok(None),
            Err(problem) => Err(problem),
        })
    }

    /// The first file that can be served, with its body.
    fn first_served(
        &self,
        id: &SkillId,
        rules: &VisibilityRules,
    ) -> Option<Result<Option<Served<'_>>, String>> {
        let mut problem = None;
        // A folder of this very name comes before one that is served under another name.
        for find in [Self::exact_candidates, Self::renamed_candidates] {
            let candidates = find(self, id).ok()?;
            problem = problem.or(candidates.problem);
            for candidate in candidates.found {
                match read_content(&candidate.path, candidate.folder.is_some()) {
                    Ok(Some(content)) => {
                        let front_matter = content.front_matter.as_ref();
                        let declared = front_matter.and_then(|f| f.visibility().ok()?);
                        let is_served = rules.visibility(id, declared).is_served();
                        return Some(Ok(is_served.then_some((candidate, content.body))));
                    }
                    // A listing also continues with the next file.
                    Ok(None) => {}
                    Err(reason) => problem = problem.or(Some(reason)),
                }
            }
        }
        Some(problem.map_or(Ok(None), Err))
    }

    /// The files whose path is the id.
    fn exact_candidates(&self, id: &SkillId) -> Result<Candidates<'_>, NeedsWalk> {
        let mut candidates = Candidates::default();
        if id.depth() > self.limits.depth {
            return Ok(candidates);
        }
        let file: PathBuf = format!("{id}.md").split('/').collect();
        let folder: PathBuf = id.as_str().split('/').collect();
        let mut earlier: Vec<(&Pattern, PathBuf)> = Vec::new();
        for pattern in &self.patterns.valid {
            let root = match fs::canonicalize(&pattern.root) {
                Ok(root) => root,
                Err(error) => {
                    candidates.failed(&pattern.root, &error);
                    continue;
                }
            };
            // The ids below a root that is a skill itself begin with its name.
            if is_skill_folder(pattern, &root, Path::new(""))? {
                return Err(NeedsWalk);
            }
            for (relative, folder) in [
                (file.clone(), None),
                (folder.join(SKILL_MD), Some(folder.clone())),
            ] {
                let path = root.join(&relative);
                let is_left_out = || relative.iter().any(|name| pattern.leaves_out(name));
                if !pattern.matches(&relative) || is_left_out() {
                    continue;
                }
                match fs::canonicalize(&path) {
                    Ok(real) if real != path => return Err(NeedsWalk),
                    Ok(_) => {
                        // The first pattern that matches a file gives the id.
                        let first = earlier.iter().find_map(|(pattern, root)| {
                            let relative = path.strip_prefix(root).ok()?;
                            pattern.matches(relative).then_some(relative)
                        });
                        let is_own = first.is_none_or(|first| first == relative);
                        // Markdown in the folder of a skill is not a skill.
                        if is_own && (folder.is_some() || !in_skill(pattern, &root, &relative)?) {
                            let root = root.clone();
                            candidates.found.push(Candidate {
                                path,
                                pattern,
                                root,
                                folder,
                            });
                        }
                    }
                    Err(_) if fs::read_link(&path).is_ok() => return Err(NeedsWalk),
                    Err(error) => candidates.failed(&path, &error),
                }
            }
            earlier.push((pattern, root));
        }
        let found = &mut candidates.found;
        found.sort_by(Candidate::cmp);
        Ok(candidates)
    }

    /// The skill folders whose path becomes the id.
    fn renamed_candidates(&self, id: &SkillId) -> Result<Candidates<'_>, NeedsWalk> {
        let mut candidates = Candidates::default();
        let patterns = self.patterns.valid.iter();
        for pattern in patterns.filter(|pattern| pattern.may_match(SKILL_MD.as_ref())) {
            let Ok(root) = fs::canonicalize(&pattern.root) else {
                continue;
            };
            for folder in folders_named(&root, id)? {
                let relative = folder.join(SKILL_MD);
                let path = root.join(&relative);
                let is_left_out = relative.iter().any(|name| pattern.leaves_out(name));
                if pattern.matches(&relative) && !is_left_out && path.is_file() {
                    let root = root.clone();
                    candidates.found.push(Candidate {
                        path,
                        pattern,
                        root,
                        folder: Some(folder),
                    });
                }
            }
        }
        let found = &mut candidates.found;
        found.sort_by(Candidate::cmp);
        Ok(candidates)
    }
}

impl Candidates<'_> {
    fn failed(&mut self, path: &Path, error: &io::Error) {
        if !is_not_found(error) {
            let problem = || format!("{}: {}", display_path(path), io_reason(error));
            self.problem.get_or_insert_with(problem);
        }
    }
}

/// Whether a folder has a `SKILL.md` that makes it a skill.
fn is_skill_folder(pattern: &Pattern, root: &Path, relative: &Path) -> Result<bool, NeedsWalk> {
    let relative = relative.join(SKILL_MD);
    if !pattern.matches(&relative) {
        return Ok(false);
    }
    match fs::symlink_metadata(root.join(relative)) {
        Ok(metadata) if metadata.is_symlink() => Err(NeedsWalk),
        Ok(metadata) => Ok(metadata.is_file()),
        Err(_) => Ok(false),
    }
}

/// Whether a file is in the folder of a skill.
fn in_skill(pattern: &Pattern, root: &Path, relative: &Path) -> Result<bool, NeedsWalk> {
    for folder in relative.ancestors().skip(1) {
        if is_skill_folder(pattern, root, folder)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The folders below a root whose names become the segments of an id.
fn folders_named(root: &Path, id: &SkillId) -> Result<Vec<PathBuf>, NeedsWalk> {
    let mut folders = vec![PathBuf::new()];
    for segment in id.as_str().split('/') {
        let mut next = Vec::new();
        for folder in folders {
            let Ok(entries) = fs::read_dir(root.join(&folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                if name.to_str().map(id_segment).as_deref() != Some(segment) {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => return Err(NeedsWalk),
                    Ok(kind) if kind.is_dir() => next.push(folder.join(name)),
                    _ => {}
                }
            }
        }
        folders = next;
    }
    let exact: PathBuf = id.as_str().split('/').collect();
    folders.retain(|folder| *folder != exact);
    Ok(folders)
}

/// The body of the skill whose file, in a folder the `SKILL.md`, is at a path without links;
/// `None` if it cannot be served.
pub fn read_body(path: &Path, is_folder: bool) -> BodyResult {
    Ok(read_content(path, is_folder)?.map(|content| content.body))
}

fn read_content(path: &Path, is_folder: bool) -> Result<Option<MarkdownContent>, String> {
    match MarkdownContent::read(path, Needs::of_skill(is_folder)) {
        Ok(content) => Ok(content),
        Err(Unserved::Invalid(_)) => Ok(None),
        Err(Unserved::Unreadable(reason) | Unserved::Outage(reason)) => {
            Err(format!("{}: {reason}", display_path(path)))
        }
    }
}
