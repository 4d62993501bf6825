//! Walks a folder with a `SKILL.md`: everything below belongs to the skill. Links are followed
//! inside the root of the pattern only, and hidden names are left out.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use skills_core::limits::{MAX_FILE_PATH_BYTES, MAX_SKILL_FILES, MAX_SKILL_FILES_BYTES};
use skills_core::{FilePath, SKILL_MD, SkillId};

use super::walk::{Entry, Walk};
use super::{Limits, SkillMd};
use crate::pattern::Pattern;
use crate::reason::{NOT_A_FILE, broken_link_reason, display_path, is_outage};
use crate::stamp::Stamp;

/// The folder of a skill.
#[derive(Clone, Debug)]
pub struct FoundFolder {
    /// Its path without links.
    pub real_path: PathBuf,
    /// Its path below the root of the pattern, with `/` on every platform; it begins with the
    /// name of the root if that is a skill itself.
    pub id_path: String,
    /// Whether that path is not an id.
    pub is_renamed: bool,
    /// Its files in byte order of their paths, `SKILL.md` included, or why they are not served.
    pub members: Result<Vec<FoundMember>, String>,
}

/// A file of a skill folder.
#[derive(Clone, Debug)]
pub struct FoundMember {
    /// Its path in the folder.
    pub path: FilePath,
    /// The path that it leads to, if there is a link on the way.
    pub target: Option<PathBuf>,
    /// Its stamp during the walk.
    pub stamp: Stamp,
}

impl FoundFolder {
    /// The path to open for a file: none of its parts was a link when the file was found.
    pub fn real_path_of(&self, member: &FoundMember) -> PathBuf {
        match &member.target {
            Some(target) => target.clone(),
            None => self.real_path.join(member.path.as_str()),
        }
    }
}

/// Walks one skill folder at `relative` below the root of the pattern, where no part of the
/// path is a link. `None` if it is not a skill folder any more. Fails as a walk does.
pub fn scan_skill_folder(
    pattern: &Pattern,
    root: &Path,
    relative: &Path,
    limits: Limits,
) -> Result<Option<FoundFolder>, String> {
    let mut walk = Walk::new(pattern, limits, SkillMd::Folder);
    root.clone_into(&mut walk.root);
    let mut chain = vec![root.to_owned()];
    let mut folder = root.to_owned();
    for part in relative {
        folder.push(part);
        chain.push(folder.clone());
    }
    walk.folder(relative, &mut chain);
    if let Some(failure) = walk.failure {
        return Err(failure);
    }
    let found = walk.scan.found.into_iter().filter_map(|found| found.folder);
    Ok(found
        .map(|found| *found)
        .find(|found| found.real_path == folder))
}

/// A skill folder that the walk is in.
struct OpenFolder {
    /// The number of collected members when it was entered.
    start: usize,
    /// The bytes of its path below the outermost skill folder, with a slash.
    prefix: usize,
    files: usize,
    bytes: u64,
}

impl OpenFolder {
    /// Why its files are not served.
    fn problem(&self) -> Option<String> {
        if self.files > MAX_SKILL_FILES {
            return Some(format!(
                "has more than {MAX_SKILL_FILES} files, which are not served; remove some"
            ));
        }
        (self.bytes > MAX_SKILL_FILES_BYTES as u64).then(|| {
            format!(
                "has files of more than {MAX_SKILL_FILES_BYTES} bytes, which are not served; \
                 remove some"
            )
        })
    }
}

/// What was collected in the outermost skill folder and the skill folders in it.
#[derive(Default)]
struct Members {
    found: Vec<FoundMember>,
    open: Vec<OpenFolder>,
}

impl Members {
    /// Whether some folder needs to know about another file.
    fn wants_more(&self) -> bool {
        self.open.iter().any(|folder| folder.problem().is_none())
    }
}

/// The `SKILL.md` of a folder.
pub(super) struct SkillMdFile {
    target: Option<PathBuf>,
    metadata: Metadata,
}

impl Walk<'_> {
    pub(super) fn is_skill_md(&self, name: &OsStr) -> bool {
        self.skill_md == SkillMd::Folder && name == SKILL_MD
    }

    /// The `SKILL.md` among the entries of a folder, if it makes the folder a skill: the
    /// pattern matches it, and it is a file or a link to one inside the root.
    pub(super) fn skill_md(
        &self,
        relative: &Path,
        entries: &[Entry],
        chain: &[PathBuf],
    ) -> Option<SkillMdFile> {
        let found = entries.iter().find(|entry| self.is_skill_md(&entry.name))?;
        if !self.pattern.matches(&relative.join(SKILL_MD)) {
            return None;
        }
        let real_folder = chain.last().unwrap_or(&self.root);
        let path = found.handle.path();
        if found.kind.is_symlink() {
            let real = fs::canonicalize(&path).ok()?;
            let metadata = fs::metadata(&real).ok()?;
            let target = real.starts_with(&self.root).then_some(real)?;
            return metadata.is_file().then_some(SkillMdFile {
                target: Some(target),
                metadata,
            });
        }
        let metadata = found.handle.metadata().ok()?;
        let is_linked = path.parent() != Some(real_folder);
        metadata.is_file().then(|| SkillMdFile {
            target: is_linked.then(|| real_folder.join(SKILL_MD)),
            metadata,
        })
    }

    /// Adds a skill folder and those in it.
    pub(super) fn skill_folder(
        &mut self,
        relative: &Path,
        skill_md: SkillMdFile,
        entries: Vec<Entry>,
        chain: &mut Vec<PathBuf>,
    ) {
        let mut members = Members::default();
        self.is_root_skill |= relative.as_os_str().is_empty();
        self.open_skill_folder(relative, "", skill_md, entries, chain, &mut members);
    }

    /// `below`: the path below the outermost skill folder, with a slash at its end.
    fn open_skill_folder(
        &mut self,
        relative: &Path,
        below: &str,
        skill_md: SkillMdFile,
        entries: Vec<Entry>,
        chain: &mut Vec<PathBuf>,
        members: &mut Members,
    ) {
        let SkillMdFile { target, metadata } = skill_md;
        members.open.push(OpenFolder {
            start: members.found.len(),
            prefix: below.len(),
            files: 0,
            bytes: 0,
        });
        let (at, relative_file) = (self.scan.found.len(), relative.join(SKILL_MD));
        let path = self.root.join(&relative_file);
        self.file(path, relative_file, target.clone(), &metadata);
        let is_found = self.scan.found.len() > at;
        if let Ok(path) = format!("{below}{SKILL_MD}").parse() {
            Self::add_member(path, target, &metadata, members);
        }
        let others = entries.into_iter().filter(|entry| entry.name != SKILL_MD);
        self.members(relative, below, others, chain, members);
        let Some(folder) = members.open.pop() else {
            return;
        };
        let files = match folder.problem() {
            Some(problem) => Err(problem),
            None if self.remaining == 0 => Err(
                "has files that were not visited, and none is served; make the pattern \
                     narrower"
                    .into(),
            ),
            None => Ok(folder.own(&members.found)),
        };
        let id_path = self.id_path(relative);
        let folder = FoundFolder {
            real_path: chain.last().unwrap_or(&self.root).clone(),
            is_renamed: id_path.parse::<SkillId>().is_err(),
            id_path,
            members: files,
        };
        // A path that is not UTF-8 was reported instead.
        if let Some(found) = self.scan.found.get_mut(at).filter(|_| is_found) {
            found.folder = Some(Box::new(folder));
        }
    }

    fn id_path(&self, relative: &Path) -> String {
        let root = self.pattern.root.file_name().or(self.root.file_name());
        let root = root.filter(|_| self.is_root_skill);
        let parts = root.into_iter().chain(relative);
        let parts: Vec<_> = parts.map(OsStr::to_string_lossy).collect();
        parts.join("/")
    }

    fn members(
        &mut self,
        relative: &Path,
        below: &str,
        entries: impl Iterator<Item = Entry>,
        chain: &mut Vec<PathBuf>,
        members: &mut Members,
    ) {
        for Entry { name, kind, handle } in entries {
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_file() && !members.wants_more() {
                members.open.iter_mut().for_each(|folder| folder.files += 1);
                continue;
            }
            let relative = relative.join(&name);
            let Some(name) = name.to_str() else {
                self.skip(&relative, "has a name that is not UTF-8; rename it");
                continue;
            };
            let below = format!("{below}{name}");
            if kind.is_symlink() {
                self.linked_member(&handle.path(), &relative, &below, chain, members);
            } else if kind.is_dir() {
                let parent = chain.last().unwrap_or(&self.root);
                let real = parent.join(name);
                self.member_folder(&relative, &below, real, chain, members);
            } else {
                let parent = chain.last().unwrap_or(&self.root);
                let is_linked = handle.path().parent() != Some(parent);
                let target = is_linked.then(|| parent.join(name));
                match handle.metadata() {
                    Ok(metadata) => self.member(&relative, &below, target, &metadata, members),
                    Err(error) => self.skip_unreadable(&relative, &error),
                }
            }
        }
    }

    fn member(
        &mut self,
        relative: &Path,
        below: &str,
        target: Option<PathBuf>,
        metadata: &Metadata,
        members: &mut Members,
    ) {
        if !metadata.is_file() {
            return self.skip(relative, NOT_A_FILE);
        }
        match below.parse::<FilePath>() {
            Ok(_) if below.len() > MAX_FILE_PATH_BYTES => self.skip(
                relative,
                format!("has a path of more than {MAX_FILE_PATH_BYTES} bytes; shorten it"),
            ),
            Ok(path) => Self::add_member(path, target, metadata, members),
            Err(error) => self.skip(relative, format!("cannot be served: {error}; rename it")),
        }
    }

    fn add_member(
        path: FilePath,
        target: Option<PathBuf>,
        metadata: &Metadata,
        members: &mut Members,
    ) {
        for folder in &mut members.open {
            folder.files += 1;
            folder.bytes = folder.bytes.saturating_add(metadata.len());
        }
        let stamp = Stamp::of(metadata);
        members.found.push(FoundMember {
            path,
            target,
            stamp,
        });
    }

    fn linked_member(
        &mut self,
        path: &Path,
        relative: &Path,
        below: &str,
        chain: &mut Vec<PathBuf>,
        members: &mut Members,
    ) {
        let target = fs::canonicalize(path).and_then(|real| Ok((fs::metadata(&real)?, real)));
        let (metadata, real) = match target {
            Ok(target) => target,
            Err(error) if is_outage(&error) => return self.fail(path, &error),
            Err(error) => return self.skip(relative, broken_link_reason(path, &error)),
        };
        if !real.starts_with(&self.root) {
            let (real, root) = (display_path(&real), display_path(&self.root));
            let reason = format!("is a link to {real}, outside {root}; copy the file instead");
            self.skip(relative, reason);
        } else if !metadata.is_dir() {
            // A change of the target changes this file.
            self.scan
                .folders
                .extend(real.parent().map(Path::to_path_buf));
            self.member(relative, below, Some(real), &metadata, members);
        } else if chain.contains(&real) {
            self.skip(relative, "is a link to a folder it lies in; remove it");
        } else {
            self.member_folder(relative, below, real, chain, members);
        }
    }

    fn member_folder(
        &mut self,
        relative: &Path,
        below: &str,
        real: PathBuf,
        chain: &mut Vec<PathBuf>,
        members: &mut Members,
    ) {
        if chain.len() > self.limits.depth {
            let depth = self.limits.depth;
            let reason = format!("is {depth} folders deep and not entered; move it up");
            return self.skip(relative, reason);
        }
        chain.push(real);
        let below = format!("{below}/");
        let entries = self.read_folder(relative);
        match self.skill_md(relative, &entries, chain) {
            Some(skill_md) => {
                self.open_skill_folder(relative, &below, skill_md, entries, chain, members);
            }
            None => self.members(relative, &below, entries.into_iter(), chain, members),
        }
        chain.pop();
    }
}

impl OpenFolder {
    /// Its own members, with paths below it, in byte order.
    fn own(&self, found: &[FoundMember]) -> Vec<FoundMember> {
        let own = found[self.start..].iter().map(|member| {
            let path = &member.path.as_str()[self.prefix..];
            let path = match self.prefix {
                0 => member.path.clone(),
                _ => path.parse().unwrap_or_else(|_| member.path.clone()),
            };
            FoundMember {
                path,
                target: member.target.clone(),
                stamp: member.stamp,
            }
        });
        let mut own: Vec<_> = own.collect();
        own.sort_by(|a, b| a.path.cmp(&b.path));
        own
    }
}
