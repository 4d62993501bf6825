//! Folders that are served without a pattern: those that a person names, and the places where
//! agents keep skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{Skipped, quote};

use crate::agents::file::is_document;
use crate::pattern::{Pattern, Patterns};
use crate::reason::display_path;

/// Folders to serve after the patterns of a configuration. Of two skills with the same id, the
/// first is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Folders of skill folders, markdown and `.3md` documents, and single documents.
    pub named: Vec<PathBuf>,
    /// Folders of skill folders. They need not exist.
    pub places: Vec<PathBuf>,
}

/// Where a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Below the folder of a project.
    Project,
    /// Below the home directory of the user.
    User,
}

/// The places where agents keep skills, in the order in which they are searched.
const PLACES: &[(Scope, &str)] = &[
    (Scope::Project, ".agents/skills"),
    (Scope::Project, ".claude/skills"),
    (Scope::Project, ".codex/skills"),
    (Scope::Project, ".github/skills"),
    (Scope::Project, ".cursor/skills"),
    (Scope::Project, ".gemini/skills"),
    (Scope::Project, ".opencode/skills"),
    (Scope::Project, ".iii/skills"),
    (Scope::User, ".agents/skills"),
    (Scope::User, ".claude/skills"),
    (Scope::User, ".codex/skills"),
    (Scope::User, ".copilot/skills"),
    (Scope::User, ".cursor/skills"),
    (Scope::User, ".gemini/skills"),
    (Scope::User, ".config/agents/skills"),
    (Scope::User, ".config/opencode/skills"),
    (Scope::User, ".config/goose/skills"),
    (Scope::User, ".config/crush/skills"),
    (Scope::User, ".iii/skills"),
];

/// The places of a project and of a user, each once.
pub fn places(project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut places = Vec::with_capacity(PLACES.len());
    for (scope, path) in PLACES {
        let base = match scope {
            Scope::Project => Some(project),
            Scope::User => home,
        };
        let place = base.map(|base| {
            path.split('/')
                .fold(base.to_owned(), |at, part| at.join(part))
        });
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places
}

impl Folders {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.places.is_empty()
    }

    /// Adds the patterns of markdown skills.
    pub(crate) fn add_skills(&self, patterns: &mut Patterns) {
        let folders = self.named.iter().enumerate();
        for (at, folder) in folders.filter(|(_, path)| !is_single(path)) {
            patterns.add(folder, at + 1, Pattern::of_folder(folder, ".md"));
        }
        let places: Arc<[PathBuf]> = self.places.as_slice().into();
        for (at, place) in self.places.iter().enumerate() {
            let rank = self.named.len() + at + 1;
            patterns.add(place, rank, Pattern::of_place(place, &places));
        }
    }

    /// Adds the patterns of documents.
    pub(crate) fn add_agents(&self, patterns: &mut Patterns) {
        for (at, path) in self.named.iter().enumerate() {
            let pattern = if is_single(path) {
                Pattern::of_file(path, ".3md")
            } else {
                Pattern::of_folder(path, ".3md")
            };
            patterns.add(path, at + 1, pattern);
        }
    }
}

/// Whether a path names one document.
fn is_single(path: &Path) -> bool {
    is_document(path) && !path.is_dir()
}

impl Patterns {
    fn add(&mut self, path: &Path, rank: usize, pattern: Result<Pattern, String>) {
        match pattern {
            Ok(mut pattern) => {
                pattern.rank = rank;
                self.valid.push(pattern);
            }
            Err(reason) => self.invalid.push(Skipped {
                place: format!("folder {}", quote(&display_path(path))),
                reason,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_project_come_before_those_of_the_user() {
        let found = places(Path::new("/project"), Some(Path::new("/users/ada")));
        assert_eq!(found.len(), PLACES.len());
        assert_eq!(found[0], Path::new("/project/.agents/skills"));
        let is_user = |place: &PathBuf| place.starts_with("/users/ada");
        assert!(found.is_sorted_by_key(is_user), "{found:?}");
        let without_home = places(Path::new("/project"), None);
        assert!(!without_home.iter().any(is_user));
    }

    #[test]
    fn a_project_in_the_home_directory_has_each_place_once() {
        let home = Path::new("/users/ada");
        let mut found = places(home, Some(home));
        let all = found.len();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), all);
    }
}
