//! Finding the skill for a request, and everything a skill builds on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agent3md::TriggerIndex;

use super::Registry;
use crate::links::links;
use crate::{Error, Head, ResourceUri, SkillId};

/// The longest request, in bytes.
pub const REQUEST_MAX: usize = 262_144;
/// The most skills in one chain.
pub const CHAIN_MAX: usize = 256;
/// The most text in one chain, in bytes; the skill that was asked for always fits.
pub const CHAIN_BYTES_MAX: usize = 8_388_608;
/// The most links that lead nowhere in one answer.
const MISSING_MAX: usize = 1_000;

/// A skill that a request calls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id.
    pub id: SkillId,
    /// Its title, or its id.
    pub title: Arc<str>,
    /// The phrases that the request calls for, as declared: their number is the score.
    pub matched: Vec<Arc<str>>,
}

/// A skill and what it builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The skill, then depth first what it links to, each once.
    pub skills: Vec<ResolvedSkill>,
    /// Links that lead nowhere.
    pub missing: Vec<Missing>,
    /// Whether that is all: a chain may be longer than an answer gets.
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

/// A link that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Where it should lead.
    pub uri: String,
    /// The skill that has it.
    pub from: SkillId,
    /// Why there is nothing.
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

    /// A skill and everything it builds on. A link that leads nowhere is part of the answer, not
    /// the end of it; only an engine that is gone is.
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
            chain.miss(ResourceUri::Skill(id).to_string(), from, missing);
        }
        Ok(chain.done)
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
    let found = index.route(request).into_iter();
    let found = found.map(|(number, matched)| {
        let (id, head) = skills[number];
        let triggers = triggers(head);
        Match {
            id: id.clone(),
            title: head.title_or(id),
            matched: matched
                .into_iter()
                .map(|n| Arc::clone(&triggers[n]))
                .collect(),
        }
    });
    found.collect()
}

/// A walk in progress. Its own stack: a chain may be longer than a thread's.
struct Chain {
    titles: HashMap<SkillId, Arc<str>>,
    done: Resolved,
    bytes: usize,
    seen: HashSet<SkillId>,
    /// What is still to be visited, and who links to it; the next one last.
    ahead: Vec<(SkillId, SkillId)>,
}

impl Chain {
    fn new(titles: HashMap<SkillId, Arc<str>>) -> Self {
        Self {
            titles,
            done: Resolved {
                skills: Vec::new(),
                missing: Vec::new(),
                complete: true,
            },
            bytes: 0,
            seen: HashSet::new(),
            ahead: Vec::new(),
        }
    }

    fn add(&mut self, id: SkillId, text: Arc<str>) {
        if self.bytes + text.len() > CHAIN_BYTES_MAX && !self.done.skills.is_empty() {
            self.done.complete = false;
            return;
        }
        self.bytes += text.len();
        self.seen.insert(id.clone());
        let (links, all) = links(&text);
        self.done.complete &= all;
        let first = self.ahead.len();
        for link in links {
            match link.to {
                Ok(to) if self.seen.contains(&to) => {}
                Ok(to) => self.ahead.push((to, id.clone())),
                Err(reason) => self.miss(link.uri, id.clone(), reason),
            }
        }
        self.ahead[first..].reverse();
        let title = self.titles.get(&id).cloned();
        let title = title.unwrap_or_else(|| id.shared());
        self.done.skills.push(ResolvedSkill { id, title, text });
    }

    /// The next skill to visit, and who links to it.
    fn next(&mut self) -> Option<(SkillId, SkillId)> {
        loop {
            let (id, from) = self.ahead.pop()?;
            if self.seen.contains(&id) {
                continue;
            }
            if self.done.skills.len() >= CHAIN_MAX {
                self.done.complete = false;
                return None;
            }
            // Marked now: what is missing is looked for once, too.
            self.seen.insert(id.clone());
            return Some((id, from));
        }
    }

    fn miss(&mut self, uri: String, from: SkillId, reason: String) {
        if self.done.missing.len() >= MISSING_MAX {
            self.done.complete = false;
            return;
        }
        self.done.missing.push(Missing { uri, from, reason });
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
