//! The functions that skills and prompts call.

use std::collections::HashSet;
use std::sync::Arc;

use super::Registry;
use crate::{Error, FunctionId, Head};

impl Registry {
    /// The handlers of prompts, and the functions whose output a served skill links to. Those of
    /// registered skills and prompts are collected once per change.
    pub async fn called_functions(&self) -> Result<Arc<HashSet<FunctionId>>, Error> {
        let prompts = self.stored_prompts().await?;
        let handlers = prompts.functions.get_or_init(|| {
            let handlers = prompts.rows.iter().map(|prompt| prompt.function_id.clone());
            Arc::new(handlers.collect())
        });
        let skills = self.stored_skills("look for sections").await?;
        let sections = skills.functions.get_or_init(|| {
            let sections = skills
                .rows
                .iter()
                .flat_map(|skill| sections_of(skill.head()));
            Arc::new(sections.cloned().collect())
        });
        let custom = self.source_skills(&skills).await?.entries;
        let mut custom = custom
            .iter()
            .flat_map(|skill| sections_of(&skill.head))
            .peekable();
        // Nearly always one of them is all.
        if custom.peek().is_none() && (handlers.is_empty() || sections.is_empty()) {
            let all = if handlers.is_empty() {
                sections
            } else {
                handlers
            };
            return Ok(Arc::clone(all));
        }
        let registered = handlers.iter().chain(sections.iter());
        Ok(Arc::new(registered.chain(custom).cloned().collect()))
    }
}

fn sections_of(head: &Head) -> impl Iterator<Item = &FunctionId> {
    head.sections.iter().flat_map(|functions| functions.iter())
}
