//! Telling others that the registry changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::json;
use serde_json::value::to_raw_value;

use crate::{Engine, Json, PromptName, SkillId};

/// The trigger types a worker can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// `skills::on-change`
    Skills,
    /// `prompts::on-change`
    Prompts,
}

impl Topic {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Skills, Self::Prompts];

    /// The id of the trigger type.
    pub const fn trigger_type(self) -> &'static str {
        match self {
            Self::Skills => "skills::on-change",
            Self::Prompts => "prompts::on-change",
        }
    }

    /// What it tells, for a list of trigger types.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Skills => "Fires after a skill was registered or unregistered.",
            Self::Prompts => "Fires after a prompt was registered or unregistered.",
        }
    }
}

/// One real change of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A skill is there, new or again.
    SkillRegistered(SkillId),
    /// A skill is gone.
    SkillUnregistered(SkillId),
    /// A prompt is there, new or again.
    PromptRegistered(PromptName),
    /// A prompt is gone.
    PromptUnregistered(PromptName),
}

impl Change {
    /// Who is to hear of it.
    pub const fn topic(&self) -> Topic {
        match self {
            Self::SkillRegistered(_) | Self::SkillUnregistered(_) => Topic::Skills,
            Self::PromptRegistered(_) | Self::PromptUnregistered(_) => Topic::Prompts,
        }
    }

    /// What a subscriber is sent.
    pub fn to_payload(&self) -> Json {
        let value = match self {
            Self::SkillRegistered(id) => json!({ "op": "register", "id": id.as_str() }),
            Self::SkillUnregistered(id) => json!({ "op": "unregister", "id": id.as_str() }),
            Self::PromptRegistered(name) => json!({ "op": "register", "name": name.as_str() }),
            Self::PromptUnregistered(name) => json!({ "op": "unregister", "name": name.as_str() }),
        };
        to_raw_value(&value).expect("a value of strings is JSON")
    }
}

/// Something in this process that hears of changes; it must not block.
pub type Listener = Arc<dyn Fn(&Change) + Send + Sync>;

/// Passes changes to subscribed functions and to listeners in this process.
pub(crate) struct Publisher {
    engine: Arc<dyn Engine>,
    /// By trigger id: a function may subscribe more than once.
    subscribers: Mutex<BTreeMap<String, (Topic, String)>>,
    listeners: RwLock<Vec<Listener>>,
}

impl Publisher {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        Self {
            engine,
            subscribers: Mutex::default(),
            listeners: RwLock::default(),
        }
    }

    pub(crate) fn subscribe(&self, trigger: String, topic: Topic, function: String) {
        let mut subscribers = self
            .subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        subscribers.insert(trigger, (topic, function));
    }

    pub(crate) fn unsubscribe(&self, trigger: &str) -> bool {
        let mut subscribers = self
            .subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        subscribers.remove(trigger).is_some()
    }

    pub(crate) fn unsubscribe_all(&self) {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    pub(crate) fn listen(&self, listener: Listener) {
        self.listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    pub(crate) fn publish_all<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) {
        for change in changes {
            self.publish(change);
        }
    }

    pub(crate) fn publish(&self, change: &Change) {
        let subscribers = self
            .subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut hearing = subscribers
            .values()
            .filter(|(topic, _)| *topic == change.topic())
            .peekable();
        if hearing.peek().is_some() {
            let payload = change.to_payload();
            for (_, function) in hearing {
                // Sent without waiting: a slow subscriber must not hold up the writer.
                self.engine.send(function, payload.clone());
            }
        }
        drop(subscribers);
        for listener in self
            .listeners
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            listener(change);
        }
    }
}
