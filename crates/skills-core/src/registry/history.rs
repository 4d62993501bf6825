//! Versions of registered skills and prompts: listing, reading, rolling back.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::entry_versions::{decode_optional, no_such_version, removal, versions};
use super::{Registry, Rollback};
use crate::catalogue::{Catalogue, RemovalNote};
use crate::history::{Note, Version, VersionStore};
use crate::lease::{Lease, LeaseRow};
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::{
    Actor, Current, Digest, EntryName, Error, LeaseTerms, Precondition, Prompt, PromptName,
    PromptRegistration, Skill, SkillId, SkillRegistration, VersionHead, VersionOp, VersionRef,
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
    /// Whether the content was registered already, so that there is no new version.
    pub unchanged: bool,
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
        let unchanged = has_content(&self.skills, &name, version.head.digest).await?;
        let registered_at = self.register(registration).await?;
        let heads = self.skill_history(id).await?;
        Ok(RolledBack::of(
            &heads,
            &version.head,
            registered_at,
            unchanged,
        ))
    }

    /// Registers an older version of a prompt again. Its owner and its lease stay.
    pub async fn rollback_prompt(
        &self,
        name: &PromptName,
        wanted: &VersionRef,
        expected: Precondition,
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
            expected,
            lease,
            rollback: Some(rollback),
            name: name.clone(),
            description: description.into(),
            arguments,
            function_id,
        };
        let unchanged = has_content(&self.prompts, &entry, head.digest).await?;
        let registered_at = self.register_prompt(registration).await?;
        let heads = self.prompt_history(&name).await?;
        let heads: Vec<_> = heads.into_iter().map(|version| version.head).collect();
        Ok(RolledBack::of(&heads, &head, registered_at, unchanged))
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
            None => Err(removal(entry, wanted, &versions)),
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
            now: self.now,
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
        Actor {
            worker_name: self.worker_name(&worker).await,
            ..actor
        }
    }

    /// The name of a worker, if it is known.
    pub(super) async fn worker_name(&self, worker: &Arc<str>) -> Option<Arc<str>> {
        if let Some(name) = self.worker_names().get(worker) {
            return name.clone();
        }
        // A failure is not remembered, so that the next change asks again.
        let workers = self.workers().await.ok()?;
        let found = workers.into_iter().find(|known| *known.id == **worker);
        let name: Option<Arc<str>> = found.and_then(|known| Some(known.name?.into()));
        let mut names = self.worker_names();
        if names.len() >= WORKER_NAMES_MAX {
            names.clear();
        }
        names.insert(Arc::clone(worker), name.clone());
        name
    }

    fn worker_names(&self) -> MutexGuard<'_, HashMap<Arc<str>, Option<Arc<str>>>> {
        let names = self.worker_names.lock();
        names.unwrap_or_else(PoisonError::into_inner)
    }
}

impl RolledBack {
    /// What the versions tell, newest first, of a rollback `to` one of them.
    fn of(
        newest_first: &[VersionHead],
        to: &VersionHead,
        registered_at: Arc<str>,
        unchanged: bool,
    ) -> Self {
        // The newest one with this content: the one that the registration made or left.
        let mut versions = newest_first.iter();
        let found = versions.find(|version| version.digest == to.digest);
        Self {
            version: found.map_or(to.version, |version| version.version),
            from: to.version,
            registered_at,
            unchanged,
        }
    }
}

/// Whether the registered content has this digest, as state has it now.
async fn has_content<T: Row>(
    catalogue: &Catalogue<T>,
    entry: &EntryName,
    digest: Option<Digest>,
) -> Result<bool, Error> {
    let found = catalogue.read_key(entry.name()).await;
    let found = found.map_err(Error::state(|| format!("read {entry}")))?;
    Ok(digest.is_some() && Current::of(found.as_ref()).digest() == digest)
}
