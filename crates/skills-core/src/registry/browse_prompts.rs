//! Prompts as a person browses them: every prompt with its arguments, choices and defaults.

use std::collections::HashMap;
use std::sync::Arc;

use super::{PromptHead, Registry};
use crate::{Error, PromptArgument, PromptName, TemplateArgument, nearest};

/// A prompt in a list for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptCard {
    /// Its short form.
    pub head: PromptHead,
    /// What it does.
    pub description: Arc<str>,
    /// What it takes.
    pub arguments: Vec<TemplateArgument>,
}

impl Registry {
    /// Every prompt of every origin, in byte order of their names.
    pub async fn prompt_cards(&self) -> Result<Vec<PromptCard>, Error> {
        let state = self.stored_prompts().await?;
        let custom = self.source_prompts(&state).await?.entries;
        let any_value = |argument: &PromptArgument| TemplateArgument {
            argument: argument.clone(),
            default: None,
            choices: Box::default(),
        };
        let mut known: HashMap<PromptName, (Arc<str>, Vec<TemplateArgument>)> = HashMap::new();
        for prompt in custom {
            let arguments = prompt.arguments.to_vec();
            known.insert(prompt.name, (prompt.description, arguments));
        }
        for prompt in &state.rows {
            let arguments = prompt.arguments.iter().map(any_value).collect();
            let description = prompt.description.as_ref().into();
            known.insert(prompt.name.clone(), (description, arguments));
        }
        let card = |head: PromptHead| {
            let (description, arguments) = known.remove(&head.name)?;
            Some(PromptCard {
                head,
                description,
                arguments,
            })
        };
        let heads = self.prompts().await?.entries;
        Ok(heads.into_iter().filter_map(card).collect())
    }

    /// One prompt and the path of its file, if it has one; an error with the nearest name if there
    /// is none.
    pub async fn prompt_card(
        &self,
        name: &PromptName,
    ) -> Result<(PromptCard, Option<String>), Error> {
        let mut cards = self.prompt_cards().await?;
        let Some(at) = cards.iter().position(|card| card.head.name == *name) else {
            let names = cards.iter().map(|card| card.head.name.as_str());
            return Err(Error::NoSuchPrompt {
                name: name.clone(),
                nearest: nearest(name.as_str(), names).map(str::to_owned),
            });
        };
        let card = cards.swap_remove(at);
        if card.head.function_id.is_empty() {
            for source in &self.sources {
                if let Some(place) = source.prompt_place(name).await? {
                    return Ok((card, Some(place)));
                }
            }
        }
        Ok((card, None))
    }
}
