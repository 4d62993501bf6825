//! Which files the patterns match, found by walking. Reads no file.

use std::collections::HashSet;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{Skipped, escape_control};

use crate::pattern::{Pattern, PatternMatches};
use crate::stamp::Stamp;

/// Where a walk gives up: a pattern such as `/**` must not keep anybody waiting.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files and folders looked at, per pattern.
    pub entries: usize,
    /// Folders inside folders.
    pub depth: usize,
    /// Reports per pattern; the rest is counted.
    pub reports: usize,
}

impl Limits {
    /// What applies outside tests.
    pub const USUAL: Self = Self {
        entries: 100_000,
        depth: 64,
        reports: 1_000,
    };
}

/// What is said of pipes, sockets and devices.
pub const NO_FILE: &str = "is no regular file; only files can be served";

/// A markdown file that some pattern matches.
#[derive(Debug)]
pub struct Found {
    /// Where it is, from the root of the disk.
    pub path: PathBuf,
    /// Where it is below the root of the first pattern that matches it.
    pub relative: PathBuf,
    /// That pattern, as it was written.
    pub pattern: Arc<str>,
    /// What it looked like.
    pub stamp: Stamp,
}

/// What the patterns match.
#[derive(Debug, Default)]
pub struct Scan {
    /// How much each of them matches, in their order.
    pub matches: Vec<PatternMatches>,
    /// Markdown files, in byte order of their paths, each once.
    pub found: Vec<Found>,
    /// What matches and cannot be a document.
    pub skipped: Vec<Skipped>,
    /// Every folder where something could come to match, or that is still to come.
    pub folders: Vec<PathBuf>,
}

/// Walks every pattern.
pub fn scan(patterns: &[Pattern], limits: Limits) -> Scan {
    let mut walks = patterns.iter().map(|pattern| walk(pattern, limits));
    let mut scan = walks.next().unwrap_or_default();
    for walked in walks {
        scan.add(walked);
    }
    scan.found
        .sort_by(|a, b| bytes(&a.path).cmp(bytes(&b.path)));
    scan
}

impl Scan {
    /// Adds what an earlier pattern does not have: of two the first gives the id.
    fn add(&mut self, later: Self) {
        let seen: HashSet<&Path> = self.found.iter().map(|found| &*found.path).collect();
        let new = |found: &Found| !seen.contains(&*found.path);
        let all = later.found.len();
        let new: Vec<_> = later.found.into_iter().filter(new).collect();
        let earlier = all - new.len();
        let walked = later.matches.into_iter();
        self.matches
            .extend(walked.map(|one| PatternMatches { earlier, ..one }));
        self.found.extend(new);
        for skipped in later.skipped {
            if !self.skipped.contains(&skipped) {
                self.skipped.push(skipped);
            }
        }
        self.folders.extend(later.folders);
    }
}

fn walk(pattern: &Pattern, limits: Limits) -> Scan {
    let root = match fs::canonicalize(&pattern.root) {
        Ok(root) => root,
        Err(error) => {
            let folder = pattern.root.display();
            let reason = if error.kind() == io::ErrorKind::NotFound {
                format!("matches no file: there is no folder {folder}")
            } else {
                format!("matches no file: {folder}: {}", said_by(&error))
            };
            return Scan {
                matches: vec![PatternMatches::of(pattern, 0)],
                found: Vec::new(),
                skipped: vec![about_pattern(pattern, reason)],
                folders: vec![pattern.root.clone()],
            };
        }
    };
    let mut walk = Walk {
        pattern,
        root: &root,
        limits,
        left: limits.entries,
        matched: false,
        files: 0,
        unsaid: 0,
        scan: Scan::default(),
    };
    if let Some(name) = &pattern.literal {
        walk.literal(Path::new(name));
    } else {
        walk.folder(Path::new(""), &mut vec![root.clone()]);
    }
    walk.finish()
}

/// What is to be said about a pattern as a whole.
pub fn about_pattern(pattern: &Pattern, reason: impl Into<String>) -> Skipped {
    Skipped {
        place: format!("pattern `{}`", pattern.text),
        reason: reason.into(),
    }
}

struct Walk<'a> {
    pattern: &'a Pattern,
    /// The root without links.
    root: &'a Path,
    limits: Limits,
    left: usize,
    /// Whether it matches anything, files or not.
    matched: bool,
    files: usize,
    unsaid: usize,
    scan: Scan,
}

impl Walk<'_> {
    fn finish(mut self) -> Scan {
        let about = |reason| about_pattern(self.pattern, reason);
        let skipped = &mut self.scan.skipped;
        if self.unsaid > 0 {
            skipped.push(about(format!(
                "matches {} more files that cannot be served; make it narrower",
                self.unsaid
            )));
        }
        if self.left == 0 {
            skipped.push(about(format!(
                "was given up after {} files and folders; make it narrower",
                self.limits.entries
            )));
        } else if !self.matched {
            skipped.push(about("matches no file".to_owned()));
        }
        self.scan
            .matches
            .push(PatternMatches::of(self.pattern, self.files));
        self.scan
    }

    fn literal(&mut self, name: &Path) {
        self.scan.folders.push(self.root.to_owned());
        let path = self.root.join(name);
        let found = fs::symlink_metadata(&path);
        let kind = found.as_ref().map(Metadata::file_type);
        let (name, chain) = (name.to_owned(), &mut vec![self.root.to_owned()]);
        match kind {
            Ok(kind) => self.entry(path, name, kind, || found, chain),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.skip(&name, said_by(error)),
        }
    }

    /// `chain`: the folders we came through, without links.
    fn folder(&mut self, relative: &Path, chain: &mut Vec<PathBuf>) {
        let path = self.root.join(relative);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // Deleted since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.skip(relative, said_by(&error)),
        };
        self.scan.folders.push(path);
        for entry in entries {
            let Some(left) = self.left.checked_sub(1).filter(|left| *left > 0) else {
                self.left = 0;
                return;
            };
            self.left = left;
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => {
                    let name = entry.file_name();
                    if kind.is_file() && !self.pattern.may_match(&name) {
                        continue;
                    }
                    let (path, relative) = (entry.path(), relative.join(name));
                    self.entry(path, relative, kind, || entry.metadata(), chain);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.skip(relative, said_by(&error)),
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
            // Every folder but those reached through links is its parent's real path.
            let real = chain.last().map_or(self.root, PathBuf::as_path);
            let real = real.join(relative.file_name().unwrap_or_default());
            self.enter(&relative, real, chain);
        } else if self.pattern.matches(&relative) {
            match metadata() {
                Ok(metadata) => self.file(path, relative, &metadata),
                // Deleted since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.skip(&relative, said_by(&error)),
            }
        }
    }

    fn link(&mut self, path: PathBuf, relative: PathBuf, chain: &mut Vec<PathBuf>) {
        let (holds, matches) = (
            self.pattern.may_hold(&relative),
            self.pattern.matches(&relative),
        );
        if !holds && !matches {
            return;
        }
        let target = fs::canonicalize(&path).and_then(|real| Ok((fs::metadata(&real)?, real)));
        let (metadata, real) = match target {
            Ok(target) => target,
            Err(error) => return self.skip(&relative, lost(&path, &error)),
        };
        let folder = metadata.is_dir();
        if !(if folder { holds } else { matches }) {
        } else if !real.starts_with(self.root) {
            let (real, root) = (shown(&real), shown(self.root));
            let reason = format!(
                "is a link to {real}, outside {root}; add a pattern for that place instead"
            );
            self.skip(&relative, reason);
        } else if !folder {
            // A change of the target is a change of this file.
            self.scan
                .folders
                .extend(real.parent().map(Path::to_path_buf));
            self.file(path, relative, &metadata);
        } else if chain.contains(&real) {
            self.skip(&relative, "is a link to a folder it lies in; remove it");
        } else {
            self.enter(&relative, real, chain);
        }
    }

    fn enter(&mut self, relative: &Path, real: PathBuf, chain: &mut Vec<PathBuf>) {
        if self.pattern.literal.is_some() || (self.fits(relative) && self.pattern.matches(relative))
        {
            let at = self.root.join(relative);
            self.skip(
                relative,
                format!(
                    "is a folder; write `{}/**/*{}` for the files in it",
                    at.display(),
                    self.pattern.suffix
                ),
            );
        }
        if !self.pattern.may_hold(relative) {
            return;
        }
        if chain.len() > self.limits.depth {
            let depth = self.limits.depth;
            return self.skip(
                relative,
                format!("is {depth} folders deep and not entered; move it up"),
            );
        }
        chain.push(real);
        self.folder(relative, chain);
        chain.pop();
    }

    fn file(&mut self, path: PathBuf, relative: PathBuf, metadata: &Metadata) {
        self.files += 1;
        if !metadata.is_file() {
            self.skip(&relative, NO_FILE);
        } else if relative.to_str().is_none() {
            self.skip(&relative, "has a name that is not UTF-8; rename it");
        } else if !self.fits(&relative) {
            let suffix = self.pattern.suffix;
            self.skip(
                &relative,
                format!("does not end in `{suffix}`; rename it or make the pattern narrower"),
            );
        } else {
            self.matched = true;
            self.scan.found.push(Found {
                path,
                relative,
                pattern: Arc::clone(&self.pattern.text),
                stamp: Stamp::of(metadata),
            });
        }
    }

    /// Case counts: an id is what is left of the path, and ids are lowercase.
    fn fits(&self, relative: &Path) -> bool {
        bytes(relative).ends_with(self.pattern.suffix.as_bytes())
    }

    fn skip(&mut self, relative: &Path, reason: impl Into<String>) {
        self.matched = true;
        if self.scan.skipped.len() >= self.limits.reports {
            self.unsaid += 1;
            return;
        }
        self.scan.skipped.push(Skipped {
            place: shown(&self.root.join(relative)),
            reason: reason.into(),
        });
    }
}

/// A path for people: nothing in a file's name can steer their terminal.
pub fn shown(path: &Path) -> String {
    escape_control(&path.to_string_lossy())
}

/// A path as it is ordered.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Why a link leads nowhere.
fn lost(path: &Path, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        // Links that lead to each other; the system's own words differ.
        let circular = fs::metadata(path).is_err() && fs::read_link(path).is_ok();
        return if circular && error.kind() != io::ErrorKind::PermissionDenied {
            "is a link that leads to itself; remove it".into()
        } else {
            said_by(error)
        };
    }
    let target = fs::read_link(path).unwrap_or_default();
    format!(
        "is a link to {}, which does not exist; remove or repair it",
        shown(&target)
    )
}

/// What the system said, with what helps.
pub fn said_by(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "may not be read; give this user permission to read it".into()
        }
        _ => format!("cannot be read: {error}"),
    }
}
