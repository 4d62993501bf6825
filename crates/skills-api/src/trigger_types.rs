//! The trigger types that workers can subscribe to.

use skills_core::{Registry, Topic};

/// A trigger type.
pub struct TriggerType {
    /// The id on the engine.
    pub id: &'static str,
    /// When it fires.
    pub description: &'static str,
    /// The changes that fire it.
    pub topic: Topic,
}

const fn of(topic: Topic) -> TriggerType {
    TriggerType {
        id: topic.trigger_type(),
        description: topic.about(),
        topic,
    }
}

/// Every trigger type. A test compares the README's table with this one.
pub const TRIGGER_TYPES: &[TriggerType] = &[of(Topic::Skills), of(Topic::Prompts)];

impl TriggerType {
    /// Calls `function` for every change from now on, until `trigger` is unsubscribed.
    pub fn subscribe(&self, registry: &Registry, trigger: &str, function: &str) {
        registry.subscribe(trigger, self.topic, function);
    }
}
