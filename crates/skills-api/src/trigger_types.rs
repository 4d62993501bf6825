//! The trigger types a worker can subscribe to.

use skills_core::{Registry, Topic};

/// One trigger type of the surface.
pub struct TriggerType {
    /// Its id on the engine.
    pub id: &'static str,
    /// When it fires.
    pub description: &'static str,
    /// What it tells of.
    pub topic: Topic,
}

const fn of(topic: Topic) -> TriggerType {
    TriggerType {
        id: topic.trigger_type(),
        description: topic.about(),
        topic,
    }
}

/// Both of them. The README's table is checked against this one.
pub const TRIGGER_TYPES: &[TriggerType] = &[of(Topic::Skills), of(Topic::Prompts)];

impl TriggerType {
    /// A worker subscribed: its function hears of every change from now on.
    pub fn subscribe(&self, registry: &Registry, trigger: &str, function: &str) {
        registry.subscribe(trigger, self.topic, function);
    }
}
