//! Triggers: which function to call on which event, and whether the provider of the event type
//! knows it.
//!
//! A trigger whose type has no provider is kept and passed on when a provider appears. The same
//! holds when its provider disconnects or rejects it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::directory::Directory;
use super::events::StateFilter;
use super::registered::{Registered, RegisteredBytes};
use super::session::Session;
use crate::limits::MAX_TRIGGERS_PER_WORKER;
use crate::message::{
    ErrorBody, Message, TriggerRegistrationResult, TriggerSpec, UnregisterTrigger,
};

/// Every trigger, by id.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    entries: BTreeMap<String, TriggerEntry>,
    /// How many each worker has; under none those that belong to no worker.
    counts: HashMap<Option<u64>, usize>,
    /// Bytes of the triggers that belong to no worker.
    unowned: RegisteredBytes,
}

#[derive(Debug)]
pub(super) struct TriggerEntry {
    pub(super) trigger: TriggerSpec,
    /// None for a trigger that outlives the worker that registered it.
    pub(super) subscriber: Option<Arc<Session>>,
    /// The `config` of a trigger of the hub's own type `state`.
    pub(super) filter: Option<StateFilter>,
    /// Whether the provider of the type knows the trigger.
    provided: bool,
    _bytes: Registered,
}

impl TriggerEntry {
    fn is_of(&self, session: &Session) -> bool {
        self.subscriber
            .as_ref()
            .is_some_and(|from| from.is(session))
    }
}

impl Triggers {
    pub(super) fn all(&self) -> impl Iterator<Item = &TriggerEntry> {
        self.entries.values()
    }

    pub(super) fn of_type<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a TriggerEntry> {
        self.all()
            .filter(move |entry| entry.trigger.trigger_type == id)
    }

    pub(super) fn of_subscriber(&self, session: &Session) -> impl Iterator<Item = &TriggerEntry> {
        self.all().filter(|entry| entry.is_of(session))
    }

    /// The provider of a type is gone.
    pub(super) fn lose_provider(&mut self, trigger_type: &str) {
        for entry in self.entries.values_mut() {
            if entry.trigger.trigger_type == trigger_type {
                entry.provided = false;
            }
        }
    }

    /// Whether a worker, or none, may register a trigger under this id.
    fn check(&self, id: &str, subscriber: Option<&Session>) -> Result<(), ErrorBody> {
        let serial = subscriber.map(|session| session.serial);
        if let Some(entry) = self.entries.get(id) {
            if entry.subscriber.as_ref().map(|session| session.serial) == serial {
                return Ok(());
            }
            let owner = match &entry.subscriber {
                Some(session) => format!("the worker `{}`", session.name()),
                None => "no worker".to_owned(),
            };
            let message = format!("the trigger `{id}` belongs to {owner}; choose another id");
            return Err(ErrorBody::new("trigger_conflict", message));
        }
        if self.counts.get(&serial).copied().unwrap_or_default() >= MAX_TRIGGERS_PER_WORKER {
            let message = format!(
                "the trigger `{id}` is one too many: a worker registers at most \
                 {MAX_TRIGGERS_PER_WORKER}"
            );
            return Err(ErrorBody::new("too_many_triggers", message));
        }
        Ok(())
    }

    fn insert(&mut self, entry: TriggerEntry) {
        let serial = entry.subscriber.as_ref().map(|session| session.serial);
        *self.counts.entry(serial).or_default() += 1;
        self.entries.insert(entry.trigger.id.clone(), entry);
    }

    fn remove(&mut self, id: &str) -> Option<TriggerEntry> {
        let entry = self.entries.remove(id)?;
        let serial = entry.subscriber.as_ref().map(|session| session.serial);
        if let Some(count) = self.counts.get_mut(&serial) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&serial);
            }
        }
        Some(entry)
    }
}

impl Directory {
    /// Adds a trigger and passes it on to the provider of its type, if there is one. Replaces a
    /// trigger of the same worker with the same id.
    pub(super) fn add_trigger(
        &mut self,
        trigger: TriggerSpec,
        filter: Option<StateFilter>,
        bytes: usize,
        subscriber: Option<&Arc<Session>>,
    ) -> Result<(), ErrorBody> {
        self.triggers.check(&trigger.id, subscriber.map(|s| &**s))?;
        let registered = match subscriber {
            Some(session) => session.registered.add(bytes)?,
            None => self.triggers.unowned.add(bytes)?,
        };
        self.drop_trigger(&trigger.id);
        let provided = self.trigger_types.get(&trigger.trigger_type);
        if let Some(provided) = provided {
            let message = Message::RegisterTrigger(Box::new(trigger.clone()));
            provided.provider.try_send(message)?;
        }
        let entry = TriggerEntry {
            subscriber: subscriber.cloned(),
            provided: provided.is_some(),
            filter,
            trigger,
            _bytes: registered,
        };
        self.triggers.insert(entry);
        Ok(())
    }

    /// Removes a trigger of this worker.
    pub(super) fn remove_trigger(&mut self, id: &str, subscriber: &Session) {
        let entry = self.triggers.entries.get(id);
        if entry.is_some_and(|entry| entry.is_of(subscriber)) {
            self.drop_trigger(id);
        }
    }

    /// Removes a trigger that belongs to no worker.
    pub(super) fn remove_unowned_trigger(&mut self, id: &str) {
        let entry = self.triggers.entries.get(id);
        if entry.is_some_and(|entry| entry.subscriber.is_none()) {
            self.drop_trigger(id);
        }
    }

    pub(super) fn remove_triggers_of(&mut self, session: &Session) {
        let entries = self.triggers.of_subscriber(session);
        let ids: Vec<_> = entries.map(|entry| entry.trigger.id.clone()).collect();
        for id in ids {
            self.drop_trigger(&id);
        }
    }

    fn drop_trigger(&mut self, id: &str) {
        if let Some(entry) = self.triggers.remove(id)
            && entry.provided
            && let Some(provided) = self.trigger_types.get(&entry.trigger.trigger_type)
        {
            provided.provider.send_or_drop(unregister(&entry.trigger));
        }
    }

    /// Passes on the triggers of a type that its provider does not know.
    pub(super) fn provide(&mut self, trigger_type: &str) {
        let Some(provided) = self.trigger_types.get(trigger_type) else {
            return;
        };
        for entry in self.triggers.entries.values_mut() {
            if entry.provided || entry.trigger.trigger_type != trigger_type {
                continue;
            }
            let message = Message::RegisterTrigger(Box::new(entry.trigger.clone()));
            match provided.provider.try_send(message) {
                Ok(()) => entry.provided = true,
                Err(error) => {
                    if let Some(subscriber) = &entry.subscriber {
                        subscriber.send(rejection(&entry.trigger, error));
                    }
                }
            }
        }
    }

    /// A provider rejected a trigger: its subscriber gets the error, and the trigger waits for
    /// the next provider.
    pub(super) fn reject_trigger(&mut self, id: &str, provider: &Session, error: ErrorBody) {
        let Some(entry) = self.triggers.entries.get_mut(id) else {
            return;
        };
        let found = self.trigger_types.get(&entry.trigger.trigger_type);
        if found.is_none_or(|found| !found.provider.is(provider)) {
            return;
        }
        entry.provided = false;
        if let Some(subscriber) = &entry.subscriber {
            subscriber.send(rejection(&entry.trigger, error));
        }
    }
}

pub(super) fn rejection(trigger: &TriggerSpec, error: ErrorBody) -> Message {
    Message::TriggerRegistrationResult(Box::new(TriggerRegistrationResult {
        id: trigger.id.clone(),
        trigger_type: trigger.trigger_type.clone(),
        function_id: trigger.function_id.clone(),
        error: Some(error),
        ..TriggerRegistrationResult::default()
    }))
}

fn unregister(trigger: &TriggerSpec) -> Message {
    Message::UnregisterTrigger(UnregisterTrigger {
        id: trigger.id.clone(),
        trigger_type: Some(trigger.trigger_type.clone()),
    })
}
