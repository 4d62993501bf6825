//! The registry's port to an engine, over the iii wire.
//!
//! A [`ClientEngine`] is the same for an engine elsewhere and for the one in this process:
//! both are a [`Client`]. Only how the client comes about differs; [`remote`] and
//! [`embedded`] know. [`peer`] asks a skills worker elsewhere for its documents.

pub mod embedded;
pub mod peer;
pub mod remote;

use std::sync::Arc;
use std::time::Duration;

use skills_core::{Engine, Failure, Json, Pending};
use skills_iii::state::SqliteState;
use skills_iii::{CallError, Client};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;

/// Functions of the engine itself that may be called twice without harm.
const IDEMPOTENT: &[&str] = &[
    "state::get",
    "state::list",
    "engine::functions::list",
    "engine::functions::info",
    "engine::workers::list",
    "engine::workers::info",
    "engine::triggers::list",
    "engine::triggers::info",
    "engine::registered-triggers::list",
];

/// Whether a call may be repeated when its answer is lost.
pub fn is_idempotent(function: &str) -> bool {
    match skills_api::find_function(function) {
        Some(operation) => operation.idempotent,
        None => IDEMPOTENT.contains(&function),
    }
}

/// An engine at the other end of a client.
pub struct ClientEngine {
    client: Client,
    /// The engine's state, where that is in this process.
    store: Option<Arc<SqliteState>>,
    /// What is sent without waiting goes through a task of its own, in order: whoever
    /// causes many notices answers its caller first.
    unhurried: mpsc::UnboundedSender<(String, Json)>,
}

impl ClientEngine {
    /// The engine behind `client`. Must be called inside a runtime.
    pub fn new(client: Client) -> Self {
        let (unhurried, mut waiting) = mpsc::unbounded_channel::<(String, Json)>();
        let sender = client.clone();
        // Ends with this value, which holds the only other end.
        tokio::spawn(async move {
            while let Some((function, payload)) = waiting.recv().await {
                sender.send(&function, payload);
            }
        });
        Self {
            client,
            store: None,
            unhurried,
        }
    }

    /// The same, where the engine's state is in this process.
    pub fn beside(store: Arc<SqliteState>, client: Client) -> Self {
        Self {
            store: Some(store),
            ..Self::new(client)
        }
    }
}

impl Engine for ClientEngine {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        Box::pin(async move {
            let answer = if is_idempotent(function) {
                self.client
                    .call_idempotent(function, payload, timeout)
                    .await
            } else {
                self.client.call(function, payload, timeout).await
            };
            answer.map_err(failure)
        })
    }

    fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Option<Result<(), Failure>> {
        let store = self.store.as_ref()?;
        // The rows are the engine's, so they are gone when it is.
        if self.client.worker_id().is_none() {
            return Some(Err(failure(CallError::Disconnected)));
        }
        let mut read = || store.for_each_row(scope, visit);
        // Many rows take a while; where there are other threads, they take over meanwhile.
        let shown = match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => tokio::task::block_in_place(read),
            _ => read(),
        };
        Some(shown.map_err(|error| Failure::Failed {
            code: "LIST_ERROR".into(),
            message: error.with_cause_and_hint(),
        }))
    }

    fn send(&self, function: &str, payload: Json) {
        // Refused only when the runtime is ending, and then nobody listens.
        let _ = self.unhurried.send((function.to_owned(), payload));
    }
}

fn failure(error: CallError) -> Failure {
    match error {
        CallError::TimedOut { timeout, .. } => Failure::TimedOut { after: timeout },
        CallError::NotFound(_) => Failure::Absent,
        CallError::Disconnected => Failure::Unreachable {
            reason: error.to_string(),
        },
        CallError::Remote(body) if body.code == "invocation_stopped" => Failure::Failed {
            code: body.code,
            message: "its worker went away before it answered".into(),
        },
        CallError::Remote(body) if body.message.trim().is_empty() => Failure::Failed {
            message: format!("it gave no reason (code `{}`)", body.code),
            code: body.code,
        },
        CallError::Remote(body) => Failure::Failed {
            code: body.code,
            message: body.message,
        },
    }
}
