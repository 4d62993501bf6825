//! Registering, unregistering and listing skills.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Registry, unshadowed};
use crate::markdown::Head;
use crate::skill::check_body;
use crate::slot::Snapshot;
use crate::{Change, Error, Json, Listing, Origin, Skill, SkillId, SourceSkill};

/// The short form of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillHead {
    /// Its id.
    pub id: SkillId,
    /// The length of its body.
    pub bytes: usize,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it lives.
    pub origin: Origin,
}

/// Skills of a source that nothing shadows.
pub(super) struct FromSource {
    pub origin: Origin,
    pub skills: Vec<SourceSkill>,
}

impl Registry {
    /// Keeps a body under an id; answers when.
    pub async fn register_skill(&self, id: SkillId, body: String) -> Result<Arc<str>, Error> {
        check_body(&body)?;
        let key = id.shared();
        let doing = || format!("register skill `{id}`");
        let make = || Skill::new(id.clone(), body, (self.now)());
        let row = self.skills.put(key, make).await;
        let row = row.map_err(|cause| Error::State {
            doing: doing(),
            cause,
        })?;
        Ok(Arc::clone(&row.registered_at))
    }

    /// Removes a registered skill; answers whether there was one.
    pub async fn unregister_skill(&self, id: &SkillId) -> Result<bool, Error> {
        let change = Change::SkillUnregistered(id.clone());
        let removed = self.skills.remove(id.shared(), &change).await;
        removed.map_err(|cause| Error::State {
            doing: format!("unregister skill `{id}`"),
            cause,
        })
    }

    /// Whether a worker registered a skill under this id, readable or not.
    pub async fn is_skill_registered(&self, id: &SkillId) -> Result<bool, Error> {
        let found = self.skills.get(id.as_str()).await;
        let found = found.map_err(|cause| Error::State {
            doing: format!("look for skill `{id}`"),
            cause,
        })?;
        Ok(found.is_some())
    }

    /// Every skill of every origin, in byte order of their ids.
    pub async fn skills(&self) -> Result<Listing<SkillHead>, Error> {
        let (state, mut skipped) = self.stored_skills("list the skills").await?;
        let mut entries: Vec<SkillHead> = state
            .rows
            .iter()
            .map(|skill| SkillHead {
                id: skill.id.clone(),
                bytes: skill.body.len(),
                registered_at: Arc::clone(&skill.registered_at),
                origin: Origin::State,
            })
            .collect();
        for FromSource { origin, skills } in self.source_skills(&state.rows, &mut skipped).await? {
            entries.extend(skills.into_iter().map(|skill| SkillHead {
                id: skill.id,
                bytes: skill.bytes,
                registered_at: skill.registered_at,
                origin,
            }));
        }
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Listing { entries, skipped })
    }

    /// What `encode` makes of [`skills`](Self::skills). Where nothing but state is
    /// listed, it is made once per change and kept under `name`.
    pub async fn skills_as(
        &self,
        name: &'static str,
        encode: impl FnOnce(Listing<SkillHead>) -> Result<Json, Error>,
    ) -> Result<Json, Error> {
        let (state, _) = self.stored_skills("list the skills").await?;
        if let Some(answer) = state.answer(name) {
            return Ok(answer);
        }
        let answer = encode(self.skills().await?)?;
        self.keep_answer(&state, name, &answer).await;
        Ok(answer)
    }

    /// Keeps an answer that was made of `state` alone: documents change without a
    /// word, and state may have changed while it was made.
    pub(super) async fn keep_answer(
        &self,
        state: &Arc<Snapshot<Skill>>,
        name: &'static str,
        answer: &Json,
    ) {
        if self.sources.is_empty()
            && let Ok(now) = self.skills.snapshot().await
            && Arc::ptr_eq(state, &now)
        {
            state.keep_answer(name, answer);
        }
    }

    pub(super) async fn stored_skills(
        &self,
        doing: &str,
    ) -> Result<(Arc<Snapshot<Skill>>, Vec<crate::Skipped>), Error> {
        let state = self.skills.snapshot().await;
        let state = state.map_err(|cause| Error::State {
            doing: doing.into(),
            cause,
        })?;
        let skipped = state.damaged.clone();
        Ok((state, skipped))
    }

    /// The skills of each source, without those that state or an earlier source
    /// already has.
    pub(super) async fn source_skills(
        &self,
        stored: &[Arc<Skill>],
        skipped: &mut Vec<crate::Skipped>,
    ) -> Result<Vec<FromSource>, Error> {
        if self.sources.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken: HashMap<String, Origin> = stored
            .iter()
            .map(|skill| (skill.id.to_string(), Origin::State))
            .collect();
        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let origin = source.origin();
            let listing = source.skills().await?;
            skipped.extend(listing.skipped);
            let skills = unshadowed(
                origin,
                listing.entries,
                |s| s.id.as_str(),
                &mut taken,
                skipped,
            );
            all.push(FromSource { origin, skills });
        }
        Ok(all)
    }
}

impl FromSource {
    pub(super) fn heads(&self) -> impl Iterator<Item = (&SkillId, &Head)> {
        self.skills.iter().map(|skill| (&skill.id, &skill.head))
    }
}
