//! Versions of registered skills and prompts: listing, reading, rolling back.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::{Registry, Rollback};
use crate::catalogue::{Catalogue, RemovalNote};
use crate::history::{NotThere, Note, Version, VersionStore, Versions};
use crate::lease::{Lease, LeaseRow};
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::{
    Actor, EntryName, Error, LeaseTerms, Precondition, Prompt, PromptName, PromptRegistration,
    Skill, SkillId, SkillRegistration, VersionHead, VersionOp, VersionRef,
};

/// How many names of workers are remembered.
const WORKER_NAMES_MAX: usize = 4_096;

/// A version of a skill, with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillVersion {
    /// Its number, time and digest.
    pub head: VersionHead,
    /// Its markdown.
    pub body: Arc<str>,
}

/// A version of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptVersion {
    /// Its number, time and digest.
    pub head: VersionHead,
    /// Its definition; none if the prompt was removed.
    pub prompt: Option<Prompt>,
}

/// What a rollback did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolledBack {
    /// The version that has the content now: a new one, unless it was current already.
    pub version: u64,
    /// The version that was brought back.
    pub from: u64,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
}

impl Registry {
    /// The versions of a skill, newest first.
    pub async fn skill_history(&self, id: &SkillId) -> Result<Vec<VersionHead>, Error> {
        let name = EntryName::Skill(id.clone());
        let versions = versions(&self.skills, &name, id.as_str()).await?;
        let heads = versions.list.into_iter().rev();
        Ok(heads.map(|version| version.head).collect())
    }

    /// The versions of a prompt, newest first.
    pub async fn prompt_history(&self, name: &PromptName) -> Result<Vec<PromptVersion>, Error> {
        let entry = EntryName::Prompt(name.clone());
        let versions = versions(&self.prompts, &entry, name.as_str()).await?;
        let version = |version: Version| {
            let prompt = decode_optional(&entry, &version)?;
            let head = version.head;
            Ok(PromptVersion { head, prompt })
        };
        versions.list.into_iter().rev().map(version).collect()
    }

    /// One version of a skill with its text.
    pub async fn skill_version(
        &self,
        id: &SkillId,
        wanted: &VersionRef,
    ) -> Result<SkillVersion, Error> {
        let name = EntryName::Skill(id.clone());
        let (head, skill) = self.version(&self.skills, &name, wanted).await?;
        let skill: Skill = skill;
        Ok(SkillVersion {
            head,
            body: skill.body,
        })
    }

    /// The text of one version for a reader. What is turned off is not served.
    pub(super) async fn version_body(
        &self,
        id: &SkillId,
        wanted: &VersionRef,
    ) -> Result<Arc<str>, Error> {
        let not_found = || Error::NoSuchSkill {
            id: id.clone(),
            nearest: None,
        };
        if self.visibility.turns_off(id) {
            return Err(not_found());
        }
        if let Some(RowSlot::Row(current)) = self.stored_skill(id).await?
            && !self.is_served(&current)
        {
            return Err(not_found());
        }
        let version = self.skill_version(id, wanted).await?;
        let skill = Skill::new(id.clone(), version.body, "");
        if !self.is_served(&skill) {
            return Err(not_found());
        }
        Ok(skill.body)
    }

    /// Registers an older version of a skill again. Its owner and its lease stay.
    pub async fn rollback_skill(
        &self,
        id: &SkillId,
        version: SkillVersion,
        expected: Precondition,
        worker: Option<Arc<str>>,
    ) -> Result<RolledBack, Error> {
        let name = EntryName::Skill(id.clone());
        let from = version.head.version;
        let (lease, rollback) = self.rollback(&name, from, worker).await?;
        let registration = SkillRegistration {
            expected,
            lease,
            rollback: Some(rollback),
            ..SkillRegistration::new(id.clone(), version.body.to_string())
        };
        let registered_at = self.register(registration).await?;
        let version = newest_with(&self.skill_history(id).await?, &version.head);
        Ok(RolledBack {
            version,
            from,
            registered_at,
        })
    }

    /// Registers an older version of a prompt again. Its owner and its lease stay.
    pub async fn rollback_prompt(
        &self,
        name: &PromptName,
        wanted: &VersionRef,
        worker: Option<Arc<str>>,
    ) -> Result<RolledBack, Error> {
        let entry = EntryName::Prompt(name.clone());
        let (head, prompt) = self.version(&self.prompts, &entry, wanted).await?;
        let Prompt {
            name,
            description,
            arguments,
            function_id,
            ..
        } = prompt;
        let (lease, rollback) = self.rollback(&entry, head.version, worker).await?;
        let registration = PromptRegistration {
            lease,
            rollback: Some(rollback),
            name: name.clone(),
            description: description.into(),
            arguments,
            function_id,
        };
        let registered_at = self.register_prompt(registration).await?;
        let heads = self.prompt_history(&name).await?;
        let heads: Vec<_> = heads.into_iter().map(|version| version.head).collect();
        Ok(RolledBack {
            version: newest_with(&heads, &head),
            from: head.version,
            registered_at,
        })
    }

    /// One version and its row.
    async fn version<T: Row>(
        &self,
        catalogue: &Catalogue<T>,
        entry: &EntryName,
        wanted: &VersionRef,
    ) -> Result<(VersionHead, T), Error> {
        let versions = versions(catalogue, entry, entry.name()).await?;
        let version = match versions.find(wanted) {
            Ok(version) => version,
            Err(not_there) => return Err(no_such_version(entry, wanted, &versions, not_there)),
        };
        match decode_optional(entry, version)? {
            Some(row) => Ok((version.head.clone(), row)),
            None => Err(Error::NoSuchVersion {
                what: entry.to_string(),
                version: wanted.to_string(),
                problem: "has no text: it is a removal".into(),
                hint: with_text(&versions),
            }),
        }
    }

    /// What a rollback keeps: the lease of what is registered, with its worker and its end.
    async fn rollback(
        &self,
        entry: &EntryName,
        from: u64,
        worker: Option<Arc<str>>,
    ) -> Result<(LeaseTerms, Rollback), Error> {
        let found = self.leases.rows.get(&entry.key()).await;
        let found = found.map_err(Error::state(|| format!("read the lease of {entry}")))?;
        let mut lease = None;
        if let Some(RowSlot::Row(row)) = found
            && let LeaseRow::Entry(row) = &*row
        {
            for found in &row.leases {
                if self.is_current(found).await? {
                    let since = found.since.as_ref().unwrap_or(&found.registered_at);
                    lease = Some(Lease {
                        since: Some(Arc::clone(since)),
                        is_row: false,
                        ..found.clone()
                    });
                }
            }
        }
        // The caller made the change. It is not the one that keeps the entry registered.
        let terms = LeaseTerms {
            owner: lease.as_ref().and_then(|lease| lease.owner.clone()),
            worker,
            ..LeaseTerms::default()
        };
        Ok((terms, Rollback { from, lease }))
    }

    /// What the version of a removal says.
    pub(super) async fn removal_note(&self, op: VersionOp, actor: Actor) -> RemovalNote {
        RemovalNote {
            note: Note {
                op,
                from: None,
                actor: self.with_name(actor).await,
            },
            at: (self.now)().into(),
        }
    }

    /// What the version of a registration says.
    pub(super) async fn registration_note(
        &self,
        lease: &LeaseTerms,
        rollback: Option<&Rollback>,
    ) -> Note {
        let op = match rollback {
            None => VersionOp::Register,
            Some(_) => VersionOp::Rollback,
        };
        let actor = Actor {
            owner: lease.owner.clone(),
            worker: lease.worker.clone(),
            worker_name: None,
        };
        Note {
            op,
            from: rollback.map(|rollback| rollback.from),
            actor: self.with_name(actor).await,
        }
    }

    /// Adds the name of the worker. The engine is asked once for each worker: later it may be
    /// disconnected, and its id alone says nothing to a person.
    async fn with_name(&self, actor: Actor) -> Actor {
        let Some(worker) = actor.worker.clone() else {
            return actor;
        };
        if !self.skills.versions().is_some_and(VersionStore::is_on) {
            return actor;
        }
        let known = self.worker_names().get(&worker).cloned();
        let worker_name = if let Some(name) = known {
            name
        } else {
            // Not remembered, so that the next change asks again.
            let Ok(workers) = self.workers().await else {
                return actor;
            };
            let found = workers.into_iter().find(|known| *known.id == *worker);
            let name: Option<Arc<str>> = found.and_then(|known| Some(known.name?.into()));
            let mut names = self.worker_names();
            if names.len() >= WORKER_NAMES_MAX {
                names.clear();
            }
            names.insert(worker, name.clone());
            name
        };
        Actor {
            worker_name,
            ..actor
        }
    }

    fn worker_names(&self) -> MutexGuard<'_, HashMap<Arc<str>, Option<Arc<str>>>> {
        let names = self.worker_names.lock();
        names.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The versions of an entry with the one that is registered.
async fn versions<T: Row>(
    catalogue: &Catalogue<T>,
    entry: &EntryName,
    key: &str,
) -> Result<Versions, Error> {
    let failed = |cause| Error::state(|| format!("read the versions of {entry}"))(cause);
    let mut versions = match catalogue.versions() {
        Some(versions) => versions.read(key).await.map_err(failed)?,
        None => Versions::default(),
    };
    if let Some(RowSlot::Row(row)) = catalogue.get(key).await.map_err(failed)? {
        versions.mark_current(&*row);
    }
    if versions.list.is_empty() {
        return Err(Error::NoHistory {
            what: entry.to_string(),
        });
    }
    Ok(versions)
}

fn decode_optional<T: Row>(entry: &EntryName, version: &Version) -> Result<Option<T>, Error> {
    let Some(row) = &version.row else {
        return Ok(None);
    };
    let decoded = T::from_json(row.get());
    decoded.map(Some).map_err(|bad| {
        let what = format!("version {} of {entry}", version.head.version);
        Error::damaged(what, &bad.problem)
    })
}

/// The newest version with the same content: the one that a registration made or left.
fn newest_with(newest_first: &[VersionHead], content: &VersionHead) -> u64 {
    let mut versions = newest_first.iter();
    let found = versions.find(|version| version.digest == content.digest);
    found.map_or(content.version, |version| version.version)
}

fn no_such_version(
    entry: &EntryName,
    wanted: &VersionRef,
    versions: &Versions,
    not_there: NotThere,
) -> Error {
    match not_there {
        NotThere::Unknown => Error::NoSuchVersion {
            what: entry.to_string(),
            version: wanted.to_string(),
            problem: "not found".into(),
            hint: with_text(versions),
        },
        NotThere::Ambiguous(digests) => {
            let digests: Vec<_> = digests.iter().map(|digest| format!("`{digest}`")).collect();
            Error::invalid_hint(
                format!("version {wanted} of {entry}"),
                "is ambiguous: several digests begin with it",
                format!("write more digits: {}", digests.join(", ")),
            )
        }
    }
}

/// The versions that can be read, for a hint.
fn with_text(versions: &Versions) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for version in versions.list.iter().filter(|version| version.row.is_some()) {
        let number = version.head.version;
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    if ranges.is_empty() {
        return "no version has a text any more".into();
    }
    let ranges = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    format!("it has {}", ranges.collect::<Vec<_>>().join(", "))
}
