//! The files that the patterns of one setting match, parsed, each name served once.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use skills_core::{Error, Skipped};

use crate::blocking::run_blocking;
use crate::cache::Cache;
use crate::pattern::{PatternMatches, Patterns};
use crate::reason::display_path;
use crate::scan::{FoundFile, FoundFolder, Limits, SkillMd, scan};
use crate::singleflight::Singleflight;
use crate::text_file::Unserved;

/// What one file of a set is parsed to.
pub trait FileEntry: Clone + Debug + Send + Sync + 'static {
    /// How the names of the files end.
    const SUFFIX: &'static str;
    /// What a listing reads, completing "could not ...".
    const LISTING: &'static str;
    /// What no two files of a set may have in common.
    type Name: Clone + Eq + Hash;

    /// What a `SKILL.md` is.
    const SKILL_MD: SkillMd = SkillMd::File;

    /// Reads and parses a file; `None` if it does not exist any more. `earlier` is what was
    /// parsed from it before its last change.
    fn read(found: &FoundFile, earlier: Option<&Self>) -> Result<Option<Self>, Unserved>;

    /// Changes what depends on other files than the one that was parsed.
    fn update(&mut self, _found: &FoundFile) {}

    /// The name of the entry.
    fn name(&self) -> &Self::Name;

    /// The reason to skip this file when the file at `first` has the same name.
    fn duplicate_reason(&self, first: &str) -> String;

    /// Reasons why parts of the file are not served.
    fn skipped_parts(&self) -> &[String] {
        &[]
    }
}

/// Patterns, and what was parsed from files that have not changed since.
#[derive(Debug)]
pub struct FileSet<E: FileEntry> {
    pub patterns: Patterns,
    pub limits: Limits,
    pub cache: Cache<E>,
    listings: Singleflight<ParsedFiles<E>>,
    walks: AtomicUsize,
}

/// A file that is served.
#[derive(Clone, Debug)]
pub struct ParsedFile<E> {
    /// What it holds.
    pub entry: E,
    /// Its absolute path.
    pub path: PathBuf,
    /// The path that it leads to, if there is a link on the way.
    target: Option<PathBuf>,
    /// The pattern that matches it.
    pub pattern: Arc<str>,
    /// The folder that it makes a skill.
    pub folder: Option<Box<FoundFolder>>,
}

/// The result of one walk.
#[derive(Clone, Debug)]
pub struct ParsedFiles<E> {
    /// Files that are served, in byte order of their paths.
    pub files: Vec<ParsedFile<E>>,
    /// What is not served, with the reason.
    pub skipped: Vec<Skipped>,
    /// How much each pattern matches.
    pub matches: Vec<PatternMatches>,
    /// The folders to watch: those that were read, and roots that do not exist yet.
    pub folders: Vec<PathBuf>,
    /// A time before the walk.
    pub started: SystemTime,
}

impl<E: FileEntry> FileSet<E> {
    /// The files that these patterns match.
    pub fn new(patterns: Patterns) -> Self {
        Self {
            patterns,
            limits: Limits::DEFAULT,
            cache: Cache::default(),
            listings: Singleflight::default(),
            walks: AtomicUsize::new(0),
        }
    }

    /// Every file. Concurrent callers share a walk that starts after their calls.
    pub async fn list(self: &Arc<Self>) -> Result<Arc<ParsedFiles<E>>, Error> {
        if self.patterns.valid.is_empty() {
            return self.walk().map(Arc::new);
        }
        let walk = async || run_blocking(self, E::LISTING, Self::walk).await?;
        self.listings.run(walk).await
    }

    /// How often a pattern was walked.
    pub fn walks(&self) -> usize {
        self.walks.load(Ordering::Relaxed)
    }

    /// Walks, parses what changed, and gives each name to the first file that has it. Fails
    /// if the system does not say which files there are, or does not let any be read.
    pub fn walk(&self) -> Result<ParsedFiles<E>, Error> {
        self.try_walk().map_err(|problem| Error::Source {
            doing: E::LISTING.into(),
            problem,
        })
    }

    /// Fails with a path and a reason.
    fn try_walk(&self) -> Result<ParsedFiles<E>, String> {
        let patterns = self.patterns.valid.len();
        self.walks.fetch_add(patterns, Ordering::Relaxed);
        let started = SystemTime::now();
        let scan = scan(&self.patterns.valid, self.limits, E::SKILL_MD)?;
        let mut pass = self.cache.pass(started);
        let mut skipped = self.patterns.invalid.clone();
        skipped.extend(scan.skipped);
        let mut files: Vec<ParsedFile<E>> = Vec::with_capacity(scan.found.len());
        let mut names: HashMap<E::Name, usize> = HashMap::with_capacity(scan.found.len());
        for found in scan.found {
            let mut skip = |reason| {
                let place = display_path(&found.path);
                skipped.push(Skipped { place, reason });
            };
            let update = |entry: &mut E| entry.update(&found);
            let read = |earlier: Option<&E>| E::read(&found, earlier);
            let entry = match pass.get_or_read(&found, update, read) {
                Ok(Some(entry)) => entry,
                // Deleted since the walk.
                Ok(None) => continue,
                Err(Unserved::Outage(reason)) => {
                    return Err(format!("{}: {reason}", display_path(&found.path)));
                }
                Err(unserved) => {
                    skip(unserved.reason());
                    continue;
                }
            };
            if let Some(&first) = names.get(entry.name()) {
                skip(entry.duplicate_reason(&display_path(&files[first].path)));
                continue;
            }
            names.insert(entry.name().clone(), files.len());
            entry.skipped_parts().iter().cloned().for_each(skip);
            files.push(ParsedFile {
                entry,
                path: found.path,
                target: found.target,
                pattern: found.pattern,
                folder: found.folder,
            });
        }
        Ok(ParsedFiles {
            files,
            skipped,
            matches: scan.matches,
            folders: scan.folders,
            started,
        })
    }
}

impl<E> ParsedFile<E> {
    /// The path to open: none of its parts was a link when the file was found.
    pub fn real_path(&self) -> &Path {
        self.target.as_deref().unwrap_or(&self.path)
    }
}

impl<E> ParsedFiles<E> {
    /// What the served files hold.
    pub fn entries(&self) -> impl Iterator<Item = &E> {
        self.files.iter().map(|file| &file.entry)
    }
}
