//! Finding the skill for a request, and resolving a skill with all its dependencies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agent3md::TriggerIndex;

use super::Registry;
use crate::limits::{CHAIN_BYTES_MAX, CHAIN_MAX, MISSING_MAX, REQUEST_MAX};
use crate::links::links;
use crate::{Error, Head, ResourceUri, SkillId};

/// A skill that a request matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id.
    pub id: SkillId,
    /// Its title, or its id.
    pub title: Arc<str>,
    /// The triggers that the request matches, as declared. Their number is the score.
    pub matched: Vec<Arc<str>>,
}

/// A skill and its dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The skill, then the skills it links to, depth first, each once.
    pub skills: Vec<ResolvedSkill>,
    /// Links whose target does not exist or cannot be read.
    pub missing: Vec<Missing>,
    /// Whether the chain is complete; false if a limit was reached.
    pub complete: bool,
}

/// One skill of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSkill {
    /// Its id.
    pub id: SkillId,
    /// Its title, or its id.
    pub title: Arc<str>,
    /// Its markdown.
    pub text: Arc<str>,
}

/// A link whose target does not exist or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The address of the target.
    pub uri: String,
    /// The skill that contains the link.
    pub from: SkillId,
    /// Why the target is missing.
    pub reason: String,
}

impl Registry {
    /// The skills with a trigger that the request matches, best first; ties in order of their ids.
    pub async fn route(&self, request: &str) -> Result<Vec<Match>, Error> {
        check_request(request)?;
        let state = self.stored_skills("find a skill").await?;
        let custom = self.source_skills(&state).await?.entries;
        let stored: Vec<_> = state.rows.iter().map(|s| (&s.id, s.head())).collect();
        let custom: Vec<_> = custom.iter().map(|s| (&s.id, &s.head)).collect();
        let stored_index = state.triggers.get_or_init(|| trigger_index(&stored));
        let mut matches = matches(stored_index, request, &stored);
        matches.extend(self::matches(&trigger_index(&custom), request, &custom));
        matches.sort_by(|a, b| {
            let score = b.matched.len().cmp(&a.matched.len());
            score.then_with(|| a.id.cmp(&b.id))
        });
        Ok(matches)
    }

    /// A skill and all skills it links to, directly or indirectly. A missing target is reported in
    /// the result; only a failure of the engine or a source is an error.
    pub async fn resolve(&self, id: &SkillId) -> Result<Resolved, Error> {
        let titles = self.titles().await?;
        let text = self.body(id).await?;
        let mut chain = Chain::new(titles);
        chain.add(id.clone(), text);
        while let Some((id, from)) = chain.next() {
            let missing = match self.find_body(&id).await {
                Ok(Some(text)) => {
                    chain.add(id, text);
                    continue;
                }
                Ok(None) => format!("skill not found: {id}"),
                Err(error @ Error::Damaged { .. }) => error.to_text(),
                Err(error) => return Err(error),
            };
            chain.add_missing(ResourceUri::Skill(id).to_string(), from, missing);
        }
        Ok(chain.resolved)
    }

    async fn titles(&self) -> Result<HashMap<SkillId, Arc<str>>, Error> {
        let resources = self.resources().await?.into_iter();
        let titled = resources.filter_map(|resource| match resource.uri {
            ResourceUri::Skill(id) => Some((id, resource.name)),
            ResourceUri::Index | ResourceUri::Section(_) => None,
        });
        Ok(titled.collect())
    }
}

fn check_request(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::invalid_hint(
            "text",
            "must be non-empty",
            "say what is to be done, in the user's words",
        ));
    }
    if text.len() > REQUEST_MAX {
        let problem = format!("is too large: {} bytes, at most {REQUEST_MAX}", text.len());
        return Err(Error::invalid("text", problem));
    }
    Ok(())
}

fn trigger_index(skills: &[(&SkillId, &Head)]) -> TriggerIndex {
    TriggerIndex::new(skills.iter().map(|(_, head)| triggers(head)))
}

fn triggers(head: &Head) -> &[Arc<str>] {
    head.triggers.as_deref().unwrap_or_default()
}

fn matches(index: &TriggerIndex, request: &str, skills: &[(&SkillId, &Head)]) -> Vec<Match> {
    let hits = index.route(request);
    let matches = hits.chunk_by(|a, b| a.0 == b.0).map(|hits| {
        let (id, head) = skills[hits[0].0];
        let matched = hits.iter();
        let matched = matched.map(|&(_, number)| Arc::clone(&triggers(head)[number]));
        Match {
            id: id.clone(),
            title: head.title_or(id),
            matched: matched.collect(),
        }
    });
    matches.collect()
}

/// A walk over links in progress. It has a stack of its own, because a chain may be too long
/// for recursion.
struct Chain {
    titles: HashMap<SkillId, Arc<str>>,
    resolved: Resolved,
    bytes: usize,
    seen: HashSet<SkillId>,
    /// The skills to visit and the skills that link to them; the next one is last.
    stack: Vec<(SkillId, SkillId)>,
}

impl Chain {
    fn new(titles: HashMap<SkillId, Arc<str>>) -> Self {
        Self {
            titles,
            resolved: Resolved {
                skills: Vec::new(),
                missing: Vec::new(),
                complete: true,
            },
            bytes: 0,
            seen: HashSet::new(),
            stack: Vec::new(),
        }
    }

    fn add(&mut self, id: SkillId, text: Arc<str>) {
        if self.bytes + text.len() > CHAIN_BYTES_MAX && !self.resolved.skills.is_empty() {
            self.resolved.complete = false;
            return;
        }
        self.bytes += text.len();
        self.seen.insert(id.clone());
        let (links, all) = links(&text);
        self.resolved.complete &= all;
        let first = self.stack.len();
        for link in links {
            match link.to {
                Ok(to) if self.seen.contains(&to) => {}
                Ok(to) => self.stack.push((to, id.clone())),
                Err(reason) => self.add_missing(link.uri, id.clone(), reason),
            }
        }
        self.stack[first..].reverse();
        let title = self.titles.get(&id).cloned();
        let title = title.unwrap_or_else(|| id.shared());
        self.resolved.skills.push(ResolvedSkill { id, title, text });
    }

    /// The next skill to visit, and the skill that links to it.
    fn next(&mut self) -> Option<(SkillId, SkillId)> {
        loop {
            let (id, from) = self.stack.pop()?;
            if self.seen.contains(&id) {
                continue;
            }
            if self.resolved.skills.len() >= CHAIN_MAX {
                self.resolved.complete = false;
                return None;
            }
            // Marked here, so that a missing skill is looked up only once as well.
            self.seen.insert(id.clone());
            return Some((id, from));
        }
    }

    fn add_missing(&mut self, uri: String, from: SkillId, reason: String) {
        if self.resolved.missing.len() >= MISSING_MAX {
            self.resolved.complete = false;
            return;
        }
        self.resolved.missing.push(Missing { uri, from, reason });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_and_oversized_requests_are_refused() {
        let refused = |text: &str| check_request(text).unwrap_err().to_string();
        assert_eq!(refused(" \n"), "text must be non-empty");
        assert!(refused(&"a".repeat(REQUEST_MAX + 1)).contains("too large: 262145 bytes"));
    }
}
