//! What the registry serves of the files and documents that it reads.

use std::collections::HashSet;

use skills_core::{Origin, Registry};
use skills_files::agents::LoadedAgent;

/// What the registry serves by kind, name and origin. None if state cannot be read, which the
/// registry reports.
pub struct Served(Option<HashSet<(&'static str, String, Origin)>>);

impl Served {
    /// Asks the registry.
    pub async fn of(registry: &Registry) -> Self {
        let (Ok(skills), Ok(prompts)) = (registry.skills().await, registry.prompts().await) else {
            return Self(None);
        };
        let skills = skills.entries.into_iter();
        let skills = skills.map(|skill| ("skill", skill.id.to_string(), skill.origin));
        let prompts = prompts.entries.into_iter();
        let prompts = prompts.map(|prompt| ("prompt", prompt.name.to_string(), prompt.origin));
        Self(Some(skills.chain(prompts).collect()))
    }

    /// Whether a skill or a prompt is served from there.
    pub fn has(&self, kind: &'static str, name: &str, origin: Origin) -> bool {
        let served = self.0.as_ref();
        served.is_none_or(|served| served.contains(&(kind, name.to_owned(), origin)))
    }

    /// The ids of a document that are served from it.
    pub fn ids<'a>(&self, agent: &'a LoadedAgent) -> Vec<&'a str> {
        let ids = agent.ids.iter().map(String::as_str);
        let is_served = |id: &&str| self.has("skill", id, Origin::Agent3md);
        ids.filter(is_served).collect()
    }
}
