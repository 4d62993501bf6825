//! Finding the skill for a request, and everything a skill builds on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Registry;
use crate::links::links;
use crate::route::Request;
use crate::{Error, Head, ResourceUri, SkillId};

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
    /// The skills whose triggers a request calls for, best first; ties in order of their ids.
    pub async fn route(&self, text: &str) -> Result<Vec<Match>, Error> {
        let request = Request::parse(text)?;
        let (state, mut skipped) = self.stored_skills("find a skill").await?;
        let custom = self.source_skills(state.ids(), &mut skipped).await?;
        let stored = state.rows.iter().map(|skill| (&skill.id, skill.head()));
        let custom = custom.iter().map(|skill| (&skill.id, &skill.head));
        let matching = |(id, head): (&SkillId, &Head)| {
            let matched = request.called_for(head.triggers.as_deref()?);
            (!matched.is_empty()).then(|| Match {
                id: id.clone(),
                title: head.title.clone().unwrap_or_else(|| id.shared()),
                matched,
            })
        };
        let mut matches: Vec<Match> = stored.chain(custom).filter_map(matching).collect();
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
