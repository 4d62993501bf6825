//! Finds the file of one skill by its id without a walk, if the patterns determine where
//! it must be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::SkillId;

use super::content::MarkdownContent;
use super::skill::SkillFile;
use crate::file_set::FileSet;
use crate::pattern::Pattern;
use crate::reason::{display_path, io_reason, is_not_found};
use crate::scan::path_bytes;
use crate::text_file::Unserved;

/// A body; `None` if there is no such file. Fails if the system does not allow a file to
/// be read: then it is unknown whether the skill exists.
pub type BodyResult = Result<Option<Arc<str>>, String>;

impl FileSet<SkillFile> {
    /// The body of the skill that a listing has under `id`; `None` if only a walk can
    /// find it.
    pub fn lookup(&self, id: &SkillId) -> Option<BodyResult> {
        let (paths, mut problem) = self.candidates(id)?;
        for path in &paths {
            match read_body(path) {
                Ok(Some(body)) => return Some(Ok(Some(body))),
                // A listing also continues with the next file.
                Ok(None) => {}
                Err(reason) => problem = problem.or(Some(reason)),
            }
        }
        Some(problem.map_or(Ok(None), Err))
    }

    /// The files that can be the skill `id`, in the order of the listing, and the first
    /// path that could not be examined with the reason. `None` if a path contains a link.
    fn candidates(&self, id: &SkillId) -> Option<(Vec<PathBuf>, Option<String>)> {
        let (mut paths, mut problem) = (Vec::new(), None);
        if id.depth() > self.limits.depth {
            return Some((paths, problem));
        }
        let mut failed = |path: &Path, error: &io::Error| {
            if !is_not_found(error) {
                problem.get_or_insert(format!("{}: {}", display_path(path), io_reason(error)));
            }
        };
        let relative: PathBuf = format!("{id}.md").split('/').collect();
        let mut earlier: Vec<(&Pattern, PathBuf)> = Vec::new();
        for pattern in &self.patterns.valid {
            let root = match fs::canonicalize(&pattern.root) {
                Ok(root) => root,
                Err(error) => {
                    failed(&pattern.root, &error);
                    continue;
                }
            };
            let path = root.join(&relative);
            if pattern.matches(&relative) {
                match fs::canonicalize(&path) {
                    Ok(real) if real != path => return None,
                    Ok(_) => {
                        // The first pattern that matches a file gives the id.
                        let first = earlier.iter().find_map(|(pattern, root)| {
                            let relative = path.strip_prefix(root).ok()?;
                            pattern.matches(relative).then_some(relative)
                        });
                        if first.is_none_or(|first| first == relative) {
                            paths.push(path);
                        }
                    }
                    Err(_) if fs::read_link(&path).is_ok() => return None,
                    Err(error) => failed(&path, &error),
                }
            }
            earlier.push((pattern, root));
        }
        paths.sort_by(|a, b| path_bytes(a).cmp(path_bytes(b)));
        Some((paths, problem))
    }
}

/// The body of the file at a path without links; `None` if it cannot be served.
pub fn read_body(path: &Path) -> BodyResult {
    match MarkdownContent::read(path) {
        Ok(content) => Ok(content.map(|content| content.body)),
        Err(Unserved::Invalid(_)) => Ok(None),
        Err(Unserved::Unreadable(reason) | Unserved::Outage(reason)) => {
            Err(format!("{}: {reason}", display_path(path)))
        }
    }
}
