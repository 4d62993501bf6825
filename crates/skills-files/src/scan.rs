//! Walks folders to find the files that patterns match. Reads no file.

use std::collections::HashSet;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::Skipped;

use crate::limits::{SCAN_DEPTH_MAX, SCAN_ENTRIES_MAX, SCAN_REPORTS_MAX};
use crate::pattern::{Pattern, PatternMatches};
use crate::reason::{
    NOT_A_FILE, broken_link_reason, display_path, io_reason, is_denied, is_outage,
};
use crate::stamp::Stamp;

/// Where a walk stops: a pattern such as `/**` must not take forever.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files and folders visited, per pattern.
    pub entries: usize,
    /// Folders inside folders.
    pub depth: usize,
    /// Reports per pattern; the rest is counted.
    pub reports: usize,
}

impl Limits {
    /// The limits outside tests.
    pub const DEFAULT: Self = Self {
        entries: SCAN_ENTRIES_MAX,
        depth: SCAN_DEPTH_MAX,
        reports: SCAN_REPORTS_MAX,
    };
}

/// The reason given for a pattern that matches nothing.
pub const NO_MATCH: &str = "matches no file";

/// A file that some pattern matches.
#[derive(Debug)]
pub struct FoundFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its path below the root of the first pattern that matches it.
    pub relative: PathBuf,
    /// The path that [`Self::path`] leads to, if there is a link on the way.
    pub target: Option<PathBuf>,
    /// That pattern, as it was written.
    pub pattern: Arc<str>,
    /// Its stamp during the walk.
    pub stamp: Stamp,
}

impl FoundFile {
    /// The path to open: none of its parts was a link when the file was found.
    pub fn real_path(&self) -> &Path {
        self.target.as_deref().unwrap_or(&self.path)
    }
}

/// What the patterns match.
#[derive(Debug, Default)]
pub struct Scan {
    /// How much each pattern matches, in their order.
    pub matches: Vec<PatternMatches>,
    /// Files with the suffix of the patterns, in byte order of their paths, each once.
    pub found: Vec<FoundFile>,
    /// What matches and cannot be served.
    pub skipped: Vec<Skipped>,
    /// Folders where a match could appear, including roots that do not exist yet.
    pub folders: Vec<PathBuf>,
}

/// Walks the folders of every pattern. Fails with the path and the reason if the system
/// could not tell which files there are: that is not the same as no files.
pub fn scan(patterns: &[Pattern], limits: Limits) -> Result<Scan, String> {
    let mut walks = patterns.iter().map(|pattern| walk(pattern, limits));
    let mut scan = walks.next().transpose()?.unwrap_or_default();
    for later in walks {
        scan.add(later?);
    }
    scan.found
        .sort_by(|a, b| path_bytes(&a.path).cmp(path_bytes(&b.path)));
    Ok(scan)
}

impl Scan {
    /// Adds what no earlier pattern matches: the first pattern gives the id.
    fn add(&mut self, later: Self) {
        let seen: HashSet<&Path> = self.found.iter().map(|found| &*found.path).collect();
        let all = later.found.len();
        let is_new = |found: &FoundFile| !seen.contains(&*found.path);
        let new: Vec<_> = later.found.into_iter().filter(is_new).collect();
        let earlier = all - new.len();
        let matches = later.matches.into_iter();
        self.matches
            .extend(matches.map(|matches| PatternMatches { earlier, ..matches }));
        self.found.extend(new);
        for skipped in later.skipped {
            if !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
        self.folders.extend(later.folders);
    }
}

fn walk(pattern: &Pattern, limits: Limits) -> Result<Scan, String> {
    let mut walk = Walk {
        pattern,
        root: PathBuf::new(),
        limits,
        remaining: limits.entries,
        matched: false,
        files: 0,
        unreported: 0,
        failure: None,
        scan: Scan::default(),
    };
    match fs::canonicalize(&pattern.root) {
        Ok(root) => {
            walk.root.clone_from(&root);
            match &pattern.literal {
                Some(name) => walk.literal(Path::new(name)),
                None => walk.folder(Path::new(""), &mut vec![root]),
            }
        }
        Err(error) => walk.missing_root(&error),
    }
    walk.finish()
}

struct Walk<'a> {
    pattern: &'a Pattern,
    /// The root with its links resolved.
    root: PathBuf,
    limits: Limits,
    remaining: usize,
    /// Whether the pattern has a match or a report.
    matched: bool,
    files: usize,
    unreported: usize,
    /// Why the walk was given up: a path and a reason.
    failure: Option<String>,
    scan: Scan,
}

impl Walk<'_> {
    fn finish(mut self) -> Result<Scan, String> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.unreported > 0 {
            self.skip_pattern(format!(
                "matches {} more files that cannot be served; make it narrower",
                self.unreported
            ));
        }
        if self.remaining == 0 {
            self.skip_pattern(format!(
                "was given up after {} files and folders; make it narrower",
                self.limits.entries
            ));
        } else if !self.matched {
            self.skip_pattern(NO_MATCH.to_owned());
        }
        self.scan.matches.push(PatternMatches {
            pattern: Arc::clone(&self.pattern.text),
            files: self.files,
            earlier: 0,
        });
        Ok(self.scan)
    }

    fn missing_root(&mut self, error: &io::Error) {
        let root = &self.pattern.root;
        if is_outage(error) || is_denied(error) {
            return self.fail(&root.clone(), error);
        }
        let folder = root.display();
        let reason = if error.kind() == io::ErrorKind::NotFound {
            format!("matches no file: there is no folder {folder}")
        } else {
            format!("matches no file: {folder}: {}", io_reason(error))
        };
        self.scan.folders.push(root.clone());
        self.skip_pattern(reason);
    }

    fn literal(&mut self, name: &Path) {
        self.scan.folders.push(self.root.clone());
        let path = self.root.join(name);
        let metadata = fs::symlink_metadata(&path);
        let kind = metadata.as_ref().map(Metadata::file_type);
        let (name, chain) = (name.to_owned(), &mut vec![self.root.clone()]);
        match kind {
            Ok(kind) => self.entry(path, name, kind, || metadata, chain),
            // The root may not be searched.
            Err(error) if is_denied(error) => self.fail(&self.root.clone(), error),
            Err(error) => self.skip_unreadable(&name, error),
        }
    }

    /// `chain`: the real paths of the folders on the way, to detect cycles of links.
    fn folder(&mut self, relative: &Path, chain: &mut Vec<PathBuf>) {
        let path = self.root.join(relative);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => return self.skip_unreadable(relative, &error),
        };
        self.scan.folders.push(path);
        for entry in entries {
            let Some(remaining) = self.remaining.checked_sub(1).filter(|left| *left > 0) else {
                self.remaining = 0;
                return;
            };
            self.remaining = remaining;
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => {
                    let name = entry.file_name();
                    if kind.is_file() && !self.pattern.may_match(&name) {
                        continue;
                    }
                    if self.pattern.is_folder && name.as_encoded_bytes().starts_with(b".") {
                        continue;
                    }
                    let (path, relative) = (entry.path(), relative.join(name));
                    self.entry(path, relative, kind, || entry.metadata(), chain);
                }
                Err(error) => self.skip_unreadable(relative, &error),
            }
        }
    }

    fn entry(
        &mut self,
        path: PathBuf,
        relative: PathBuf,
        kind: FileType,
        metadata: impl FnOnce() -> io::Result<Metadata>,
        chain: &mut Vec<PathBuf>,
    ) {
        if kind.is_symlink() {
            self.link(path, relative, chain);
        } else if kind.is_dir() {
            let parent = chain.last().unwrap_or(&self.root);
            let real = parent.join(relative.file_name().unwrap_or_default());
            self.enter(&relative, real, chain);
        } else if self.pattern.matches(&relative) {
            let parent = chain.last().unwrap_or(&self.root);
            let is_linked = path.parent().map(Path::as_os_str) != Some(parent.as_os_str());
            let target = is_linked.then(|| parent.join(path.file_name().unwrap_or_default()));
            match metadata() {
                Ok(metadata) => self.file(path, relative, target, &metadata),
                Err(error) => self.skip_unreadable(&relative, &error),
            }
        }
    }

    fn link(&mut self, path: PathBuf, relative: PathBuf, chain: &mut Vec<PathBuf>) {
        let as_folder = self.pattern.may_match_below(&relative);
        let as_file = self.pattern.matches(&relative);
        if !as_folder && !as_file {
            return;
        }
        let target = fs::canonicalize(&path).and_then(|real| Ok((fs::metadata(&real)?, real)));
        let (metadata, real) = match target {
            Ok(target) => target,
            Err(error) if is_outage(&error) => return self.fail(&path, &error),
            Err(error) => return self.skip(&relative, broken_link_reason(&path, &error)),
        };
        let is_folder = metadata.is_dir();
        if !(if is_folder { as_folder } else { as_file }) {
            return;
        }
        if !real.starts_with(&self.root) {
            let (real, root) = (display_path(&real), display_path(&self.root));
            let reason = format!(
                "is a link to {real}, outside {root}; add a pattern for that place instead"
            );
            self.skip(&relative, reason);
        } else if !is_folder {
            // A change of the target changes this file.
            self.scan
                .folders
                .extend(real.parent().map(Path::to_path_buf));
            self.file(path, relative, Some(real), &metadata);
        } else if chain.contains(&real) {
            self.skip(&relative, "is a link to a folder it lies in; remove it");
        } else {
            self.enter(&relative, real, chain);
        }
    }

    fn enter(&mut self, relative: &Path, real: PathBuf, chain: &mut Vec<PathBuf>) {
        let named = self.has_suffix(relative) && self.pattern.matches(relative);
        if (named && !self.pattern.is_folder) || self.pattern.literal.is_some() {
            let (at, suffix) = (self.root.join(relative), self.pattern.suffix);
            let at = at.display();
            let reason = format!("is a folder; write `{at}/**/*{suffix}` for the files in it");
            self.skip(relative, reason);
        }
        if !self.pattern.may_match_below(relative) {
            return;
        }
        if chain.len() > self.limits.depth {
            let depth = self.limits.depth;
            let reason = format!("is {depth} folders deep and not entered; move it up");
            return self.skip(relative, reason);
        }
        chain.push(real);
        self.folder(relative, chain);
        chain.pop();
    }

    fn file(
        &mut self,
        path: PathBuf,
        relative: PathBuf,
        target: Option<PathBuf>,
        metadata: &Metadata,
    ) {
        self.files += 1;
        if !metadata.is_file() {
            self.skip(&relative, NOT_A_FILE);
        } else if relative.to_str().is_none() {
            self.skip(&relative, "has a name that is not UTF-8; rename it");
        } else if !self.has_suffix(&relative) {
            let suffix = self.pattern.suffix;
            let reason =
                format!("does not end in `{suffix}`; rename it or make the pattern narrower");
            self.skip(&relative, reason);
        } else {
            self.matched = true;
            self.scan.found.push(FoundFile {
                path,
                relative,
                target,
                pattern: Arc::clone(&self.pattern.text),
                stamp: Stamp::of(metadata),
            });
        }
    }

    /// Case sensitive: the rest of the path is an id, and ids are lowercase.
    fn has_suffix(&self, relative: &Path) -> bool {
        path_bytes(relative).ends_with(self.pattern.suffix.as_bytes())
    }

    fn skip(&mut self, relative: &Path, reason: impl Into<String>) {
        self.matched = true;
        if self.scan.skipped.len() >= self.limits.reports {
            self.unreported += 1;
            return;
        }
        self.scan.skipped.push(Skipped {
            place: display_path(&self.root.join(relative)),
            reason: reason.into(),
        });
    }

    fn skip_unreadable(&mut self, relative: &Path, error: &io::Error) {
        let is_root = relative.as_os_str().is_empty();
        if is_outage(error) || (is_root && is_denied(error)) {
            return self.fail(&self.root.join(relative), error);
        }
        // A file that does not exist is not reported: it was deleted since it was listed.
        if error.kind() != io::ErrorKind::NotFound {
            self.skip(relative, io_reason(error));
        }
    }

    /// Ends the walk: what it found is not what there is.
    fn fail(&mut self, path: &Path, error: &io::Error) {
        let failure = || format!("{}: {}", display_path(path), io_reason(error));
        self.failure.get_or_insert_with(failure);
        self.remaining = 0;
    }

    /// Reports the pattern as a whole.
    fn skip_pattern(&mut self, reason: String) {
        self.matched = true;
        self.scan.skipped.push(Skipped {
            place: format!("pattern `{}`", self.pattern.text),
            reason,
        });
    }
}

/// The bytes by which paths are ordered.
pub fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
