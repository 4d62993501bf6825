//! The events of the hub itself: changed state, functions and workers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::Core;
use super::builtin::list_functions;
use super::session::Session;
use super::trigger::TriggerEntry;
use crate::message::{ErrorBody, Raw, TriggerSpec};
use crate::state::{Changes, StateChange};

const STATE: &str = "state";
const FUNCTIONS: &str = "engine::functions-available";
const WORKERS: &str = "engine::workers-available";

/// Id and description of the hub's own trigger types.
pub(super) const TRIGGER_TYPES: &[(&str, &str)] = &[
    (
        STATE,
        "Fires when a value in state is created, updated or deleted.",
    ),
    (FUNCTIONS, "Fires when functions come or go."),
    (WORKERS, "Fires when workers come or go."),
];

/// How long changes of functions are collected into one event.
const FUNCTIONS_DEBOUNCE: Duration = Duration::from_millis(50);
/// How long a trigger's condition may run.
const CONDITION_TIMEOUT: Duration = Duration::from_secs(30);
/// Conditions that may run at the same time; then further changes wait.
const MAX_RUNNING_CONDITIONS: usize = 1024;

pub(super) fn is_builtin(trigger_type: &str) -> bool {
    TRIGGER_TYPES.iter().any(|(id, _)| *id == trigger_type)
}

/// The `config` of a `state` trigger.
#[derive(Debug, Default, Deserialize)]
struct StateFilter {
    scope: Option<String>,
    key: Option<String>,
    condition_function_id: Option<String>,
}

impl StateFilter {
    fn parse(trigger: &TriggerSpec) -> Result<Self, serde_json::Error> {
        let filter: Option<Self> = serde_json::from_str(trigger.config.get())?;
        Ok(filter.unwrap_or_default())
    }
}

/// Checks the `config` of a trigger of the hub's own types.
pub(super) fn check(trigger: &TriggerSpec) -> Result<(), ErrorBody> {
    if trigger.trigger_type == STATE {
        StateFilter::parse(trigger)
            .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))?;
    }
    Ok(())
}

/// The payload of a `state` event.
#[derive(Serialize)]
struct StateEvent<'a> {
    r#type: &'static str,
    event_type: &'static str,
    scope: Option<&'a str>,
    key: Option<&'a str>,
    old_value: Option<&'a RawValue>,
    new_value: Option<&'a RawValue>,
}

/// Publishes every change of state until the hub is gone.
pub(super) async fn publish_state_changes(core: Weak<Core>, mut changes: Changes) {
    // Events with a condition are decided in tasks, so that other events do not wait for them.
    let mut conditional = JoinSet::new();
    while let Some(change) = changes.recv().await {
        let Some(core) = core.upgrade() else { return };
        while conditional.try_join_next().is_some() {}
        for (condition, target, event) in core.state_events(&change) {
            match condition {
                None => core.send(&target.0, event, target.1),
                Some(condition) => {
                    if conditional.len() >= MAX_RUNNING_CONDITIONS {
                        conditional.join_next().await;
                    }
                    conditional.spawn(send_if(Arc::clone(&core), condition, target, event));
                }
            }
        }
    }
}

/// Calls the function of a trigger if its condition returns true.
async fn send_if(core: Arc<Core>, condition: String, target: Target, event: Raw) {
    let decided = core.call(&condition, event.clone());
    match tokio::time::timeout(CONDITION_TIMEOUT, decided).await {
        Ok(Ok(Some(result))) if result.get() == "true" => core.send(&target.0, event, target.1),
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(condition, %error, "the condition of a trigger failed"),
        Err(_) => tracing::warn!(condition, "the condition of a trigger timed out"),
    }
}

/// Publishes that functions came or went, once for changes in quick succession.
pub(super) async fn publish_functions(core: Weak<Core>, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        tokio::time::sleep(FUNCTIONS_DEBOUNCE).await;
        let Some(core) = core.upgrade() else { return };
        core.publish(FUNCTIONS, || {
            let functions = list_functions(&core.directory(), |_| true);
            to_raw_value(&FunctionsChanged {
                event: "functions_changed",
                functions,
            })
        });
    }
}

#[derive(Serialize)]
struct FunctionsChanged {
    event: &'static str,
    functions: Raw,
}

#[derive(Serialize)]
struct WorkersChanged<'a> {
    event: &'a str,
    worker_id: &'a str,
}

impl Core {
    /// Publishes that a worker connected, changed or disconnected.
    pub(super) fn publish_worker_event(&self, event: &'static str, session: &Session) {
        let worker_id = &session.worker_id;
        self.publish(WORKERS, || {
            to_raw_value(&WorkersChanged { event, worker_id })
        });
    }

    /// Calls the function of every trigger of a type. The event is built only if there is one.
    fn publish(&self, trigger_type: &str, event: impl FnOnce() -> Result<Raw, serde_json::Error>) {
        let targets: Vec<_> = {
            let directory = self.directory();
            directory
                .triggers
                .of_type(trigger_type)
                .map(target)
                .collect()
        };
        if targets.is_empty() {
            return;
        }
        let Ok(event) = event() else { return };
        for (function_id, metadata) in targets {
            self.send(&function_id, event.clone(), metadata);
        }
    }

    /// The condition, the function and the event of each trigger that matches a change.
    fn state_events(&self, change: &StateChange) -> Vec<(Option<String>, Target, Raw)> {
        let directory = self.directory();
        let mut events = Vec::new();
        for entry in directory.triggers.of_type(STATE) {
            // Checked when the trigger was registered.
            let Ok(filter) = StateFilter::parse(&entry.trigger) else {
                continue;
            };
            if let Some(event) = state_event(change, &filter) {
                events.push((filter.condition_function_id, target(entry), event));
            }
        }
        events
    }
}

/// The function of a trigger, and the subscriber's metadata for it.
type Target = (String, Option<Raw>);

fn target(entry: &TriggerEntry) -> Target {
    let trigger = &entry.trigger;
    (trigger.function_id.clone(), trigger.metadata.clone())
}

fn state_event(change: &StateChange, filter: &StateFilter) -> Option<Raw> {
    let event = match change {
        StateChange::Row {
            scope,
            key,
            old,
            new,
        } => {
            let matches = |wanted: &Option<String>, found: &String| {
                wanted.as_ref().is_none_or(|wanted| wanted == found)
            };
            if !matches(&filter.scope, scope) || !matches(&filter.key, key) {
                return None;
            }
            StateEvent {
                r#type: "state",
                event_type: match (old, new) {
                    (_, None) => "state:deleted",
                    (None, Some(_)) => "state:created",
                    (Some(_), Some(_)) => "state:updated",
                },
                scope: Some(scope),
                key: Some(key),
                old_value: old.as_deref(),
                new_value: new.as_deref(),
            }
        }
        // Other engines have no such event. A subscriber that reads state again on every event
        // needs no key; any other subscriber finds neither key nor value.
        StateChange::Reload => StateEvent {
            r#type: "state",
            event_type: "state:reload",
            scope: filter.scope.as_deref(),
            key: None,
            old_value: None,
            new_value: None,
        },
    };
    to_raw_value(&event).ok()
}
