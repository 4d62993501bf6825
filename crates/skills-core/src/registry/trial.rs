//! Trying triggers before anybody declares them: the routing of the same skills with more triggers.

use std::collections::HashMap;
use std::sync::Arc;

use super::Routing;
use super::search::routing;
use super::search_request::{check_limit, check_request};
use crate::search_index::SearchIndex;
use crate::{
    Error, Head, Origin, Prompt, PromptArgument, PromptName, SkillId, SourceSkill, Triggers,
    front_matter,
};

/// Skills and prompts in memory, routed to as a registry does.
#[derive(Default)]
pub struct RoutingTrial {
    index: SearchIndex,
    skills: HashMap<SkillId, TriedSkill>,
}

struct TriedSkill {
    skill: SourceSkill,
    body: Arc<str>,
}

impl RoutingTrial {
    /// Adds a skill with its text, front matter included. `title` and `description` are those that
    /// the registry shows.
    pub fn add_skill(
        &mut self,
        id: SkillId,
        text: &str,
        title: Option<&str>,
        description: Option<&str>,
    ) {
        let (_, body) = front_matter::split(text);
        let head = Head {
            title: title.map(Arc::from),
            description: description.map(Arc::from),
            ..Head::of(text)
        };
        let skill = SourceSkill {
            id: id.clone(),
            bytes: body.len(),
            registered_at: "".into(),
            origin: Origin::State,
            head,
            folder: None,
            body_hash: None,
        };
        self.index.set_source_skills([(&skill, body)]);
        let body = body.into();
        self.skills.insert(id, TriedSkill { skill, body });
    }

    /// Adds a prompt: prompts are not routed to, but their words count.
    pub fn add_prompt(
        &mut self,
        name: PromptName,
        description: &str,
        arguments: Vec<PromptArgument>,
    ) -> Result<(), Error> {
        let prompt = Prompt {
            name,
            description: description.into(),
            arguments,
            function_id: "a::b".parse()?,
            registered_at: "".into(),
        };
        self.index.set_prompt(&prompt.name.shared(), Some(&prompt));
        Ok(())
    }

    /// Adds a trigger to a skill. Returns the triggers that it had; none if there is no such skill.
    pub fn add_trigger(&mut self, id: &SkillId, trigger: &str) -> Option<Triggers> {
        let tried = self.skills.get(id)?;
        let before = tried.skill.head.triggers.clone().unwrap_or_default();
        let one_more = before.iter().cloned().chain([trigger.into()]);
        self.set_triggers(id, one_more.collect());
        Some(before)
    }

    /// Replaces the triggers of a skill.
    pub fn set_triggers(&mut self, id: &SkillId, triggers: Triggers) {
        if let Some(TriedSkill { skill, body }) = self.skills.get_mut(id) {
            skill.head.triggers = (!triggers.is_empty()).then_some(triggers);
            self.index.set_source_skills([(&*skill, &**body)]);
        }
    }

    /// The skills for a request, as [`Registry::route`](super::Registry::route) finds them.
    pub fn route(&self, request: &str, limit: usize) -> Result<Routing, Error> {
        check_request(request)?;
        let limit = check_limit(Some(limit), "")?;
        Ok(routing(&self.index, request, limit))
    }
}
