//! Changes of the registry, and who is notified of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

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
    /// Every topic.
    pub const ALL: [Self; 2] = [Self::Skills, Self::Prompts];

    /// The id of the trigger type.
    pub const fn trigger_type(self) -> &'static str {
        match self {
            Self::Skills => "skills::on-change",
            Self::Prompts => "prompts::on-change",
        }
    }

    /// Its description in a list of trigger types.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Skills => "Fires after a skill was registered or unregistered.",
            Self::Prompts => "Fires after a prompt was registered or unregistered.",
        }
    }
}

/// One change of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A skill was added or replaced.
    SkillRegistered(SkillId),
    /// A skill was removed.
    SkillUnregistered(SkillId),
    /// A prompt was added or replaced.
    PromptRegistered(PromptName),
    /// A prompt was removed.
    PromptUnregistered(PromptName),
}

impl Change {
    /// The topic whose subscribers are notified.
    pub const fn topic(&self) -> Topic {
        match self {
            Self::SkillRegistered(_) | Self::SkillUnregistered(_) => Topic::Skills,
            Self::PromptRegistered(_) | Self::PromptUnregistered(_) => Topic::Prompts,
        }
    }

    /// The payload a subscriber receives.
    pub fn to_payload(&self) -> Json {
        let value = match self {
            Self::SkillRegistered(id) => json!({ "op": "register", "id": id.as_str() }),
            Self::SkillUnregistered(id) => json!({ "op": "unregister", "id": id.as_str() }),
            Self::PromptRegistered(name) => json!({ "op": "register", "name": name.as_str() }),
            Self::PromptUnregistered(name) => json!({ "op": "unregister", "name": name.as_str() }),
        };
        to_raw_value(&value).expect("a value of strings is JSON")
    }

    /// The change that a subscriber was sent; `None` if the payload is not one.
    pub fn from_payload(payload: &RawValue) -> Option<Self> {
        let Notice { op, id, name } = serde_json::from_str(payload.get()).ok()?;
        Some(match (op.as_str(), id, name) {
            ("register", Some(id), _) => Self::SkillRegistered(id.parse().ok()?),
            ("unregister", Some(id), _) => Self::SkillUnregistered(id.parse().ok()?),
            ("register", None, Some(name)) => Self::PromptRegistered(name.parse().ok()?),
            ("unregister", None, Some(name)) => Self::PromptUnregistered(name.parse().ok()?),
            _ => return None,
        })
    }
}

/// The payload of a notice, as [`Change::to_payload`] writes it.
#[derive(serde::Deserialize)]
struct Notice {
    op: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

/// A callback in this process for every change. It must not block.
pub type Listener = Arc<dyn Fn(&Change) + Send + Sync>;

/// The subscribed functions by trigger id, because a function may subscribe more than once.
type Subscribers = BTreeMap<String, (Topic, String)>;

/// Passes changes to subscribed functions and to listeners in this process.
pub(crate) struct ChangePublisher {
    engine: Arc<dyn Engine>,
    subscribers: Mutex<Subscribers>,
    listeners: RwLock<Vec<Listener>>,
}

impl ChangePublisher {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        Self {
            engine,
            subscribers: Mutex::default(),
            listeners: RwLock::default(),
        }
    }

    pub(crate) fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        let subscribers = self.subscribers.lock();
        subscribers.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listen(&self, listener: Listener) {
        let listeners = self.listeners.write();
        let mut listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.push(listener);
    }

    /// Publishes changes of what is registered.
    pub(crate) fn publish_all<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) {
        for change in changes {
            match change {
                Change::SkillRegistered(id) => tracing::info!(%id, "skill registered"),
                Change::SkillUnregistered(id) => tracing::info!(%id, "skill removed"),
                Change::PromptRegistered(name) => tracing::info!(%name, "prompt registered"),
                Change::PromptUnregistered(name) => tracing::info!(%name, "prompt removed"),
            }
            self.publish(change);
        }
    }

    pub(crate) fn publish(&self, change: &Change) {
        let subscribers = self.subscribers();
        let mut functions = subscribers
            .values()
            .filter(|(topic, _)| *topic == change.topic())
            .peekable();
        if functions.peek().is_some() {
            let payload = change.to_payload();
            for (_, function) in functions {
                // Sent without waiting: a slow subscriber must not delay the writer.
                self.engine.send(function, payload.clone());
            }
        }
        drop(subscribers);
        let listeners = self.listeners.read();
        let listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener(change));
    }
}
