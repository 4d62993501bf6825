//! Registering, unregistering and listing skills.

use std::sync::Arc;

use super::{Registry, Taken, unshadowed};
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

impl SkillHead {
    fn of(skill: &Skill) -> Self {
        Self {
            id: skill.id.clone(),
            bytes: skill.body.len(),
            registered_at: Arc::clone(&skill.registered_at),
            origin: Origin::State,
        }
    }
}

/// What fails when a list does.
const LISTING: &str = "list the skills";

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
        let (mut entries, mut skipped) = if let Some(heads) = self.glance()? {
            (heads, Vec::new())
        } else {
            let (state, skipped) = self.stored_skills(LISTING).await?;
            let heads = state.rows.iter().map(|skill| SkillHead::of(skill));
            (heads.collect::<Vec<_>>(), skipped)
        };
        let stored = entries.iter().map(|head| head.id.shared());
        let custom = self.source_skills(stored, &mut skipped).await?;
        entries.extend(custom.into_iter().map(|skill| SkillHead {
            id: skill.id,
            bytes: skill.bytes,
            registered_at: skill.registered_at,
            origin: skill.origin,
        }));
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Listing { entries, skipped })
    }

    /// What `encode` makes of [`skills`](Self::skills), kept under `name`.
    pub async fn skills_as(
        &self,
        name: &'static str,
        encode: impl FnOnce(Listing<SkillHead>) -> Result<Json, Error>,
    ) -> Result<Json, Error> {
        let make = async { encode(self.skills().await?) };
        self.keep_answer(LISTING, name, make).await
    }

    /// Every registered skill in short, for whoever asks once: read row by row, and no
    /// body is kept. None where they are in memory anyway, and where something about the
    /// rows needs a closer look.
    fn glance(&self) -> Result<Option<Vec<SkillHead>>, Error> {
        let (mut heads, mut fine) = (Vec::new(), true);
        let shown = self
            .skills
            .glance(&mut |row| match SkillHead::from_json(row) {
                Some(head) => heads.push(head),
                None => fine = false,
            });
        let Some(shown) = shown else { return Ok(None) };
        shown.map_err(|cause| Error::State {
            doing: LISTING.into(),
            cause,
        })?;
        heads.sort_by(|a, b| a.id.cmp(&b.id));
        let once = heads.windows(2).all(|pair| pair[0].id != pair[1].id);
        Ok((fine && once).then_some(heads))
    }

    /// The answer that was made under `name`, or that is made now. Kept only where it is
    /// made of state alone and state is in memory: documents change without a word, and
    /// so does state where nobody rings.
    pub(super) async fn keep_answer(
        &self,
        doing: &str,
        name: &'static str,
        make: impl Future<Output = Result<Json, Error>>,
    ) -> Result<Json, Error> {
        if !self.sources.is_empty() || !self.skills.is_watched() {
            return make.await;
        }
        let (state, _) = self.stored_skills(doing).await?;
        if let Some(answer) = state.answer(name) {
            return Ok(answer);
        }
        let answer = make.await?;
        // State may have changed while it was made.
        let now = self.skills.snapshot().await;
        if now.is_ok_and(|now| Arc::ptr_eq(&state, &now)) {
            state.keep_answer(name, &answer);
        }
        Ok(answer)
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

    /// The skills of every source, without those that state or an earlier source
    /// already has.
    pub(super) async fn source_skills(
        &self,
        stored: impl Iterator<Item = Arc<str>>,
        skipped: &mut Vec<crate::Skipped>,
    ) -> Result<Vec<SourceSkill>, Error> {
        if self.sources.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken: Taken = stored.map(|id| (id, Origin::State)).collect();
        let mut all = Vec::new();
        for source in &self.sources {
            let listing = source.skills().await?;
            skipped.extend(listing.skipped);
            let name = |skill: &SourceSkill| (skill.id.shared(), skill.origin);
            all.extend(unshadowed(listing.entries, name, &mut taken, skipped));
        }
        Ok(all)
    }
}
