//! Registering, unregistering and listing skills.

use std::sync::Arc;

use super::collisions::{Hides, Unshadowed};
use super::leasing::Terms;
use super::{Registry, Rollback};
use crate::front_matter::Document;
use crate::row_slot::{RowSlot, Snapshot};
use crate::skill::check_body;
use crate::{
    Actor, Change, Current, Digest, EntryName, Error, Json, LeaseHead, LeaseTerms, Listing, Origin,
    Precondition, Skill, SkillId, Skipped, SourceSkill, VersionOp, Visibility,
};

/// The short form of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillHead {
    /// Its id.
    pub id: SkillId,
    /// The length of its body.
    pub bytes: usize,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it is stored.
    pub origin: Origin,
    /// How visible it is.
    pub visibility: Visibility,
    /// The number of files in its folder, if it is one.
    pub files: Option<usize>,
    /// The origins of documents with the same id and another body, which it hides.
    pub hides: Vec<Origin>,
    /// Its owner and its lease, if it has one of them.
    pub lease: Option<LeaseHead>,
}

/// A skill to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRegistration {
    /// Its id.
    pub id: SkillId,
    /// Its markdown.
    pub body: String,
    /// What must be registered under the id before.
    pub expected: Precondition,
    /// Its owner and its lease.
    pub lease: LeaseTerms,
    /// The version that it brings back, if it is a rollback.
    pub rollback: Option<Rollback>,
}

impl SkillRegistration {
    /// A skill that replaces what is registered under its id.
    pub fn new(id: SkillId, body: String) -> Self {
        Self {
            id,
            body,
            expected: Precondition::Any,
            lease: LeaseTerms::default(),
            rollback: None,
        }
    }
}

/// What an operator should know about registered skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisteredFindings {
    /// Skills that are not served.
    pub off: Vec<Skipped>,
    /// Skills that are served, with what their authors should correct in the front matter.
    pub warnings: Vec<Skipped>,
}

/// How much is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistrySizes {
    /// Skills that can be served.
    pub skills: usize,
    /// Prompts that can be served.
    pub prompts: usize,
    /// The bodies of these skills together, in bytes.
    pub body_bytes: usize,
}

impl Registry {
    /// Stores a body under an id. Returns the time of registration.
    pub async fn register_skill(&self, id: SkillId, body: String) -> Result<Arc<str>, Error> {
        self.register(SkillRegistration::new(id, body)).await
    }

    /// Stores a skill. Returns the time of registration.
    pub async fn register(&self, skill: SkillRegistration) -> Result<Arc<str>, Error> {
        let SkillRegistration {
            id,
            body,
            expected,
            lease,
            rollback,
        } = skill;
        check_body(&body)?;
        self.check_skill_conflict(&id, &body).await?;
        let terms = Terms {
            entry: EntryName::Skill(id.clone()),
            expected,
            lease,
            rollback,
        };
        let row = (&self.skills, id.shared());
        let make = || Skill::new(id, body, (self.now)());
        self.put_with_lease(row, terms, make).await
    }

    /// The digest of the registered body; none if nothing is registered that can be read.
    pub async fn registered_digest(&self, id: &SkillId) -> Result<Option<Digest>, Error> {
        Ok(Current::of(self.stored_skill(id).await?.as_ref()).digest())
    }

    /// Removes a registered skill. Returns whether there was one.
    pub async fn unregister_skill(&self, id: &SkillId) -> Result<bool, Error> {
        self.unregister(id, Precondition::Any, Actor::default())
            .await
    }

    /// Removes a registered skill if it is the expected one. Returns whether there was one: a
    /// skill that is gone already is not a conflict.
    pub async fn unregister(
        &self,
        id: &SkillId,
        expected: Precondition,
        actor: Actor,
    ) -> Result<bool, Error> {
        let note = self.removal_note(VersionOp::Unregister, actor).await;
        let entry = EntryName::Skill(id.clone());
        let ending = self.known_lease(&entry);
        let change = Change::SkillUnregistered(id.clone());
        let removed = self
            .skills
            .remove_expected(id.shared(), &change, expected, &note);
        let removed = removed.await;
        self.end_lease_of_removed(ending, &removed).await;
        removed.map_err(|error| error.into_error("unregister", expected, &entry))
    }

    /// Whether state has a skill under this id, readable or not. Reads one row at most.
    pub async fn is_skill_registered(&self, id: &SkillId) -> Result<bool, Error> {
        Ok(self.stored_skill(id).await?.is_some())
    }

    pub(super) fn is_served(&self, skill: &Skill) -> bool {
        let declared = skill.declared_visibility();
        self.visibility.visibility(&skill.id, declared).is_served()
    }

    pub(super) async fn stored_skill(&self, id: &SkillId) -> Result<Option<RowSlot<Skill>>, Error> {
        let found = self.skills.get(id.as_str()).await;
        found.map_err(Error::state(|| format!("look for skill `{id}`")))
    }

    /// How many skills are registered, and how many rows cannot be served. Answered from
    /// memory while the engine reports its changes; no source is read.
    pub async fn registered_skill_counts(&self) -> Result<(usize, usize), Error> {
        let state = self.stored_skills("count the skills").await?;
        Ok((state.rows.len(), state.damaged.len()))
    }

    /// How much is registered. No source is read.
    pub async fn sizes(&self) -> Result<RegistrySizes, Error> {
        let skills = self.stored_skills("count the skills").await?;
        let prompts = self.stored_prompts().await?;
        Ok(RegistrySizes {
            skills: skills.rows.len(),
            prompts: prompts.rows.len(),
            body_bytes: skills.rows.iter().map(|skill| skill.body.len()).sum(),
        })
    }

    /// Whether there is a skill. No source is read if one is registered.
    pub async fn has_skills(&self) -> Result<bool, Error> {
        let state = self.stored_skills("look for skills").await?;
        Ok(!state.rows.is_empty() || !self.source_skills(&state).await?.entries.is_empty())
    }

    /// The registered skills that cannot be served, and why.
    pub async fn damaged_skills(&self) -> Result<Vec<Skipped>, Error> {
        Ok(self.stored_skills("list the skills").await?.damaged.clone())
    }

    /// The registered skills that are off, and those with mistakes in their front matter.
    pub async fn registered_findings(&self) -> Result<RegisteredFindings, Error> {
        let state = self.stored_skills("list the skills").await?;
        let place = |id: &SkillId| format!("{}/{id}", self.skills.scope());
        let off = state.off.iter().filter_map(|skill| {
            let declared = skill.declared_visibility();
            Some(Skipped {
                place: place(&skill.id),
                reason: self.visibility.off_reason(&skill.id, declared)?,
            })
        });
        let mut warnings = Vec::new();
        for skill in &state.rows {
            let found = Document::parse(&skill.body).warnings();
            warnings.extend(found.map(|reason| Skipped {
                place: place(&skill.id),
                reason,
            }));
        }
        Ok(RegisteredFindings {
            off: off.collect(),
            warnings,
        })
    }

    /// Every skill of every origin, in byte order of their ids.
    pub async fn skills(&self) -> Result<Listing<SkillHead>, Error> {
        let Listing {
            mut entries,
            mut skipped,
        } = self.stored_heads().await?;
        let stored = entries.iter().map(|head| head.id.shared());
        let custom = self.unshadowed_skills(stored).await?;
        let stored: Vec<_> = entries.iter().map(|head| (&head.id, head.bytes)).collect();
        let mut hides = self.hides(&custom, &stored).await?;
        skipped.extend(custom.shadowed);
        let custom = custom.listing;
        // What is off hides the file of the same id, as every registered skill does.
        entries.retain(|head| {
            let reason = self.visibility.off_reason(&head.id, Some(head.visibility));
            let is_off = reason.is_some();
            skipped.extend(reason.map(|reason| Skipped {
                place: format!("{}/{}", self.skills.scope(), head.id),
                reason,
            }));
            !is_off
        });
        entries.extend(custom.entries.into_iter().map(|skill| SkillHead {
            visibility: self.visibility(&skill.id, &skill.head),
            id: skill.id,
            bytes: skill.bytes,
            registered_at: skill.registered_at,
            origin: skill.origin,
            files: skill.folder.as_ref().map(|folder| folder.files.len()),
            hides: Vec::new(),
            lease: None,
        }));
        if !hides.is_empty() {
            for head in &mut entries {
                head.hides = hides.remove(&head.id).unwrap_or_default();
            }
        }
        if let Some(marks) = self.lease_marks().await? {
            let stored = entries.iter_mut();
            for head in stored.filter(|head| head.origin == Origin::State) {
                head.lease = marks.of_skill(&head.id, &head.registered_at).cloned();
            }
        }
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        skipped.extend(custom.skipped);
        Ok(Listing { entries, skipped })
    }

    /// The registered skills. Rows in this process are read without keeping their bodies,
    /// unless one is damaged: then the image decides.
    async fn stored_heads(&self) -> Result<Listing<SkillHead>, Error> {
        const DOING: &str = "list the skills";
        let (mut entries, mut damaged) = (Vec::new(), false);
        let visited = self.skills.for_each_row(&mut |(key, text)| match text
            .ok()
            .and_then(SkillHead::from_json)
        {
            Some(mut head) if head.id.as_str() == key => {
                head.visibility = self.visibility.visibility(&head.id, Some(head.visibility));
                entries.push(head);
            }
            _ => damaged = true,
        });
        if let Some(visited) = visited {
            visited.map_err(Error::state(|| DOING))?;
            if !damaged {
                entries.sort_by(|a, b| a.id.cmp(&b.id));
                let skipped = Vec::new();
                return Ok(Listing { entries, skipped });
            }
        }
        let state = self.stored_skills(DOING).await?;
        let head = |skill: &Arc<Skill>| SkillHead {
            id: skill.id.clone(),
            bytes: skill.body.len(),
            registered_at: Arc::clone(&skill.registered_at),
            origin: Origin::State,
            visibility: {
                let declared = skill.declared_visibility();
                self.visibility.visibility(&skill.id, declared)
            },
            files: None,
            hides: Vec::new(),
            lease: None,
        };
        let mut entries: Vec<_> = state.rows.iter().chain(&state.off).map(head).collect();
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Listing {
            entries,
            skipped: state.damaged.clone(),
        })
    }

    /// An encoded list of skills, as `encode` returns it or as it was kept under `name`.
    ///
    /// It is kept until the next change, and only if it depends on nothing but state in
    /// memory: sources, and state without events, change without notice.
    pub async fn cached_list(
        &self,
        name: &'static str,
        encode: impl Future<Output = Result<Json, Error>>,
    ) -> Result<Json, Error> {
        if !self.sources.is_empty() || !self.skills.is_watched() {
            return encode.await;
        }
        let state = self.stored_skills("list the skills").await?;
        let marks = self.lease_marks().await?;
        if let Some(json) = state.encoded(name, marks.as_ref()) {
            return Ok(json);
        }
        let json = encode.await?;
        // State may have changed in the meantime.
        let now = self.skills.snapshot().await;
        if now.is_ok_and(|now| Arc::ptr_eq(&state, &now)) && self.lease_marks().await? == marks {
            state.keep_encoded(name, marks, &json);
        }
        Ok(json)
    }

    pub(super) async fn stored_skills(&self, doing: &str) -> Result<Arc<Snapshot<Skill>>, Error> {
        let state = self.skills.snapshot().await;
        state.map_err(Error::state(|| doing))
    }

    /// The skills of every source that state does not shadow.
    pub(super) async fn source_skills(
        &self,
        state: &Snapshot<Skill>,
    ) -> Result<Listing<SourceSkill>, Error> {
        Ok(self.unshadowed_skills(state.ids()).await?.listing)
    }

    /// The same, what state shadows, and what the served skills of all origins hide.
    pub(super) async fn source_skills_with_hidden(
        &self,
        state: &Snapshot<Skill>,
    ) -> Result<(Unshadowed<SourceSkill>, Hides), Error> {
        let skills = self.unshadowed_skills(state.ids()).await?;
        let stored = state.rows.iter().map(|skill| (&skill.id, skill.body.len()));
        let stored: Vec<_> = stored.collect();
        let hides = self.hides(&skills, &stored).await?;
        Ok((skills, hides))
    }

    pub(super) async fn unshadowed_skills(
        &self,
        stored: impl Iterator<Item = Arc<str>>,
    ) -> Result<Unshadowed<SourceSkill>, Error> {
        let key = |skill: &SourceSkill| (skill.id.shared(), skill.origin);
        let mut skills = self
            .unshadowed(|source| source.skills(), key, stored)
            .await?;
        let listing = &mut skills.listing;
        listing.entries.retain(|skill| {
            let reason = self.visibility.off_reason(&skill.id, skill.head.visibility);
            let is_off = reason.is_some();
            listing.skipped.extend(reason.map(|reason| Skipped {
                place: format!("{}: {}", skill.origin, skill.id),
                reason,
            }));
            !is_off
        });
        Ok(skills)
    }
}
