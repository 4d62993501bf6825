//! The walk of one pattern: which folders it enters, which files it finds, and what it reports.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::{SKILL_MD, Skipped};

use super::{FoundFile, Limits, Scan, SkillMd, path_bytes};
use crate::pattern::{Pattern, PatternMatches, PatternOrigin};
use crate::reason::{
    NOT_A_FILE, broken_link_reason, display_path, io_reason, is_denied, is_outage,
};
use crate::stamp::Stamp;

/// Walks the folders of one pattern. Fails as [`super::scan`] does.
pub(super) fn walk(pattern: &Pattern, limits: Limits, skill_md: SkillMd) -> Result<Scan, String> {
    let mut walk = Walk::new(pattern, limits, skill_md);
    match fs::canonicalize(&pattern.root) {
        Ok(root) => {
            walk.root.clone_from(&root);
            match &pattern.literal {
                Some(name) if !walk.is_skill_md(OsStr::new(name)) => walk.literal(Path::new(name)),
                _ => walk.folder(Path::new(""), &mut vec![root]),
            }
        }
        Err(error) => walk.missing_root(&error),
    }
    walk.finish()
}

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub(super) pattern: &'a Pattern,
    /// The root with its links resolved.
    pub(super) root: PathBuf,
    pub(super) limits: Limits,
    pub(super) skill_md: SkillMd,
    /// Whether the root is a skill folder itself.
    pub(super) is_root_skill: bool,
    pub(super) remaining: usize,
    /// Whether the pattern has a match or a report.
    pub(super) matched: bool,
    pub(super) files: usize,
    pub(super) unreported: usize,
    /// Why the walk was given up: a path and a reason.
    pub(super) failure: Option<String>,
    pub(super) scan: Scan,
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
    pub(super) handle: DirEntry,
}

impl<'a> Walk<'a> {
    pub(super) fn new(pattern: &'a Pattern, limits: Limits, skill_md: SkillMd) -> Self {
        Self {
            pattern,
            root: PathBuf::new(),
            limits,
            skill_md,
            is_root_skill: false,
            remaining: limits.entries,
            matched: false,
            files: 0,
            unreported: 0,
            failure: None,
            scan: Scan::default(),
        }
    }

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
        } else if !self.matched && self.pattern.origin == PatternOrigin::Configuration {
            self.skip_pattern("matches no file".to_owned());
        }
        if self.root.as_os_str().is_empty() && self.is_place() {
            return Ok(self.scan);
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
        self.scan.folders.push(root.clone());
        if self.is_place() {
            return;
        }
        let folder = root.display();
        let reason = if error.kind() == io::ErrorKind::NotFound {
            format!("matches no file: there is no folder {folder}")
        } else {
            format!("matches no file: {folder}: {}", io_reason(error))
        };
        self.skip_pattern(reason);
    }

    fn is_place(&self) -> bool {
        matches!(self.pattern.origin, PatternOrigin::Place(_))
    }

    /// Whether another place has this file or folder and serves it.
    fn is_in_another_place(&self, real: &Path) -> bool {
        let PatternOrigin::Place(places) = &self.pattern.origin else {
            return false;
        };
        let has = |place: &PathBuf| fs::canonicalize(place).is_ok_and(|at| real.starts_with(at));
        places.iter().any(has)
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
    pub(super) fn folder(&mut self, relative: &Path, chain: &mut Vec<PathBuf>) {
        let entries = self.read_folder(relative);
        if let Some(skill_md) = self.skill_md(relative, &entries, chain) {
            return self.skill_folder(relative, skill_md, entries, chain);
        }
        if self.is_bundled(&entries) {
            return;
        }
        for Entry { name, kind, handle } in entries {
            if kind.is_file() && !self.pattern.may_match(&name) {
                continue;
            }
            if self.pattern.leaves_out(&name) {
                self.hidden(&handle, kind);
                continue;
            }
            // A pattern of one name is walked to find a skill folder only.
            if self.pattern.literal.is_some() && !self.is_skill_md(&name) {
                continue;
            }
            let (path, relative) = (handle.path(), relative.join(name));
            self.entry(path, relative, kind, || handle.metadata(), chain);
        }
    }

    /// Whether a walk for other files than markdown is in the folder of a skill: in a folder that
    /// is served whole, those belong to the skill.
    fn is_bundled(&self, entries: &[Entry]) -> bool {
        self.skill_md == SkillMd::File
            && self.pattern.origin == PatternOrigin::Folder
            && entries.iter().any(|entry| entry.name == SKILL_MD)
    }

    /// The entries of a folder, as many as the walk may still visit.
    pub(super) fn read_folder(&mut self, relative: &Path) -> Vec<Entry> {
        let path = self.root.join(relative);
        let mut found = Vec::new();
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                self.skip_unreadable(relative, &error);
                return found;
            }
        };
        self.scan.folders.push(path);
        for entry in entries {
            let Some(remaining) = self.remaining.checked_sub(1).filter(|left| *left > 0) else {
                self.remaining = 0;
                break;
            };
            self.remaining = remaining;
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, handle)) => {
                    let name = handle.file_name();
                    found.push(Entry { name, kind, handle });
                }
                Err(error) => self.skip_unreadable(relative, &error),
            }
        }
        found
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
            if self.is_in_another_place(&real) {
                return;
            }
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
        let is_configured = self.pattern.origin == PatternOrigin::Configuration;
        if (named && is_configured) || self.pattern.literal.is_some() {
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

    pub(super) fn file(
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
                rank: self.pattern.rank,
                stamp: Stamp::of(metadata),
                folder: None,
            });
        }
    }

    /// Case sensitive: the rest of the path is an id, and ids are lowercase.
    fn has_suffix(&self, relative: &Path) -> bool {
        path_bytes(relative).ends_with(self.pattern.suffix.as_bytes())
    }

    pub(super) fn skip(&mut self, relative: &Path, reason: impl Into<String>) {
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

    pub(super) fn skip_unreadable(&mut self, relative: &Path, error: &io::Error) {
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
    pub(super) fn fail(&mut self, path: &Path, error: &io::Error) {
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
