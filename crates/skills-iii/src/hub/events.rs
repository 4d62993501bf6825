//! The events of the hub itself: changed state, functions and workers.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::Core;
use super::builtin::list_functions;
use super::directory::Directory;
use super::session::Session;
use super::trigger::TriggerEntry;
use crate::limits::{CONDITION_TIMEOUT, MAX_CONDITION_BYTES, MAX_RUNNING_CONDITIONS};
use crate::message::{ErrorBody, InvokeFunction, Payload, Raw, TriggerSpec};
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

pub(super) fn is_builtin(trigger_type: &str) -> bool {
    TRIGGER_TYPES.iter().any(|(id, _)| *id == trigger_type)
}

/// The `config` of a `state` trigger.
#[derive(Debug, Default, Deserialize)]
pub(super) struct StateFilter {
    scope: Option<String>,
    key: Option<String>,
    condition_function_id: Option<String>,
}

impl StateFilter {
    /// The `config` of a trigger, if it is a `state` trigger.
    pub(super) fn of(trigger: &TriggerSpec) -> Result<Option<Self>, ErrorBody> {
        if trigger.trigger_type != STATE {
            return Ok(None);
        }
        let filter: Option<Self> = serde_json::from_str(trigger.config.get())
            .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))?;
        Ok(Some(filter.unwrap_or_default()))
    }

    fn matches(&self, change: &StateChange) -> bool {
        let StateChange::Row { scope, key, .. } = change else {
            return true;
        };
        let matches = |wanted: &Option<String>, found: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        matches(&self.scope, scope) && matches(&self.key, key)
    }
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
        let (events, with_condition) = core.state_events(&change);
        for (owner, event) in events {
            owner.send_event_in_turn(event).await;
        }
        for (condition, event) in with_condition {
            if let Some(deciding) = Deciding::new(&core, &condition, &event) {
                conditional.spawn(send_if(deciding, condition, event));
            }
        }
    }
}

/// An event that waits for the result of a condition.
struct Deciding {
    core: Arc<Core>,
    owner: Arc<Session>,
    bytes: usize,
}

impl Deciding {
    /// None if the owner of the condition does not keep up: the event is dropped.
    fn new(core: &Arc<Core>, condition: &str, event: &InvokeFunction) -> Option<Self> {
        let Ok(owner) = core.owner_of(condition) else {
            tracing::debug!(condition, "the condition of a trigger does not exist");
            return None;
        };
        let bytes = event.data.get().len();
        let running = owner.conditions.fetch_add(1, Ordering::Relaxed);
        let waiting = core.condition_bytes.fetch_add(bytes, Ordering::Relaxed);
        let deciding = Self {
            core: Arc::clone(core),
            owner,
            bytes,
        };
        let fits = waiting == 0 || waiting + bytes <= MAX_CONDITION_BYTES;
        if running >= MAX_RUNNING_CONDITIONS || !fits {
            deciding.owner.log_refusal(condition);
            return None;
        }
        Some(deciding)
    }
}

impl Drop for Deciding {
    fn drop(&mut self) {
        self.owner.conditions.fetch_sub(1, Ordering::Relaxed);
        self.core
            .condition_bytes
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Calls the function of a trigger if its condition returns true.
async fn send_if(deciding: Deciding, condition: String, event: InvokeFunction) {
    let core = &deciding.core;
    let decided = core.call(&condition, event.data.clone());
    match tokio::time::timeout(CONDITION_TIMEOUT, decided).await {
        Ok(Ok(Some(result))) if result.get() == "true" => match core.owner_of(&event.function_id) {
            Ok(owner) => owner.send_event(event),
            Err(_) => log_no_function(&event.function_id),
        },
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(condition, %error, "the condition of a trigger failed"),
        Err(_) => tracing::warn!(condition, "the condition of a trigger timed out"),
    }
}

fn log_no_function(function_id: &str) {
    tracing::debug!(
        function_id,
        "a trigger calls a function that does not exist"
    );
}

/// Publishes that functions came or went, once for changes in quick succession.
pub(super) async fn publish_functions(core: Weak<Core>, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        tokio::time::sleep(FUNCTIONS_DEBOUNCE).await;
        let Some(core) = core.upgrade() else { return };
        core.log_changed_functions();
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
        let is_wanted = self
            .directory()
            .triggers
            .of_type(trigger_type)
            .next()
            .is_some();
        if !is_wanted {
            return;
        }
        let Ok(event) = event() else { return };
        let event = event.into();
        let calls = {
            let directory = self.directory();
            let triggers = directory.triggers.of_type(trigger_type);
            let calls = triggers.filter_map(|entry| owned_call(&directory, entry, &event));
            calls.collect()
        };
        for (owner, call) in shared_per_worker(calls) {
            owner.send_event(call);
        }
    }

    /// The calls of the triggers that match a change: those without a condition with the owners
    /// of their functions, the others with their conditions. All calls share one event.
    fn state_events(&self, change: &StateChange) -> (Vec<Owned>, Vec<Conditional>) {
        let mut row_event: Option<Arc<RawValue>> = None;
        let mut event_for = |filter: &StateFilter| match change {
            StateChange::Reload => state_event(change, filter).into(),
            StateChange::Row { .. } => {
                let event = row_event.get_or_insert_with(|| state_event(change, filter).into());
                Arc::clone(event)
            }
        };
        let directory = self.directory();
        let (mut owned, mut conditional) = (Vec::new(), Vec::new());
        for entry in directory.triggers.of_type(STATE) {
            let Some(filter) = entry.filter.as_ref().filter(|f| f.matches(change)) else {
                continue;
            };
            let event = event_for(filter);
            match &filter.condition_function_id {
                Some(condition) => conditional.push((condition.clone(), call_of(entry, &event))),
                None => owned.extend(owned_call(&directory, entry, &event)),
            }
        }
        (shared_per_worker(owned), conditional)
    }
}

/// A call of an event, and the owner of its function.
type Owned = (Arc<Session>, InvokeFunction);

/// A call of an event, and the condition for it.
type Conditional = (String, InvokeFunction);

fn owned_call(directory: &Directory, entry: &TriggerEntry, event: &Arc<RawValue>) -> Option<Owned> {
    let function_id = &entry.trigger.function_id;
    let Some(function) = directory.function(function_id) else {
        log_no_function(function_id);
        return None;
    };
    Some((Arc::clone(&function.owner), call_of(entry, event)))
}

fn call_of(entry: &TriggerEntry, event: &Arc<RawValue>) -> InvokeFunction {
    let trigger = &entry.trigger;
    let event = Payload::Shared {
        weight: event.get().len(),
        text: Arc::clone(event),
    };
    let mut call = InvokeFunction::new(trigger.function_id.clone(), event);
    call.metadata.clone_from(&trigger.metadata);
    call
}

/// The calls for one worker share the event in its queue, so each counts for a part of it.
fn shared_per_worker(mut calls: Vec<Owned>) -> Vec<Owned> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for (owner, _) in &calls {
        *counts.entry(owner.serial).or_default() += 1;
    }
    for (owner, call) in &mut calls {
        if let Payload::Shared { weight, .. } = &mut call.data {
            *weight /= counts[&owner.serial];
        }
    }
    calls
}

fn state_event(change: &StateChange, filter: &StateFilter) -> Raw {
    let event = match change {
        StateChange::Row {
            scope,
            key,
            old,
            new,
        } => StateEvent {
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
        },
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
    to_raw_value(&event).expect("an event has string keys only")
}
