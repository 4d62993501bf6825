//! Triggers: who wants what called when, and which provider knows of it.
//!
//! A trigger of a type nobody provides is parked and handed over when somebody
//! does; so is one whose provider left or refused it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directory::{Directory, Kind};
use super::session::Session;
use crate::message::{
    ErrorBody, Extra, Message, RegisterTrigger, RegisterTriggerType, TriggerRegistrationResult,
};

/// Every trigger, by id.
#[derive(Debug, Default)]
pub(super) struct Triggers(BTreeMap<String, Entry>);

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) trigger: RegisterTrigger,
    /// None for one that outlives the worker that asked for it.
    pub(super) subscriber: Option<Arc<Session>>,
    /// Whether the type's provider has been told.
    told: bool,
}

impl Triggers {
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    pub(super) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.0
            .values()
            .filter(move |entry| entry.trigger.trigger_type == kind)
    }

    /// The provider of a type is gone.
    pub(super) fn park(&mut self, kind: &str) {
        for entry in self
            .0
            .values_mut()
            .filter(|entry| entry.trigger.trigger_type == kind)
        {
            entry.told = false;
        }
    }
}

impl Directory {
    /// Adds a trigger and tells the provider of its type, if there is one. The
    /// same id again replaces what was there: a worker that reconnected may be
    /// back before its old connection is known to be dead.
    pub(super) fn add_trigger(&mut self, trigger: RegisterTrigger, from: Option<&Arc<Session>>) {
        self.drop_trigger(&trigger.id.clone());
        let provider = self.kinds.get(&trigger.trigger_type);
        if let Some(kind) = provider {
            kind.provider
                .say(Message::RegisterTrigger(Box::new(trigger.clone())));
        }
        let told = provider.is_some();
        let entry = Entry {
            subscriber: from.cloned(),
            told,
            trigger,
        };
        self.triggers.0.insert(entry.trigger.id.clone(), entry);
    }

    /// Removes a trigger on its subscriber's wish.
    pub(super) fn remove_trigger(&mut self, id: &str, from: &Session) {
        let subscriber = self
            .triggers
            .0
            .get(id)
            .and_then(|entry| entry.subscriber.as_ref());
        if subscriber.is_some_and(|session| session.serial == from.serial) {
            self.drop_trigger(id);
        }
    }

    /// Removes a trigger that belongs to no worker.
    pub(super) fn remove_free_trigger(&mut self, id: &str) {
        if self
            .triggers
            .0
            .get(id)
            .is_some_and(|entry| entry.subscriber.is_none())
        {
            self.drop_trigger(id);
        }
    }

    pub(super) fn drop_triggers_of(&mut self, session: &Session) {
        let subscriber = |entry: &&Entry| {
            entry
                .subscriber
                .as_ref()
                .is_some_and(|from| from.serial == session.serial)
        };
        let theirs: Vec<_> = self
            .triggers
            .all()
            .filter(subscriber)
            .map(|entry| entry.trigger.id.clone())
            .collect();
        for id in theirs {
            self.drop_trigger(&id);
        }
    }

    fn drop_trigger(&mut self, id: &str) {
        let Some(entry) = self.triggers.0.remove(id) else {
            return;
        };
        if entry.told
            && let Some(kind) = self.kinds.get(&entry.trigger.trigger_type)
        {
            kind.provider.say(unregister(&entry.trigger));
        }
    }

    /// Adds a trigger type and hands over the triggers its provider does not
    /// know of. The last worker to offer a type has it.
    pub(super) fn add_kind(&mut self, spec: RegisterTriggerType, provider: &Arc<Session>) {
        let id = spec.id.clone();
        let kind = Kind {
            spec,
            provider: Arc::clone(provider),
        };
        let before = self.kinds.insert(id.clone(), kind);
        let moved = before.filter(|before| before.provider.serial != provider.serial);
        for entry in self.triggers.0.values_mut() {
            if entry.trigger.trigger_type != id {
                continue;
            }
            if let Some(before) = &moved
                && entry.told
            {
                // Or both would call the function.
                before.provider.say(unregister(&entry.trigger));
                entry.told = false;
            }
            if !entry.told {
                entry.told = true;
                provider.say(Message::RegisterTrigger(Box::new(entry.trigger.clone())));
            }
        }
    }

    /// Removes a trigger type; its triggers wait for another provider.
    pub(super) fn remove_kind(&mut self, id: &str, provider: &Session) {
        let theirs = self
            .kinds
            .get(id)
            .is_some_and(|k| k.provider.serial == provider.serial);
        if theirs {
            self.kinds.remove(id);
            self.triggers.park(id);
        }
    }

    /// A provider refused a trigger: its subscriber is told, and it waits for
    /// the next provider.
    pub(super) fn refuse_trigger(&mut self, id: &str, provider: &Session, error: ErrorBody) {
        let Some(entry) = self.triggers.0.get_mut(id) else {
            return;
        };
        let kind = self.kinds.get(&entry.trigger.trigger_type);
        if kind.is_none_or(|kind| kind.provider.serial != provider.serial) {
            return;
        }
        entry.told = false;
        if let Some(subscriber) = &entry.subscriber {
            let answer = refusal(&entry.trigger, error);
            subscriber.say(Message::TriggerRegistrationResult(Box::new(answer)));
        }
    }
}

pub(super) fn refusal(trigger: &RegisterTrigger, error: ErrorBody) -> TriggerRegistrationResult {
    TriggerRegistrationResult {
        id: trigger.id.clone(),
        trigger_type: trigger.trigger_type.clone(),
        function_id: trigger.function_id.clone(),
        error: Some(error),
        extra: Extra::new(),
    }
}

fn unregister(trigger: &RegisterTrigger) -> Message {
    let trigger_type = Some(trigger.trigger_type.clone());
    Message::UnregisterTrigger {
        id: trigger.id.clone(),
        trigger_type,
    }
}
