//! Registering, listing and rendering prompts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::collisions::Unshadowed;
use super::leasing::Terms;
use super::{Registry, Rollback};
use crate::nearest::nearest;
use crate::prompt::{check_arguments, check_description, check_given};
use crate::prompt_output::{RenderedPrompt, messages, user_message};
use crate::row_slot::{RowSlot, Snapshot};
use crate::{
    Actor, Change, EntryName, Error, FunctionId, Json, LeaseHead, LeaseTerms, Listing, Origin,
    Precondition, Prompt, PromptArgument, PromptName, PromptText, SourcePrompt, TemplateArgument,
    VersionOp,
};

/// The short form of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptHead {
    /// Its name.
    pub name: PromptName,
    /// The function that renders it; empty for a prompt from a source.
    pub function_id: String,
    /// How many arguments it declares.
    pub arguments: usize,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
    /// Where it is stored.
    pub origin: Origin,
    /// The origins of documents with the same name, which it hides.
    pub hides: Vec<Origin>,
    /// Its owner and its lease, if it has one of them.
    pub lease: Option<LeaseHead>,
}

/// A prompt to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptRegistration {
    /// Its name.
    pub name: PromptName,
    /// Shown to the person who picks the prompt.
    pub description: String,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
    /// The function that renders it.
    pub function_id: FunctionId,
    /// What must be registered for it to happen.
    pub expected: Precondition,
    /// Its owner and its lease.
    pub lease: LeaseTerms,
    /// The version that it brings back, if it is a rollback.
    pub rollback: Option<Rollback>,
}

/// A prompt in a menu.
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
    /// Stores a prompt under its name. Returns the time of registration. A handler that could
    /// not be called later is refused now.
    pub async fn register_prompt(&self, prompt: PromptRegistration) -> Result<Arc<str>, Error> {
        let PromptRegistration {
            name,
            description,
            arguments,
            function_id,
            expected,
            lease,
            rollback,
        } = prompt;
        check_description(&description)?;
        check_arguments(&arguments)?;
        let function_id = function_id.callable()?;
        self.check_prompt_conflict(&name).await?;
        let terms = Terms {
            entry: EntryName::Prompt(name.clone()),
            expected,
            lease,
            rollback,
        };
        let row = (&self.prompts, name.shared());
        let make = || Prompt {
            name,
            description: description.into(),
            arguments,
            function_id,
            registered_at: (self.now)().into(),
        };
        self.put_with_lease(row, terms, make).await
    }

    /// Removes a registered prompt. Returns whether there was one.
    pub async fn unregister_prompt(&self, name: &PromptName) -> Result<bool, Error> {
        self.unregister_prompt_by(name, Precondition::Any, Actor::default())
            .await
    }

    /// Removes a registered prompt if it is the expected one. Returns whether there was one: a
    /// prompt that is gone already is not a conflict.
    pub async fn unregister_prompt_by(
        &self,
        name: &PromptName,
        expected: Precondition,
        actor: Actor,
    ) -> Result<bool, Error> {
        let note = self.removal_note(VersionOp::Unregister, actor).await;
        let entry = EntryName::Prompt(name.clone());
        let ending = self.known_lease(&entry);
        let change = Change::PromptUnregistered(name.clone());
        let removed = self
            .prompts
            .remove_expected(name.shared(), &change, expected, &note);
        let removed = removed.await;
        self.end_lease_of_removed(ending, &removed).await;
        removed.map_err(|error| error.into_error("unregister", expected, &entry))
    }

    /// Whether state has a prompt under this name, readable or not.
    pub async fn is_prompt_registered(&self, name: &PromptName) -> Result<bool, Error> {
        Ok(self.stored_prompt(name).await?.is_some())
    }

    pub(super) async fn stored_prompt(
        &self,
        name: &PromptName,
    ) -> Result<Option<RowSlot<Prompt>>, Error> {
        let found = self.prompts.get(name.as_str()).await;
        found.map_err(Error::state(|| format!("look for prompt `{name}`")))
    }

    /// Every prompt of every origin, in byte order of their names.
    pub async fn prompts(&self) -> Result<Listing<PromptHead>, Error> {
        let state = self.stored_prompts().await?;
        let Unshadowed {
            listing: custom,
            hidden,
            shadowed,
        } = self.unshadowed_prompts(&state).await?;
        let mut hides: HashMap<_, Vec<_>> = HashMap::new();
        for prompt in hidden {
            hides.entry(prompt.name).or_default().push(prompt.origin);
        }
        let mut hidden_by = |name: &PromptName| hides.remove(name).unwrap_or_default();
        let leases = self.lease_marks().await?;
        let stored = state.rows.iter().map(|prompt| PromptHead {
            lease: leases.as_ref().and_then(|leases| {
                let lease = leases.of_prompt(&prompt.name, &prompt.registered_at);
                lease.cloned()
            }),
            hides: hidden_by(&prompt.name),
            name: prompt.name.clone(),
            function_id: prompt.function_id.to_string(),
            arguments: prompt.arguments.len(),
            registered_at: Arc::clone(&prompt.registered_at),
            origin: Origin::State,
        });
        let custom_heads = custom.entries.into_iter().map(|prompt| PromptHead {
            name: prompt.name,
            function_id: String::new(),
            arguments: prompt.arguments.len(),
            registered_at: prompt.registered_at,
            origin: prompt.origin,
            hides: Vec::new(),
            lease: None,
        });
        let mut entries: Vec<PromptHead> = stored.chain(custom_heads).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let mut skipped = state.damaged.clone();
        skipped.extend(shadowed);
        skipped.extend(custom.skipped);
        Ok(Listing { entries, skipped })
    }

    /// The same prompts with their descriptions and arguments, for a menu.
    pub async fn prompt_menu(&self) -> Result<Vec<PromptMenuEntry>, Error> {
        let state = self.stored_prompts().await?;
        let custom = self.source_prompts(&state).await?.entries;
        let stored = state.rows.iter().map(|prompt| PromptMenuEntry {
            name: prompt.name.clone(),
            description: prompt.description.as_ref().into(),
            arguments: prompt.arguments.clone(),
        });
        let custom = custom.into_iter().map(|prompt| PromptMenuEntry {
            name: prompt.name,
            description: prompt.description,
            arguments: prompt
                .arguments
                .iter()
                .map(TemplateArgument::to_menu)
                .collect(),
        });
        let mut menu: Vec<PromptMenuEntry> = stored.chain(custom).collect();
        menu.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(menu)
    }

    /// The values that a prompt declares for one of its arguments; none if any value fits.
    pub async fn argument_choices(
        &self,
        name: &PromptName,
        argument: &str,
    ) -> Result<Vec<String>, Error> {
        let state = self.stored_prompts().await?;
        let custom = self.source_prompts(&state).await?.entries;
        let prompt = custom.iter().find(|prompt| prompt.name == *name);
        let declared = prompt.and_then(|prompt| {
            let mut arguments = prompt.arguments.iter();
            arguments.find(|declared| *declared.argument.name == *argument)
        });
        let choices = declared.into_iter().flat_map(|declared| &declared.choices);
        Ok(choices.map(ToString::to_string).collect())
    }

    /// Renders a prompt by calling its handler or reading its document.
    pub async fn render_prompt(
        &self,
        name: &PromptName,
        arguments: Option<Json>,
    ) -> Result<RenderedPrompt, Error> {
        self.render(name, checked_arguments(arguments)?, None).await
    }

    /// The same for arguments that a person entered: they must fit the declared arguments
    /// before the handler is called.
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
        match found.map_err(Error::state(|| format!("read prompt `{name}`")))? {
            Some(RowSlot::Row(prompt)) => {
                check(&prompt.arguments)?;
                return self.call_handler(&prompt, arguments).await;
            }
            Some(RowSlot::Damaged(problem)) => {
                return Err(Error::damaged(format!("prompt `{name}`"), &problem));
            }
            None => {}
        }
        let parsed = match given {
            Some(given) => Cow::Borrowed(given),
            None => Cow::Owned(parse_arguments(&arguments)?),
        };
        for source in &self.sources {
            if let Some(PromptText { prompt, text }) = source.prompt(name, &parsed).await? {
                // The source has checked the values of the arguments that are declared.
                if prompt.arguments.is_empty() && !parsed.is_empty() {
                    check(&[])?;
                    tracing::debug!(
                        prompt = name.as_str(),
                        "this prompt file takes no arguments; ignored"
                    );
                }
                return Ok(RenderedPrompt {
                    description: prompt.description.as_ref().into(),
                    messages: vec![user_message(&text)],
                });
            }
        }
        let known = self.prompts().await?.entries;
        let names = known.iter().map(|prompt| prompt.name.as_str());
        let nearest = nearest(name.as_str(), names);
        Err(Error::NoSuchPrompt {
            name: name.clone(),
            nearest: nearest.map(str::to_owned),
        })
    }

    async fn call_handler(
        &self,
        prompt: &Prompt,
        arguments: Json,
    ) -> Result<RenderedPrompt, Error> {
        let function = prompt.function_id.clone().callable()?;
        let result = self.engine.call(function.as_str(), arguments, self.timeout);
        let result = result.await.map_err(|cause| Error::Handler {
            prompt: prompt.name.clone(),
            function: function.clone(),
            cause,
        })?;
        let messages = messages(result.as_deref()).map_err(|got| Error::UnsupportedShape {
            prompt: prompt.name.clone(),
            function,
            got,
        })?;
        Ok(RenderedPrompt {
            description: prompt.description.clone(),
            messages,
        })
    }

    pub(super) async fn stored_prompts(&self) -> Result<Arc<Snapshot<Prompt>>, Error> {
        let state = self.prompts.snapshot().await;
        state.map_err(Error::state(|| "list the prompts"))
    }

    /// The prompts of every source that state does not shadow.
    pub(super) async fn source_prompts(
        &self,
        state: &Snapshot<Prompt>,
    ) -> Result<Listing<SourcePrompt>, Error> {
        Ok(self.unshadowed_prompts(state).await?.listing)
    }

    pub(super) async fn unshadowed_prompts(
        &self,
        state: &Snapshot<Prompt>,
    ) -> Result<Unshadowed<SourcePrompt>, Error> {
        let key = |prompt: &SourcePrompt| (prompt.name.shared(), prompt.origin);
        let stored = state.rows.iter().map(|prompt| prompt.name.shared());
        self.unshadowed(|source| source.prompts(), key, stored)
            .await
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

fn parse_arguments(arguments: &RawValue) -> Result<Map<String, Value>, Error> {
    let parsed = serde_json::from_str(arguments.get());
    parsed.map_err(|error| Error::invalid("arguments", format!("cannot be read: {error}")))
}
