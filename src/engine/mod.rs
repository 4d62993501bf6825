//! The registry's port to an engine, over the iii wire.
//!
//! A [`Wire`] is the same for an engine elsewhere and for the one in this process:
//! both are a [`Client`]. Only how the client comes about differs; [`remote`] and
//! [`embedded`] know.

pub mod embedded;
pub mod remote;

use std::time::Duration;

use skills_core::{Engine, Failure, Json, Pending};
use skills_iii::{CallError, Client};

/// Calls that may be said twice without harm, so a lost answer costs a moment
/// instead of the whole timeout.
const IDEMPOTENT: &[&str] = &["state::get", "state::list"];

/// An engine at the other end of a client.
pub struct Wire(pub Client);

impl Engine for Wire {
    fn call<'a>(
        &'a self,
        function: &'a str,
        payload: Json,
        timeout: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        Box::pin(async move {
            let answer = if IDEMPOTENT.contains(&function) {
                self.0.call_idempotent(function, payload, timeout).await
            } else {
                self.0.call(function, payload, timeout).await
            };
            answer.map_err(failure)
        })
    }

    fn send(&self, function: &str, payload: Json) {
        self.0.send(function, payload);
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
