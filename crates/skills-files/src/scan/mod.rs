//! Walks folders to find the files that patterns match. Reads no file.

mod hidden;
mod skill_folder;
mod walk;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_core::Skipped;

use crate::limits::{SCAN_DEPTH_MAX, SCAN_ENTRIES_MAX, SCAN_REPORTS_MAX};
use crate::pattern::{Pattern, PatternMatches};
use crate::stamp::Stamp;
use hidden::HiddenSkills;
use walk::walk;

pub use skill_folder::{FoundFolder, FoundMember, scan_skill_folder};

/// What a `SKILL.md` is for a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillMd {
    /// A file like any other.
    File,
    /// The mark of a skill folder: everything below belongs to it.
    Folder,
}

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
    /// The rank of that pattern.
    pub rank: usize,
    /// Its stamp during the walk.
    pub stamp: Stamp,
    /// The folder that it makes a skill.
    pub folder: Option<Box<FoundFolder>>,
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
    /// Files with the suffix of the patterns, in the order of the ranks and in byte order of their
    /// paths, each once; then skill folders whose path is not an id.
    pub found: Vec<FoundFile>,
    /// What matches and cannot be served.
    pub skipped: Vec<Skipped>,
    /// Folders where a match could appear, including roots that do not exist yet.
    pub folders: Vec<PathBuf>,
    /// Hidden folders that are left out although skills are in them.
    hidden: Vec<HiddenSkills>,
}

/// Walks the folders of every pattern. Fails with the path and the reason if the system
/// could not tell which files there are: that is not the same as no files.
pub fn scan(patterns: &[Pattern], limits: Limits, skill_md: SkillMd) -> Result<Scan, String> {
    let mut walks = patterns
        .iter()
        .map(|pattern| walk(pattern, limits, skill_md));
    let mut scan = walks.next().transpose()?.unwrap_or_default();
    for later in walks {
        scan.add(later?);
    }
    scan.report_hidden(patterns);
    // A folder of the very name of an id comes before one that is served under that id.
    let is_renamed = |found: &FoundFile| found.folder.as_ref().is_some_and(|f| f.is_renamed);
    scan.found.sort_by(|a, b| {
        let paths = || path_bytes(&a.path).cmp(path_bytes(&b.path));
        let ranks = || a.rank.cmp(&b.rank);
        let names = is_renamed(a).cmp(&is_renamed(b));
        names.then_with(ranks).then_with(paths)
    });
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
        self.hidden.extend(later.hidden);
    }
}

/// The bytes by which paths are ordered.
pub fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
