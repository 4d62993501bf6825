//! The registry's [`Engine`](skills_core::Engine) port and how it is reached.
//!
//! [`ClientEngine`] is an engine behind an iii client, in this process or elsewhere;
//! [`LocalEngine`] is a data directory without an engine, [`EmptyEngine`] neither. [`remote`] connects to an engine
//! elsewhere, and [`WorkerSource`] reads the documents that a skills worker serves there.

mod client;
mod empty;
mod local;
mod presence;
pub mod remote;
mod worker_source;

use skills_core::{Failure, StoredRow};
use skills_iii::CallError;
use skills_iii::state::SqliteState;
use tokio::runtime::{Handle, RuntimeFlavor};

pub use client::ClientEngine;
pub use empty::EmptyEngine;
pub use local::LocalEngine;
pub use presence::Presence;
pub use worker_source::WorkerSource;

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

/// Visits every row of a scope. Blocks, but not the other tasks of a multi-threaded runtime.
fn for_each_row(
    store: &SqliteState,
    scope: &str,
    visit: &mut dyn FnMut(StoredRow<'_>),
) -> Result<(), Failure> {
    let mut read = || store.for_each_row(scope, visit);
    let visited = match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(read),
        _ => read(),
    };
    visited.map_err(|error| Failure::Failed {
        code: "LIST_ERROR".into(),
        message: error.with_cause_and_hint(),
    })
}

/// Gives the space of deleted rows back.
async fn compact(store: &SqliteState) -> Result<Option<u64>, Failure> {
    let compacted = store.compact().await;
    compacted.map(Some).map_err(|error| Failure::Failed {
        code: "COMPACT_ERROR".into(),
        message: error.with_cause_and_hint(),
    })
}

fn failure(error: CallError) -> Failure {
    match error {
        CallError::TimedOut { timeout, .. } => Failure::TimedOut { after: timeout },
        CallError::NotFound(_) => Failure::Absent,
        CallError::Disconnected => Failure::Unreachable {
            reason: error.to_string(),
        },
        CallError::Remote(body) if body.code == "invocation_stopped" => Failure::Unreachable {
            reason: "its worker disconnected before it answered".into(),
        },
        CallError::Remote(body) if body.is_temporary() => Failure::Unreachable {
            reason: body.message,
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
