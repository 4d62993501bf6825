//! What the hub itself tells: state that changed, functions and workers that
//! came and went.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::Core;
use super::builtin::list_functions;
use super::session::Session;
use super::trigger::Entry;
use crate::message::{ErrorBody, Raw, RegisterTrigger};
use crate::state::{Changes, StateChange};

const STATE: &str = "state";
const FUNCTIONS: &str = "engine::functions-available";
const WORKERS: &str = "engine::workers-available";

/// The trigger types of the hub itself, each with what it is for.
pub(super) const OWN: &[(&str, &str)] = &[
    (
        STATE,
        "Fires when a value in state is created, updated or deleted.",
    ),
    (FUNCTIONS, "Fires when functions come or go."),
    (WORKERS, "Fires when workers come or go."),
];

/// Functions come and go in groups; one event tells of them all.
const GATHER: Duration = Duration::from_millis(50);
/// How long a condition may think.
const CONDITION: Duration = Duration::from_secs(30);

pub(super) fn is_own(kind: &str) -> bool {
    OWN.iter().any(|(id, _)| *id == kind)
}

/// Which state a trigger is about.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    scope: Option<String>,
    key: Option<String>,
    condition_function_id: Option<String>,
}

impl Filter {
    fn of(trigger: &RegisterTrigger) -> Result<Self, serde_json::Error> {
        let filter: Option<Self> = serde_json::from_str(trigger.config.get())?;
        Ok(filter.unwrap_or_default())
    }
}

/// Refuses a trigger whose settings mean nothing.
pub(super) fn check(trigger: &RegisterTrigger) -> Result<(), ErrorBody> {
    if trigger.trigger_type == STATE {
        Filter::of(trigger)
            .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))?;
    }
    Ok(())
}

/// What a subscriber to `state` gets.
#[derive(Serialize)]
struct StateEvent<'a> {
    r#type: &'static str,
    event_type: &'static str,
    scope: Option<&'a str>,
    key: Option<&'a str>,
    old_value: Option<&'a RawValue>,
    new_value: Option<&'a RawValue>,
}

/// Tells of every change in state until the hub is gone.
pub(super) async fn publish_state_changes(core: Weak<Core>, mut changes: Changes) {
    // Events with a condition; the others must not wait for it.
    let mut deciding = JoinSet::new();
    loop {
        let change = tokio::select! {
            change = changes.recv() => change,
            Some(_) = deciding.join_next() => continue,
        };
        let (Some(change), Some(core)) = (change, core.upgrade()) else {
            return;
        };
        for (condition, target, event) in core.concerned(&change) {
            match condition {
                None => core.send(&target.0, event, target.1),
                Some(condition) => {
                    deciding.spawn(send_if(Arc::clone(&core), condition, target, event));
                }
            }
        }
    }
}

async fn send_if(core: Arc<Core>, condition: String, target: Target, event: Raw) {
    let asked = core.ask(&condition, event.clone());
    match tokio::time::timeout(CONDITION, asked).await {
        Ok(Ok(Some(answer))) if answer.get() == "true" => core.send(&target.0, event, target.1),
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(condition, %error, "a trigger's condition failed"),
        Err(_) => tracing::warn!(condition, "a trigger's condition took too long"),
    }
}

/// Tells when functions came or went, once for each flurry.
pub(super) async fn publish_functions(core: Weak<Core>, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        tokio::time::sleep(GATHER).await;
        let Some(core) = core.upgrade() else { return };
        core.fire(FUNCTIONS, || {
            let functions = list_functions(&core.look(), |_| true);
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
    /// Tells that a worker came, changed or went.
    pub(super) fn publish_worker_event(&self, event: &'static str, session: &Session) {
        let worker_id = &session.worker_id;
        self.fire(WORKERS, || {
            to_raw_value(&WorkersChanged { event, worker_id })
        });
    }

    /// Calls every function that waits for `kind`; the event is made only if
    /// there is one.
    fn fire(&self, kind: &str, event: impl FnOnce() -> Result<Raw, serde_json::Error>) {
        let targets: Vec<_> = self.look().triggers.of(kind).map(target).collect();
        if targets.is_empty() {
            return;
        }
        let Ok(event) = event() else { return };
        for (function_id, metadata) in targets {
            self.send(&function_id, event.clone(), metadata);
        }
    }

    /// For each trigger a change concerns: the condition, what to call, the event.
    fn concerned(&self, change: &StateChange) -> Vec<(Option<String>, Target, Raw)> {
        let directory = self.look();
        let mut calls = Vec::new();
        for entry in directory.triggers.of(STATE) {
            // Checked when it was registered.
            let Ok(filter) = Filter::of(&entry.trigger) else {
                continue;
            };
            if let Some(event) = event_for(change, &filter) {
                calls.push((filter.condition_function_id, target(entry), event));
            }
        }
        calls
    }
}

/// What a trigger calls, and what its subscriber wants handed along.
type Target = (String, Option<Raw>);

fn target(entry: &Entry) -> Target {
    (
        entry.trigger.function_id.clone(),
        entry.trigger.metadata.clone(),
    )
}

fn event_for(change: &StateChange, filter: &Filter) -> Option<Raw> {
    let event = match change {
        StateChange::Row {
            scope,
            key,
            old,
            new,
        } => {
            let other = |wanted: &Option<String>, found: &String| {
                wanted.as_ref().is_some_and(|wanted| wanted != found)
            };
            if other(&filter.scope, scope) || other(&filter.key, key) {
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
        // No such event on other engines; a subscriber that takes events for
        // doorbells reads again, any other finds neither key nor value.
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
