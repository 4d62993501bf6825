//! Reading one skill: from its id to its file with one open, and without a walk
//! wherever its patterns tell where it must be.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::SkillId;

use super::document::{self, Unserved, is_gone};
use super::library::Library;
use crate::pattern::Pattern;
use crate::scan::{bytes, said_by, shown};

/// A body; none if there is no such document. Fails where the system would not let us
/// read it, which is not the same as its not being there.
pub type Read = Result<Option<Arc<str>>, String>;

/// Where a skill can be.
struct Places {
    /// In the order of the listing.
    paths: Vec<PathBuf>,
    /// What could not be looked at.
    problem: Option<String>,
}

impl Library {
    /// The body of a skill, as the listing has it. None where only a walk tells.
    pub fn skill(&self, id: &SkillId) -> Option<Read> {
        let Places { paths, mut problem } = self.places(id)?;
        for path in &paths {
            match body(path) {
                Ok(Some(body)) => return Some(Ok(Some(body))),
                // The listing goes on to the next as well.
                Ok(None) => {}
                Err(said) => problem = problem.or(Some(said)),
            }
        }
        Some(problem.map_or(Ok(None), Err))
    }

    /// The files that can be the skill `id`. None where a link is on the way.
    fn places(&self, id: &SkillId) -> Option<Places> {
        let (mut paths, mut problem) = (Vec::new(), None);
        if id.depth() > self.limits.depth {
            return Some(Places { paths, problem });
        }
        let mut missing = |path: &Path, error: &io::Error| {
            if !is_gone(error) {
                problem.get_or_insert(format!("{}: {}", shown(path), said_by(error)));
            }
        };
        let relative: PathBuf = format!("{id}.md").split('/').collect();
        let mut roots = Vec::with_capacity(self.skills.good.len());
        for pattern in &self.skills.good {
            let root = match fs::canonicalize(&pattern.root) {
                Ok(root) => root,
                Err(error) => {
                    missing(&pattern.root, &error);
                    continue;
                }
            };
            let path = root.join(&relative);
            if pattern.matches(&relative) {
                match fs::canonicalize(&path) {
                    Ok(real) if real != path => return None,
                    Ok(_) => {
                        // Of two patterns that match a file the first gives the id.
                        let first = roots.iter().find_map(|(earlier, root)| {
                            let earlier: &&Pattern = earlier;
                            path.strip_prefix(root).ok().filter(|r| earlier.matches(r))
                        });
                        if first.is_none_or(|first| first == relative) {
                            paths.push(path);
                        }
                    }
                    Err(_) if fs::read_link(&path).is_ok() => return None,
                    Err(error) => missing(&path, &error),
                }
            }
            roots.push((pattern, root));
        }
        paths.sort_by(|a, b| bytes(a).cmp(bytes(b)));
        Some(Places { paths, problem })
    }
}

/// The body of the file at a path.
pub fn body(path: &Path) -> Read {
    match document::read(path) {
        Ok(document) => Ok(document.map(|document| document.body)),
        Err(Unserved::Unfit(_)) => Ok(None),
        Err(Unserved::Unread(reason)) => Err(format!("{}: {reason}", shown(path))),
    }
}
