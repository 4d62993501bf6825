//! What links to a skill. The links of each text are kept until the text changes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::Registry;
use super::indexing::{INDEXED_AT_ONCE, first_bytes, let_others_run};
use crate::links::{Target, links};
use crate::search_index::stamp;
use crate::{Error, FilePath, SKILL_MD, SkillId};

/// The links of every skill, by its id, as of the last question.
#[derive(Default)]
pub(super) struct LinkCache(Mutex<HashMap<SkillId, Arc<Linked>>>);

struct Linked {
    /// Tells whether the text changed.
    stamp: u64,
    /// The ids that it links to.
    to: Box<[SkillId]>,
}

impl Registry {
    /// The ids of the skills whose texts link to one, in byte order.
    pub async fn linked_from(&self, id: &SkillId) -> Result<Vec<SkillId>, Error> {
        let state = self.stored_skills("find what links to a skill").await?;
        let sources = self.source_skills(&state).await?.entries;
        let mut old = std::mem::take(&mut *self.lock_links());
        let mut new = HashMap::with_capacity(state.rows.len() + sources.len());
        let mut read = 0;
        for skill in &state.rows {
            let mut hasher = DefaultHasher::new();
            (&skill.registered_at, skill.body.len()).hash(&mut hasher);
            let stamp = hasher.finish();
            let known = old.remove(&skill.id).filter(|known| known.stamp == stamp);
            let known = known.unwrap_or_else(|| {
                read += 1;
                linked(stamp, &skill.id, &skill.body, false)
            });
            new.insert(skill.id.clone(), known);
            if read == INDEXED_AT_ONCE {
                read = 0;
                let_others_run().await;
            }
        }
        let mut changed = Vec::new();
        for skill in &sources {
            let stamp = stamp(skill);
            match old.remove(&skill.id).filter(|known| known.stamp == stamp) {
                Some(known) => drop(new.insert(skill.id.clone(), known)),
                None => changed.push((skill, stamp)),
            }
        }
        let mut changed = changed.as_slice();
        while !changed.is_empty() {
            let skills = changed.iter().map(|(skill, _)| *skill);
            let (some, others) = changed.split_at(first_bytes(skills));
            changed = others;
            let ids = some.iter().map(|(skill, _)| skill.id.clone()).collect();
            for ((skill, stamp), body) in some.iter().zip(self.source_bodies(ids).await?) {
                let body = body.unwrap_or_default();
                let known = linked(*stamp, &skill.id, &body, skill.folder.is_some());
                new.insert(skill.id.clone(), known);
            }
        }
        let from = new.iter().filter(|(_, known)| known.to.contains(id));
        let mut from: Vec<SkillId> = from.map(|(from, _)| from.clone()).collect();
        from.sort();
        *self.lock_links() = new;
        Ok(from)
    }

    fn lock_links(&self) -> std::sync::MutexGuard<'_, HashMap<SkillId, Arc<Linked>>> {
        let links = self.links.0.lock();
        // The map is replaced as a whole.
        links.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The skills that a text links to, each once. Links to itself are left out.
fn linked(stamp: u64, id: &SkillId, body: &str, is_folder: bool) -> Arc<Linked> {
    let path = if is_folder {
        FilePath::in_skill(id, SKILL_MD).ok()
    } else {
        format!("{id}.md").parse().ok()
    };
    let (found, _) = links(body, path.as_ref());
    let target = |target: Target| match target {
        Target::Skill(id) | Target::Version(id, _) | Target::SkillFrom(_, id) => Some(id),
        Target::File(path) => {
            let name = path.as_str().trim_end_matches(SKILL_MD);
            let name = name.strip_suffix(".md").unwrap_or(name);
            name.trim_end_matches('/').parse().ok()
        }
        Target::Section(_) => None,
    };
    let to = found.into_iter().filter_map(|link| target(link.to.ok()?));
    let mut to: Vec<SkillId> = to.filter(|to| to != id).collect();
    to.sort();
    to.dedup();
    let to = to.into();
    Arc::new(Linked { stamp, to })
}
