//! Triggers: which function to call on which event, and whether the provider of the event type
//! knows it.
//!
//! A trigger whose type has no provider is kept and passed on when a provider appears. The same
//! holds when its provider disconnects or rejects it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directory::{Directory, ProvidedType};
use super::session::Session;
use crate::message::{
    ErrorBody, Message, TriggerRegistrationResult, TriggerSpec, TriggerTypeSpec, UnregisterTrigger,
};

/// Every trigger, by id.
#[derive(Debug, Default)]
pub(super) struct Triggers(BTreeMap<String, TriggerEntry>);

#[derive(Debug)]
pub(super) struct TriggerEntry {
    pub(super) trigger: TriggerSpec,
    /// None for a trigger that outlives the worker that registered it.
    pub(super) subscriber: Option<Arc<Session>>,
    /// Whether the provider of the type knows the trigger.
    provided: bool,
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
        self.0.values()
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
        for entry in self.0.values_mut() {
            if entry.trigger.trigger_type == trigger_type {
                entry.provided = false;
            }
        }
    }
}

impl Directory {
    /// Adds a trigger and passes it on to the provider of its type, if there is one. Replaces a
    /// trigger of the same id: a worker may reconnect before its old connection is found dead.
    pub(super) fn add_trigger(&mut self, trigger: TriggerSpec, subscriber: Option<&Arc<Session>>) {
        self.drop_trigger(&trigger.id);
        let provided = self.trigger_types.get(&trigger.trigger_type);
        if let Some(provided) = provided {
            let message = Message::RegisterTrigger(Box::new(trigger.clone()));
            provided.provider.send(message);
        }
        let entry = TriggerEntry {
            subscriber: subscriber.cloned(),
            provided: provided.is_some(),
            trigger,
        };
        self.triggers.0.insert(entry.trigger.id.clone(), entry);
    }

    /// Removes a trigger of this worker.
    pub(super) fn remove_trigger(&mut self, id: &str, subscriber: &Session) {
        let entry = self.triggers.0.get(id);
        if entry.is_some_and(|entry| entry.is_of(subscriber)) {
            self.drop_trigger(id);
        }
    }

    /// Removes a trigger that belongs to no worker.
    pub(super) fn remove_unowned_trigger(&mut self, id: &str) {
        let entry = self.triggers.0.get(id);
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
        if let Some(entry) = self.triggers.0.remove(id)
            && entry.provided
            && let Some(provided) = self.trigger_types.get(&entry.trigger.trigger_type)
        {
            provided.provider.send(unregister(&entry.trigger));
        }
    }

    /// Adds a trigger type and passes on the triggers that its provider does not know. The last
    /// worker that offers a type provides it.
    pub(super) fn add_trigger_type(&mut self, spec: TriggerTypeSpec, provider: &Arc<Session>) {
        let id = spec.id.clone();
        let new = ProvidedType {
            spec,
            provider: Arc::clone(provider),
        };
        let previous = self.trigger_types.insert(id.clone(), new);
        let previous = previous.filter(|previous| !previous.provider.is(provider));
        for entry in self.triggers.0.values_mut() {
            if entry.trigger.trigger_type != id {
                continue;
            }
            if let Some(previous) = &previous
                && entry.provided
            {
                // Otherwise both providers would call the function.
                previous.provider.send(unregister(&entry.trigger));
                entry.provided = false;
            }
            if !entry.provided {
                entry.provided = true;
                provider.send(Message::RegisterTrigger(Box::new(entry.trigger.clone())));
            }
        }
    }

    /// Removes a trigger type; its triggers wait for another provider.
    pub(super) fn remove_trigger_type(&mut self, id: &str, provider: &Session) {
        let found = self.trigger_types.get(id);
        if found.is_some_and(|found| found.provider.is(provider)) {
            self.trigger_types.remove(id);
            self.triggers.lose_provider(id);
        }
    }

    /// A provider rejected a trigger: its subscriber gets the error, and the trigger waits for
    /// the next provider.
    pub(super) fn reject_trigger(&mut self, id: &str, provider: &Session, error: ErrorBody) {
        let Some(entry) = self.triggers.0.get_mut(id) else {
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
