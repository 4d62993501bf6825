//! Keeping the search index current: what changed since the last search is indexed before the next.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::Poll;

use futures_util::lock::Mutex as AsyncMutex;
use skills_search::Group;

use super::Registry;
use crate::search_index::{Applied, SearchIndex, prompt_group, skill_group};
use crate::{Error, Head, Prompt, Skill, SkillId, SourcePrompt, SourceSkill};

/// Bytes of bodies that are in memory before they are indexed, unless one is larger.
const READ_AT_ONCE: usize = 16 << 20;
/// Changes that are indexed before other tasks run: a few milliseconds.
pub(super) const INDEXED_AT_ONCE: usize = 256;

/// The index, and what keeps it current.
#[derive(Default)]
pub(super) struct Searcher {
    // A std lock: it is never held across an await.
    index: RwLock<SearchIndex>,
    /// Changes of state that are not indexed yet. Held while they are, so that a search that finds
    /// no change waits for them.
    unindexed: AsyncMutex<Unindexed>,
    /// One reader of changed bodies at a time.
    reading: AsyncMutex<()>,
    walks: AtomicU64,
}

/// Changes in the order in which they are indexed. A search that is cancelled leaves them to the
/// next one.
#[derive(Default)]
struct Unindexed {
    skills: VecDeque<(Arc<str>, Option<Arc<Skill>>)>,
    prompts: VecDeque<(Arc<str>, Option<Arc<Prompt>>)>,
}

impl Unindexed {
    fn is_empty(&self) -> bool {
        self.skills.is_empty() && self.prompts.is_empty()
    }
}

impl Searcher {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, SearchIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, SearchIndex> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    /// Brings the index to the state of this moment: what changed since the last call is indexed.
    pub(super) async fn update_index(&self) -> Result<(), Error> {
        let failed = || Error::state(|| "search");
        self.skills.refresh_scope().await.map_err(failed())?;
        self.prompts.refresh_scope().await.map_err(failed())?;
        self.index_changes().await;
        if self.sources.is_empty() {
            return Ok(());
        }
        let walk = self.searcher.walks.fetch_add(1, Ordering::Relaxed) + 1;
        let state = self.stored_skills("search").await?;
        let mut skills = self.source_skills(&state).await?.entries;
        skills.retain(|skill| self.is_offered(&skill.id, &skill.head));
        let prompts = self.stored_prompts().await?;
        let prompts = self.source_prompts(&prompts).await?.entries;
        self.update_sources(walk, skills, prompts).await
    }

    /// Indexes the changes of state, in pieces: all rows of a large registry at once would keep
    /// the thread from other tasks.
    async fn index_changes(&self) {
        let mut unindexed = self.searcher.unindexed.lock().await;
        unindexed.skills.extend(self.skills.take_changes());
        unindexed.prompts.extend(self.prompts.take_changes());
        while !unindexed.is_empty() {
            {
                let mut index = self.searcher.write();
                let some = unindexed.skills.len().min(INDEXED_AT_ONCE);
                let changes: Vec<_> = unindexed.skills.drain(..some).collect();
                index.set_skills(changes.iter().map(|(key, skill)| {
                    let is_offered = |skill: &&Skill| self.is_offered(&skill.id, skill.head());
                    (key, skill.as_deref().filter(is_offered))
                }));
                let some = unindexed.prompts.len().min(INDEXED_AT_ONCE);
                for (key, prompt) in unindexed.prompts.drain(..some) {
                    index.set_prompt(&key, prompt.as_deref());
                }
            }
            if !unindexed.is_empty() {
                let_others_run().await;
            }
        }
    }

    async fn update_sources(
        &self,
        walk: u64,
        skills: Vec<SourceSkill>,
        prompts: Vec<SourcePrompt>,
    ) -> Result<(), Error> {
        if self.searcher.read().has_applied(&skills, &prompts) {
            return Ok(());
        }
        let _reading = self.searcher.reading.lock().await;
        let mut listed: HashSet<(Group, Arc<str>)> = HashSet::new();
        let keys = skills
            .iter()
            .map(|s| (skill_group(s.origin), s.id.shared()));
        listed.extend(keys);
        let keys = prompts
            .iter()
            .map(|p| (prompt_group(p.origin), p.name.shared()));
        listed.extend(keys);
        let is_listed = |group: Group, key: &Arc<str>| listed.contains(&(group, Arc::clone(key)));
        // A later walk saw everything that this one saw, or what came after it.
        let changed: Vec<&SourceSkill> = {
            let index = self.searcher.read();
            if index.walk > walk {
                return Ok(());
            }
            skills
                .iter()
                .filter(|skill| index.has_changed(skill))
                .collect()
        };
        {
            let mut index = self.searcher.write();
            // Until all is indexed: a search that is cancelled leaves a part of it.
            index.applied = None;
            for (group, key) in index.gone(is_listed) {
                index.remove(group, &key);
            }
            for prompt in &prompts {
                if index.has_prompt_changed(prompt) {
                    index.set_source_prompt(prompt);
                }
            }
        }
        let mut changed = changed.as_slice();
        while !changed.is_empty() {
            let (some, others) = changed.split_at(first_bytes(changed.iter().copied()));
            changed = others;
            let ids: Vec<SkillId> = some.iter().map(|skill| skill.id.clone()).collect();
            let bodies = self.source_bodies(ids).await?;
            let pieces = some.chunks(INDEXED_AT_ONCE);
            for (skills, bodies) in pieces.zip(bodies.chunks(INDEXED_AT_ONCE)) {
                // Without a body: removed since the walk. The next walk does not list it.
                let bodies = bodies
                    .iter()
                    .map(|body| body.as_deref().unwrap_or_default());
                let skills = skills.iter().copied().zip(bodies);
                self.searcher.write().set_source_skills(skills);
                let_others_run().await;
            }
        }
        let mut index = self.searcher.write();
        index.walk = walk;
        index.applied = Some(Applied { skills, prompts });
        Ok(())
    }

    fn is_offered(&self, id: &SkillId, head: &Head) -> bool {
        self.visibility(id, head).is_offered()
    }

    /// The bodies of skills, each of the first source that has it.
    pub(super) async fn source_bodies(
        &self,
        ids: Vec<SkillId>,
    ) -> Result<Vec<Option<Arc<str>>>, Error> {
        let mut bodies = vec![None; ids.len()];
        let mut missing: Vec<(usize, SkillId)> = ids.into_iter().enumerate().collect();
        for source in &self.sources {
            let ids: Vec<SkillId> = missing.iter().map(|(_, id)| id.clone()).collect();
            let found = source.bodies(&ids).await?;
            for ((at, _), body) in missing.iter().zip(found) {
                bodies[*at] = body;
            }
            missing.retain(|(at, _)| bodies[*at].is_none());
            if missing.is_empty() {
                break;
            }
        }
        Ok(bodies)
    }
}

/// How many of the first skills are read at once: at least one.
pub(super) fn first_bytes<'a>(skills: impl Iterator<Item = &'a SourceSkill>) -> usize {
    let mut bytes = 0;
    let fits = |skill: &&SourceSkill| {
        bytes += skill.bytes;
        bytes <= READ_AT_ONCE
    };
    skills.take_while(fits).count().max(1)
}

/// Returns to the executor once.
pub(super) async fn let_others_run() {
    let mut is_second = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
