//! The files of skill folders for the registry: their digests, and reading one.

use std::sync::Arc;
use std::time::SystemTime;

use skills_core::limits::MAX_SKILL_FILES_BYTES;
use skills_core::{Digest, Error, FileContent, FilePath, Listing, Manifest, SKILL_MD, SkillId};

use crate::blocking::run_blocking;
use crate::bundle::NoDigests;
use crate::file_set::{ParsedFile, ParsedFiles};
use crate::markdown::SkillFile;
use crate::read_file::{ReadFileError, read_unlinked_file};
use crate::reason::{display_path, io_reason, is_not_found};
use crate::scan::FoundFolder;
use crate::sources::{Sources, agent_skills};

/// Walks until the files did not change between the walk and the digests.
const ATTEMPTS: usize = 3;

const LISTING: &str = "list the files of the skills";

impl Sources {
    /// Every skill with the digests of its files.
    pub(crate) async fn list_manifests(&self) -> Result<Listing<Manifest>, Error> {
        let (listed, entries) = self.with_digests(|_| true).await?;
        let agents = self.agents.list().await?;
        let skills = agent_skills(&agents).map(|entry| Manifest::from(entry.skill.clone()));
        Ok(Listing {
            entries: entries.into_iter().chain(skills).collect(),
            skipped: [&*listed.skipped, &*agents.skipped].concat(),
        })
    }

    pub(crate) async fn find_manifest(&self, id: &SkillId) -> Result<Option<Manifest>, Error> {
        let wanted = id.clone();
        let (_, mut entries) = self.with_digests(move |found| *found == wanted).await?;
        Ok(entries.pop().filter(|entry| entry.skill.folder.is_some()))
    }

    /// The skills that `is_wanted` selects, with their digests, from one walk.
    async fn with_digests(
        &self,
        is_wanted: impl Fn(&SkillId) -> bool + Clone + Send + 'static,
    ) -> Result<(Arc<ParsedFiles<SkillFile>>, Vec<Manifest>), Error> {
        for _ in 0..ATTEMPTS {
            let listed = self.skills.list().await?;
            let (files, is_wanted) = (Arc::clone(&listed), is_wanted.clone());
            let digests = move |_: &_| {
                let wanted = files.files.iter();
                let wanted = wanted.filter(|file| is_wanted(&file.entry.skill.id));
                wanted.map(|file| manifest(file, files.started)).collect()
            };
            let manifests: Result<Vec<_>, _> = run_blocking(&self.skills, LISTING, digests).await?;
            match manifests {
                Ok(manifests) => return Ok((listed, manifests)),
                Err(NoDigests::Changed) => {}
                Err(NoDigests::Unreadable(problem)) => return Err(failed(problem)),
            }
        }
        Err(failed("files change all the time; try again".into()))
    }

    /// Reads a file of a skill folder now.
    pub(crate) async fn read_bundled_file(
        &self,
        id: &SkillId,
        path: &FilePath,
    ) -> Result<Option<FileContent>, Error> {
        if self.skills.patterns.is_empty() {
            return Ok(None);
        }
        let doing = format!("read `{path}` of skill `{id}`");
        let (wanted, wanted_path) = (id.clone(), path.clone());
        let lookup = run_blocking(&self.skills, &doing, move |skills| {
            let found = skills.lookup_folder(&wanted)?;
            Some(found.and_then(|folder| read(folder, &wanted_path)))
        });
        let content = if let Some(content) = lookup.await? {
            content
        } else {
            let listed = self.skills.list().await?;
            let mut files = listed.files.iter();
            let file = files.find(|file| file.entry.skill.id == *id);
            let Some(folder) = file.and_then(|file| file.folder.as_deref().cloned()) else {
                return Ok(None);
            };
            let path = path.clone();
            run_blocking(&self.skills, &doing, move |_| read(Some(folder), &path)).await?
        };
        content.map_err(|problem| Error::Source { doing, problem })
    }
}

fn manifest(file: &ParsedFile<SkillFile>, walked: SystemTime) -> Result<Manifest, NoDigests> {
    let SkillFile { skill, folder, .. } = &file.entry;
    let digests: Arc<[Digest]> = match (folder, &file.folder) {
        (Some(parsed), Some(found)) => {
            parsed.bundle.digest_files(found, parsed.skill_md, walked)?
        }
        _ => Arc::default(),
    };
    let skill = skill.clone();
    Ok(Manifest { skill, digests })
}

/// Reads a file of a folder; fails with its path and the reason.
fn read(folder: Option<FoundFolder>, path: &FilePath) -> Result<Option<FileContent>, String> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let members = folder.members.as_deref().unwrap_or_default();
    let found = members.binary_search_by(|member| member.path.cmp(path));
    let real_path = match found {
        Ok(at) => folder.real_path_of(&members[at]),
        // It is served although the other files are not.
        Err(_) if path.as_str() == SKILL_MD && folder.members.is_err() => {
            folder.real_path.join(SKILL_MD)
        }
        Err(_) => return Ok(None),
    };
    match read_unlinked_file(&real_path, MAX_SKILL_FILES_BYTES) {
        Ok(content) => Ok(Some(FileContent::new(content.bytes))),
        Err(ReadFileError::Io(error)) if !is_not_found(&error) => Err(format!(
            "{}: {}",
            display_path(&real_path),
            io_reason(&error)
        )),
        // It was replaced or removed since the walk.
        Err(_) => Ok(None),
    }
}

fn failed(problem: String) -> Error {
    Error::Source {
        doing: LISTING.into(),
        problem,
    }
}
