//! The files of one skill folder as of the last walk, and their digests, which are computed
//! when they are asked for and kept until the file changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use skills_core::limits::MAX_SKILL_FILES_BYTES;
use skills_core::{Digest, FolderFile, SKILL_MD};

use crate::read_file::{ReadFileError, read_unlinked_file};
use crate::reason::{display_path, io_reason, is_outage};
use crate::scan::{FoundFolder, FoundMember};
use crate::snapshot::fingerprint;
use crate::stamp::{Stamp, StampHash};

/// The files of a skill folder.
#[derive(Debug)]
pub struct Bundle {
    /// The files, in byte order of their paths.
    pub files: Arc<[FolderFile]>,
    /// Why they are not served.
    pub problem: Option<Arc<str>>,
    /// Changes with every file.
    pub fingerprint: u64,
    stamps: Box<[StampHash]>,
    digests: Mutex<Digests>,
}

/// The digests of the files, in their order.
#[derive(Clone, Debug)]
enum Digests {
    Some(Box<[Option<Digest>]>),
    All(Arc<[Digest]>),
}

/// Why there are no digests.
#[derive(Debug)]
pub enum NoDigests {
    /// A file changed since the walk.
    Changed,
    /// A file cannot be read: its path and the reason.
    Unreadable(String),
    /// The system cannot read files now: a path and the reason.
    Outage(String),
}

impl Bundle {
    /// The files of a folder. `earlier` gives the digests of those that have not changed.
    pub fn new(found: &FoundFolder, earlier: Option<&Self>) -> Self {
        let (members, problem) = match &found.members {
            Ok(members) => (&members[..], None),
            Err(problem) => (&[][..], Some(problem.as_str().into())),
        };
        let file = |member: &FoundMember| FolderFile {
            path: member.path.clone(),
            // The files of a folder whose lengths do not fit are not served.
            bytes: u32::try_from(member.stamp.length()).unwrap_or(u32::MAX),
            is_executable: member.stamp.is_executable(),
        };
        let known = |member: &FoundMember| {
            let earlier = earlier?;
            let found = earlier
                .files
                .binary_search_by(|file| file.path.cmp(&member.path));
            let at = found
                .ok()
                .filter(|&at| earlier.stamps[at] == member.stamp.to_hash())?;
            earlier.digests().get(at)
        };
        let printed = members.iter().map(|member| (&member.path, member.stamp));
        Self {
            fingerprint: fingerprint((printed.collect::<Vec<_>>(), &problem)),
            files: members.iter().map(file).collect(),
            problem,
            stamps: members
                .iter()
                .map(|member| member.stamp.to_hash())
                .collect(),
            digests: Mutex::new(Digests::Some(members.iter().map(known).collect())),
        }
    }

    /// Whether a walk found the same files, unchanged.
    pub fn is_current(&self, found: &FoundFolder) -> bool {
        let Ok(members) = &found.members else {
            return found.members.as_ref().err().map(String::as_str) == self.problem.as_deref();
        };
        let same = |((member, file), stamp): ((&FoundMember, &FolderFile), &StampHash)| {
            member.stamp.to_hash() == *stamp && member.path == file.path
        };
        self.problem.is_none()
            && members.len() == self.files.len()
            && members.iter().zip(&*self.files).zip(&self.stamps).all(same)
    }

    /// The digests of the files that `found` has, which is the folder that this was made of.
    /// `skill_md` is the `SKILL.md` that was parsed. `walked` is a time before
    /// the walk: a digest is kept if every later change gives its file another stamp.
    pub fn digest_files(
        &self,
        found: &FoundFolder,
        skill_md: (StampHash, Digest),
        walked: SystemTime,
    ) -> Result<Arc<[Digest]>, NoDigests> {
        let mut known = match self.digests().clone() {
            Digests::All(all) => return Ok(all),
            Digests::Some(known) => known,
        };
        let members = found.members.as_deref().unwrap_or_default();
        let mut all = Vec::with_capacity(members.len());
        let mut is_kept = true;
        for (member, known) in members.iter().zip(&mut known) {
            let digest = match *known {
                _ if member.path.as_str() == SKILL_MD => match skill_md {
                    (stamp, digest) if stamp == member.stamp.to_hash() => digest,
                    _ => return Err(NoDigests::Changed),
                },
                Some(digest) => digest,
                None => read_digest(found, member)?,
            };
            all.push(digest);
            if member.stamp.is_settled(walked) {
                *known = Some(digest);
            } else {
                is_kept = false;
            }
        }
        let all: Arc<[Digest]> = all.into();
        *self.digests() = if is_kept {
            Digests::All(Arc::clone(&all))
        } else {
            Digests::Some(known)
        };
        Ok(all)
    }

    fn digests(&self) -> MutexGuard<'_, Digests> {
        // Nothing awaits while this is held, and a panic leaves the digests correct.
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Digests {
    fn get(&self, at: usize) -> Option<Digest> {
        match self {
            Self::Some(known) => known[at],
            Self::All(all) => Some(all[at]),
        }
    }
}

fn read_digest(found: &FoundFolder, member: &FoundMember) -> Result<Digest, NoDigests> {
    let path = found.real_path_of(member);
    match read_unlinked_file(&path, MAX_SKILL_FILES_BYTES) {
        Ok(content) if Stamp::of(&content.metadata) == member.stamp => {
            #[cfg(test)]
            DIGESTS.set(DIGESTS.get() + 1);
            Ok(Digest::of(&content.bytes))
        }
        Ok(_) | Err(ReadFileError::TooLarge { .. }) => Err(NoDigests::Changed),
        Err(error) if error.is_not_found() => Err(NoDigests::Changed),
        Err(ReadFileError::Directory | ReadFileError::NotRegular) => Err(NoDigests::Changed),
        Err(ReadFileError::Io(error)) => {
            let problem = format!("{}: {}", display_path(&path), io_reason(&error));
            Err(if is_outage(&error) {
                NoDigests::Outage(problem)
            } else {
                NoDigests::Unreadable(problem)
            })
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many digests of bundled files this thread has computed.
    pub static DIGESTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
