//! Which documents the patterns match, and which agent each one is.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use skills_core::{SkillId, Skipped};

use super::file::{self, DOCUMENT_MAX, ReadError};
use super::skills::{AgentSkill, AgentSkills};
use crate::markdown::changed_at;
use crate::pattern::{PatternMatches, Patterns};
use crate::scan::{Found, Limits, said_by, scan, shown};
use crate::snapshot::Snapshot;

/// The patterns, and what was made of texts that have not changed.
#[derive(Debug)]
pub struct Library {
    patterns: Patterns,
    /// By path: the text's hash, and the book it makes or the reason why it makes none. Files are
    /// read every time; only understanding them again is spared.
    known: Mutex<HashMap<PathBuf, (u64, Understood)>>,
    hash: RandomState,
}

type Understood = Result<Arc<AgentSkills>, Arc<str>>;

/// A document that is served.
#[derive(Debug)]
pub struct Entry {
    /// What it says.
    pub book: Arc<AgentSkills>,
    /// Where it is, from the root of the disk.
    pub path: PathBuf,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
}

/// Documents that are served, and what is not.
#[derive(Debug, Default)]
pub struct AgentFiles {
    /// In byte order of their paths.
    pub entries: Vec<Entry>,
    /// What is not, and why.
    pub skipped: Vec<Skipped>,
    /// How much each pattern matches.
    pub matches: Vec<PatternMatches>,
    /// Where a change could come from.
    pub folders: Vec<PathBuf>,
}

impl Library {
    /// The documents that patterns match.
    pub fn new(base: &Path, patterns: &[String]) -> Self {
        Self {
            patterns: Patterns::new(base, patterns, ".3md"),
            known: Mutex::default(),
            hash: RandomState::new(),
        }
    }

    /// Every document.
    pub fn books(&self) -> AgentFiles {
        let scan = scan(&self.patterns.good, Limits::USUAL);
        let mut books = AgentFiles {
            entries: Vec::with_capacity(scan.found.len()),
            skipped: self.patterns.bad.clone(),
            matches: scan.matches,
            folders: scan.folders,
        };
        books.skipped.extend(scan.skipped);
        // What is no longer there is not carried over.
        let mut known = HashMap::new();
        for found in scan.found {
            let Some(read) = self.read(&found.path, &mut known) else {
                continue;
            };
            books.add(found, read);
        }
        *self.known() = known;
        books
    }

    /// What is served now, to tell what changed by the next time.
    pub fn snapshot(&self) -> Snapshot {
        let books = self.books();
        let pages = books.entries.iter().flat_map(|entry| &entry.book.pages);
        let print = |page: &AgentSkill| {
            let (body, at) = (&page.body, &page.skill.registered_at);
            (page.skill.id.clone(), self.hash.hash_one((body, at)))
        };
        Snapshot::new(pages.map(print), std::iter::empty(), books.folders)
    }

    /// The body of a skill, as the listing has it.
    pub fn skill(&self, id: &SkillId) -> Option<Arc<str>> {
        let books = self.books();
        let mut pages = books.entries.iter().flat_map(|entry| &entry.book.pages);
        let page = pages.find(|page| page.skill.id == *id)?;
        Some(Arc::clone(&page.body))
    }

    /// Reads a document. None if it is gone.
    fn read(
        &self,
        path: &Path,
        keep: &mut HashMap<PathBuf, (u64, Understood)>,
    ) -> Option<Understood> {
        let read = match file::read(path) {
            Ok(read) => read,
            Err(ReadError::Unreadable { cause, .. })
                if cause.kind() == std::io::ErrorKind::NotFound =>
            {
                return None;
            }
            Err(error) => return Some(Err(why(&error).into())),
        };
        let changed_at = match changed_at(&read.metadata) {
            Ok(changed_at) => changed_at,
            Err(reason) => return Some(Err(reason.into())),
        };
        let hash = self.hash.hash_one((&read.text, &changed_at));
        let known = self.known().get(path).cloned();
        let understood = match known {
            Some((same, understood)) if same == hash => understood,
            _ if read.replaced => Err("is not UTF-8; save it as UTF-8".into()),
            _ => AgentSkills::read(&read.text, &changed_at)
                .map(Arc::new)
                .map_err(Into::into),
        };
        keep.insert(path.to_owned(), (hash, understood.clone()));
        Some(understood)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (u64, Understood)>> {
        // A std mutex: nothing awaits while it is held, and a panic leaves it usable.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentFiles {
    fn add(&mut self, found: Found, read: Understood) {
        let place = shown(&found.path);
        let skip = |reason| Skipped {
            place: place.clone(),
            reason,
        };
        let book = match read {
            Ok(book) => book,
            Err(reason) => return self.skipped.push(skip(reason.to_string())),
        };
        // Not mixed: a link of one must not lead into the other.
        let other = self.entries.iter().find(|e| e.book.agent == book.agent);
        if let Some(other) = other {
            let (agent, other) = (&book.agent, shown(&other.path));
            let reason = format!("is the agent `{agent}` that {other} is already; rename one");
            return self.skipped.push(skip(reason));
        }
        self.skipped.extend(book.skipped.iter().cloned().map(skip));
        self.entries.push(Entry {
            book,
            path: found.path,
            pattern: found.pattern,
        });
    }
}

fn why(error: &ReadError) -> String {
    match error {
        ReadError::Unreadable { cause, .. } => said_by(cause),
        ReadError::TooLarge { bytes } => {
            format!("is too large: {bytes} bytes, at most {DOCUMENT_MAX}; split it")
        }
        ReadError::Extension(_) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const DEV: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n\
        @plane z=1 label=search triggers=find\nLook.\n";

    fn library(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Library) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let library = Library::new(folder.path(), &["*".into(), "[".into()]);
        (folder, library)
    }

    fn body(library: &Library, id: &str) -> Option<Arc<str>> {
        library.skill(&id.parse().unwrap())
    }

    #[test]
    fn documents_are_read_on_every_call() {
        let (folder, library) = library(&[("a.3md", DEV.as_bytes())]);
        assert_eq!(body(&library, "dev/search").as_deref(), Some("Look."));
        assert_eq!(body(&library, "dev").as_deref(), Some("I am dev."));
        assert_eq!(body(&library, "dev/nope"), None);
        // The same length, within a tick of the clock.
        fs::write(folder.path().join("a.3md"), DEV.replace("Look", "Seek")).unwrap();
        assert_eq!(body(&library, "dev/search").as_deref(), Some("Seek."));
        let (first, again) = (library.books(), library.books());
        assert!(Arc::ptr_eq(&first.entries[0].book, &again.entries[0].book));
        fs::remove_file(folder.path().join("a.3md")).unwrap();
        assert_eq!(body(&library, "dev/search"), None);
        assert!(library.known().is_empty());
    }

    #[test]
    fn whatever_is_not_served_has_a_reason() {
        let large = vec![b'-'; DOCUMENT_MAX + 1];
        let (_folder, library) = library(&[
            ("a.3md", DEV.as_bytes()),
            ("b.3md", DEV.as_bytes()),
            ("c.3md", b"# text"),
            ("d.3md", b"\xff"),
            ("e.3md", &large),
            ("f.md", b"# markdown"),
        ]);
        let books = library.books();
        assert_eq!(books.entries.len(), 1);
        let reasons: Vec<_> = books.skipped.iter().map(|s| s.reason.as_str()).collect();
        for (at, expected) in [
            "is no valid pattern",
            "does not end in `.3md`",
            "is the agent `dev` that ",
            "is no 3md document: 1:1: ",
            "is not UTF-8",
            "is too large: 5242881 bytes, at most 5242880",
        ]
        .iter()
        .enumerate()
        {
            assert!(reasons[at].contains(expected), "{at}: {reasons:#?}");
        }
        assert_eq!(reasons.len(), 6);
    }
}
