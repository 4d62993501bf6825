//! The files of skill folders for the registry: their digests, and reading one.

use std::sync::Arc;
use std::time::SystemTime;

use skills_core::limits::MAX_SKILL_FILES_BYTES;
use skills_core::{
    Error, FileContent, FilePath, Listing, Manifest, SKILL_MD, SkillId, generated_skill_md,
};

use crate::agents::AgentSkill;
use crate::blocking::run_blocking;
use crate::bundle::NoDigests;
use crate::file_set::{ParsedFile, ParsedFiles};
use crate::generated::generate;
use crate::markdown::{SkillFile, SkillPlace};
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
        let (listed, entries) = self.with_digests().await?;
        let agents = self.agents.list().await?;
        let agents_skills = agent_skills(&agents)
            .map(|entry| Manifest::of_generated(entry.skill.clone(), entry.generated().cloned()));
        Ok(Listing {
            entries: entries.into_iter().chain(agents_skills).collect(),
            skipped: [&*listed.skipped, &*agents.skipped].concat(),
        })
    }

    /// The skills with their digests, from one walk. A skill whose files cannot be read, or
    /// change all the time, has none.
    async fn with_digests(&self) -> Result<(Arc<ParsedFiles<SkillFile>>, Vec<Manifest>), Error> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let listed = self.skills.list().await?;
            let files = Arc::clone(&listed);
            let digests = move |_: &_| {
                let manifest = |file: &ParsedFile<SkillFile>| match manifest(file, files.started) {
                    Ok(manifest) => Ok(manifest),
                    Err(NoDigests::Unreadable(problem)) => Ok(without_files(file, &problem)),
                    Err(NoDigests::Changed) if attempt == ATTEMPTS => Ok(without_files(
                        file,
                        "its files change all the time; try again",
                    )),
                    Err(problem) => Err(problem),
                };
                files.files.iter().map(manifest).collect()
            };
            let manifests: Result<Vec<_>, _> = run_blocking(&self.skills, LISTING, digests).await?;
            match manifests {
                Ok(manifests) => return Ok((listed, manifests)),
                Err(NoDigests::Changed) => {}
                Err(NoDigests::Unreadable(problem) | NoDigests::Outage(problem)) => {
                    return Err(failed(problem));
                }
            }
        }
    }

    /// Reads a file of a skill now: of its folder, or its generated `SKILL.md`.
    pub(crate) async fn read_bundled_file(
        &self,
        id: &SkillId,
        path: &FilePath,
    ) -> Result<Option<FileContent>, Error> {
        let found = self.read_markdown_file(id, path).await?;
        if found.is_some() || path.as_str() != SKILL_MD {
            return Ok(found);
        }
        let agents = self.agents.list().await?;
        let entry = agent_skills(&agents).find(|entry| entry.skill.id == *id);
        let text = entry.and_then(|AgentSkill { skill, body, .. }| {
            generated_skill_md::generate(id, &skill.head, body, body)
        });
        Ok(text.map(|text| FileContent::new(text.as_bytes())))
    }

    async fn read_markdown_file(
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
            let found = skills.lookup_place(&wanted)?;
            Some(found.and_then(|place| match place {
                Some(place) => read(&place, &wanted, &wanted_path),
                None => Ok(None),
            }))
        });
        let content = if let Some(content) = lookup.await? {
            content
        } else {
            let listed = self.skills.list().await?;
            let mut files = listed.files.iter();
            let Some(file) = files.find(|file| file.entry.skill.id == *id) else {
                return Ok(None);
            };
            let place = match &file.folder {
                Some(folder) => SkillPlace::Folder(FoundFolder::clone(folder)),
                None => SkillPlace::File(file.real_path().to_owned()),
            };
            let (id, path) = (id.clone(), path.clone());
            run_blocking(&self.skills, &doing, move |_| read(&place, &id, &path)).await?
        };
        content.map_err(|problem| Error::Source { doing, problem })
    }
}

fn manifest(file: &ParsedFile<SkillFile>, walked: SystemTime) -> Result<Manifest, NoDigests> {
    let entry = &file.entry;
    let skill = entry.skill.clone();
    if let (Some(parsed), Some(found)) = (&entry.folder, &file.folder) {
        let digests = parsed.bundle.digest_files(found, parsed.skill_md, walked)?;
        return Ok(Manifest::of_folder(skill, digests));
    }
    let generated = match &entry.generated {
        Some(generated) => generated.digest(&skill.id, file.real_path())?,
        None => None,
    };
    Ok(Manifest::of_generated(skill, generated))
}

/// The manifest of a skill whose files cannot be digested.
fn without_files(file: &ParsedFile<SkillFile>, problem: &str) -> Manifest {
    let mut skill = file.entry.skill.clone();
    if let Some(folder) = &mut skill.folder {
        let folder = Arc::make_mut(folder);
        folder.files = Arc::default();
        folder.files_problem = Some(problem.into());
    }
    Manifest::of_folder(skill, Arc::default())
}

/// Reads a file of a skill; fails with its path and the reason.
fn read(place: &SkillPlace, id: &SkillId, path: &FilePath) -> Result<Option<FileContent>, String> {
    match place {
        SkillPlace::Folder(folder) => read_member(folder, path),
        SkillPlace::File(file) if path.as_str() == SKILL_MD => generate(id, file),
        SkillPlace::File(_) => Ok(None),
    }
}

fn read_member(folder: &FoundFolder, path: &FilePath) -> Result<Option<FileContent>, String> {
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
