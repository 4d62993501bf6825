//! Finding the skill for a request.

use std::sync::Arc;

use agent3md::TriggerIndex;

use super::Registry;
use crate::limits::REQUEST_MAX;
use crate::{Error, Head, SkillId};

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
