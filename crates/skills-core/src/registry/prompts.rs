//! Registering, listing and rendering prompts.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{Registry, Taken, unshadowed};
use crate::nearest::nearest;
use crate::prompt::{check_arguments, check_description, check_given};
use crate::prompt_output::{RenderedPrompt, messages, user_message};
use crate::slot::{Slot, Snapshot};
use crate::{
    Change, Error, FunctionId, Json, Listing, Origin, Prompt, PromptArgument, PromptName,
    PromptText, Skipped, SourcePrompt,
};

/// The short form of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptHead {
    /// Its name.
    pub name: PromptName,
    /// The function that renders it; empty for a prompt that is a document.
    pub function_id: String,
    /// How many arguments it declares.
    pub arguments: usize,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it lives.
    pub origin: Origin,
}

/// A prompt as a person picks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMenuEntry {
    /// Its name.
    pub name: PromptName,
    /// What it does.
    pub description: Arc<str>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

impl Registry {
    /// Keeps a prompt under its name; answers when.
    pub async fn register_prompt(
        &self,
        name: PromptName,
        description: &str,
        arguments: Vec<PromptArgument>,
        function_id: FunctionId,
    ) -> Result<Arc<str>, Error> {
        check_description(description)?;
        check_arguments(&arguments)?;
        let key = name.shared();
        let doing = || format!("register prompt `{name}`");
        let make = || Prompt {
            name: name.clone(),
            description: description.into(),
            arguments,
            function_id,
            registered_at: (self.now)().into(),
        };
        let row = self.prompts.put(key, make).await;
        let row = row.map_err(|cause| Error::State {
            doing: doing(),
            cause,
        })?;
        Ok(Arc::clone(&row.registered_at))
    }

    /// Removes a registered prompt; answers whether there was one.
    pub async fn unregister_prompt(&self, name: &PromptName) -> Result<bool, Error> {
        let change = Change::PromptUnregistered(name.clone());
        let removed = self.prompts.remove(name.shared(), &change).await;
        removed.map_err(|cause| Error::State {
            doing: format!("unregister prompt `{name}`"),
            cause,
        })
    }

    /// Whether a worker registered a prompt under this name, readable or not.
    pub async fn is_prompt_registered(&self, name: &PromptName) -> Result<bool, Error> {
        let found = self.prompts.get(name.as_str()).await;
        let found = found.map_err(|cause| Error::State {
            doing: format!("look for prompt `{name}`"),
            cause,
        })?;
        Ok(found.is_some())
    }

    /// Every prompt of every origin, in byte order of their names.
    pub async fn prompts(&self) -> Result<Listing<PromptHead>, Error> {
        let state = self.stored_prompts().await?;
        let mut skipped = state.damaged.clone();
        let mut entries: Vec<PromptHead> = state
            .rows
            .iter()
            .map(|prompt| PromptHead {
                name: prompt.name.clone(),
                function_id: prompt.function_id.to_string(),
                arguments: prompt.arguments.len(),
                registered_at: Arc::clone(&prompt.registered_at),
                origin: Origin::State,
            })
            .collect();
        for prompt in self.source_prompts(&state.rows, &mut skipped).await? {
            entries.push(PromptHead {
                name: prompt.name,
                function_id: String::new(),
                arguments: 0,
                registered_at: prompt.registered_at,
                origin: prompt.origin,
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Listing { entries, skipped })
    }

    /// The same prompts with what a picker shows.
    pub async fn prompt_menu(&self) -> Result<Vec<PromptMenuEntry>, Error> {
        let state = self.stored_prompts().await?;
        let mut menu: Vec<PromptMenuEntry> = state
            .rows
            .iter()
            .map(|prompt| PromptMenuEntry {
                name: prompt.name.clone(),
                description: prompt.description.as_ref().into(),
                arguments: prompt.arguments.clone(),
            })
            .collect();
        for prompt in self.source_prompts(&state.rows, &mut Vec::new()).await? {
            let SourcePrompt {
                name, description, ..
            } = prompt;
            menu.push(PromptMenuEntry {
                name,
                description,
                arguments: Vec::new(),
            });
        }
        menu.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(menu)
    }

    /// Renders a prompt: asks its handler, or reads its document.
    pub async fn render_prompt(
        &self,
        name: &PromptName,
        arguments: Option<Json>,
    ) -> Result<RenderedPrompt, Error> {
        self.render(name, checked_arguments(arguments)?, None).await
    }

    /// The same for arguments that a person filled in: they must fit what the prompt
    /// declares before anybody is asked.
    pub async fn render_prompt_strictly(
        &self,
        name: &PromptName,
        given: &Map<String, Value>,
    ) -> Result<RenderedPrompt, Error> {
        let arguments = to_raw_value(given).expect("a map of values is JSON");
        self.render(name, arguments, Some(given)).await
    }

    async fn render(
        &self,
        name: &PromptName,
        arguments: Json,
        given: Option<&Map<String, Value>>,
    ) -> Result<RenderedPrompt, Error> {
        let check = |declared: &[PromptArgument]| match given {
            Some(given) => check_given(name, declared, given),
            None => Ok(()),
        };
        let found = self.prompts.get(name.as_str()).await;
        let doing = || format!("read prompt `{name}`");
        match found.map_err(|cause| Error::State {
            doing: doing(),
            cause,
        })? {
            Some(Slot::Row(prompt)) => {
                check(&prompt.arguments)?;
                return self.ask_handler(&prompt, arguments).await;
            }
            Some(Slot::Damaged(problem)) => {
                let what = format!("prompt `{name}`");
                return Err(Error::Damaged {
                    what,
                    problem: problem.to_string(),
                });
            }
            None => {}
        }
        for source in &self.sources {
            if let Some(PromptText { prompt, text }) = source.prompt(name).await? {
                check(&[])?;
                if arguments.get() != "{}" {
                    tracing::debug!(
                        prompt = name.as_str(),
                        "a prompt file takes no arguments; ignored"
                    );
                }
                return Ok(RenderedPrompt {
                    description: prompt.description.as_ref().into(),
                    messages: vec![user_message(&text)],
                });
            }
        }
        let known = self.prompts().await?.entries;
        let nearest = nearest(
            name.as_str(),
            known.iter().map(|prompt| prompt.name.as_str()),
        );
        Err(Error::NoSuchPrompt {
            name: name.clone(),
            nearest: nearest.map(str::to_owned),
        })
    }

    async fn ask_handler(&self, prompt: &Prompt, arguments: Json) -> Result<RenderedPrompt, Error> {
        let function = prompt.function_id.clone().callable()?;
        let answer = self
            .engine
            .call(function.as_str(), arguments, self.timeout)
            .await;
        let answer = answer.map_err(|cause| Error::Handler {
            prompt: prompt.name.clone(),
            function: function.clone(),
            cause,
        })?;
        let messages = messages(answer.as_deref()).map_err(|got| Error::UnsupportedShape {
            prompt: prompt.name.clone(),
            function,
            got,
        })?;
        Ok(RenderedPrompt {
            description: prompt.description.clone(),
            messages,
        })
    }

    async fn stored_prompts(&self) -> Result<Arc<Snapshot<Prompt>>, Error> {
        let state = self.prompts.snapshot().await;
        state.map_err(|cause| Error::State {
            doing: "list the prompts".into(),
            cause,
        })
    }

    /// The prompts of every source, without those that state or an earlier source
    /// already has.
    async fn source_prompts(
        &self,
        stored: &[Arc<Prompt>],
        skipped: &mut Vec<Skipped>,
    ) -> Result<Vec<SourcePrompt>, Error> {
        let mut taken: Taken = stored
            .iter()
            .map(|prompt| (prompt.name.shared(), Origin::State))
            .collect();
        let mut all = Vec::new();
        for source in &self.sources {
            let listing = source.prompts().await?;
            skipped.extend(listing.skipped);
            let name = |prompt: &SourcePrompt| (prompt.name.shared(), prompt.origin);
            all.extend(unshadowed(listing.entries, name, &mut taken, skipped));
        }
        Ok(all)
    }
}

/// The arguments as an object: `{}` when none are given.
fn checked_arguments(arguments: Option<Json>) -> Result<Json, Error> {
    match arguments {
        Some(given) if given.get().starts_with('{') => Ok(given),
        Some(given) if given.get() != "null" => Err(Error::invalid(
            "arguments",
            "must be an object of names and values",
        )),
        _ => Ok(RawValue::from_string("{}".into()).expect("an empty object is JSON")),
    }
}
