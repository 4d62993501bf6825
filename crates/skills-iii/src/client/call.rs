//! Calls that this worker makes.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::Client;
use crate::call_id::new_call_id;
use crate::lock::lock;
use crate::message::{Action, ErrorBody, InvocationResult, InvokeFunction, Message, Payload, Raw};
use crate::queue::PushError;

/// The longest time until an idempotent call is sent for the second time.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How many times an idempotent call is sent.
const MAX_ATTEMPTS: usize = 5;

/// Why a call has no result.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// No reply arrived in time.
    #[error("`{function_id}` did not answer within {timeout:?}")]
    TimedOut {
        /// The function.
        function_id: String,
        /// The time it had.
        timeout: Duration,
    },
    /// There is no connection, or it was lost before the reply arrived.
    #[error("not connected to an engine")]
    Disconnected,
    /// No worker offers the function.
    #[error("function not found: {0}")]
    NotFound(String),
    /// The function or the engine failed.
    #[error(transparent)]
    Remote(#[from] ErrorBody),
}

type Outcome = Result<Option<Raw>, CallError>;

/// The calls without a reply.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Mutex<HashMap<Uuid, oneshot::Sender<Outcome>>>);

impl PendingCalls {
    pub(super) fn complete(&self, reply: InvocationResult) {
        let Some(caller) = lock(&self.0).remove(&reply.invocation_id) else {
            tracing::debug!(id = %reply.invocation_id, "ignoring a reply without a call");
            return;
        };
        let outcome = match reply.error {
            None => Ok(reply.result.map(Payload::into_raw)),
            Some(error) if error.code == "function_not_found" => {
                Err(CallError::NotFound(reply.function_id))
            }
            Some(error) => Err(CallError::Remote(error)),
        };
        // Fails if the caller has given up.
        let _ = caller.send(outcome);
    }

    pub(super) fn fail_all(&self) {
        let pending = std::mem::take(&mut *lock(&self.0));
        for (_, caller) in pending {
            let _ = caller.send(Err(CallError::Disconnected));
        }
    }
}

/// Removes a call when its caller gives up.
struct PendingCall<'a>(&'a PendingCalls, Uuid);

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        lock(&self.0.0).remove(&self.1);
    }
}

impl Client {
    /// Calls a function and waits for its result, which is `None` for a function without one.
    ///
    /// Fails at once when there is no connection.
    pub async fn call(
        &self,
        function_id: &str,
        payload: Raw,
        timeout_after: Duration,
    ) -> Result<Option<Raw>, CallError> {
        let outcome = timeout(timeout_after, self.attempt(function_id, payload)).await;
        outcome.unwrap_or_else(|_| Err(timed_out(function_id, timeout_after)))
    }

    /// Calls a function that may run more than once without harm.
    ///
    /// Engines can lose a reply, so the call is sent again after a quarter of the timeout (at
    /// most a second), and the first reply counts. It also survives a reconnect within the
    /// timeout.
    pub async fn call_idempotent(
        &self,
        function_id: &str,
        payload: Raw,
        timeout_after: Duration,
    ) -> Result<Option<Raw>, CallError> {
        let attempts = self.attempt_repeatedly(function_id, &payload, timeout_after);
        match timeout(timeout_after, attempts).await {
            Ok(outcome) => outcome,
            Err(_) if self.worker_id().is_none() => Err(CallError::Disconnected),
            Err(_) => Err(timed_out(function_id, timeout_after)),
        }
    }

    /// Calls a function without waiting for a result. Never blocks: without a connection, or when
    /// the queue is full, the call is dropped with a warning in the log.
    pub fn send(&self, function_id: &str, payload: Raw) {
        let mut call = InvokeFunction::new(function_id, payload);
        call.action = Some(Action::Void);
        let message = Message::InvokeFunction(Box::new(call));
        let pushed = match self.inner.outbox() {
            Some(outbox) => outbox.push(message),
            None => Err(PushError::Closed),
        };
        match pushed {
            Ok(()) => {}
            Err(PushError::Full) => {
                tracing::warn!(function_id, "dropped a call: the queue is full");
            }
            Err(PushError::Closed) => tracing::warn!(function_id, "dropped a call: not connected"),
        }
    }

    async fn attempt(&self, function_id: &str, payload: Raw) -> Outcome {
        let outbox = self.inner.outbox().ok_or(CallError::Disconnected)?;
        let id = new_call_id();
        let mut call = InvokeFunction::new(function_id, payload);
        call.invocation_id = Some(id);
        let (caller, reply) = oneshot::channel();
        // Before the call is sent, so that the reply finds its caller.
        lock(&self.inner.calls.0).insert(id, caller);
        let _pending = PendingCall(&self.inner.calls, id);
        let sent = outbox.send(Message::InvokeFunction(Box::new(call))).await;
        sent.map_err(|_| CallError::Disconnected)?;
        reply.await.unwrap_or(Err(CallError::Disconnected))
    }

    async fn attempt_repeatedly(
        &self,
        function_id: &str,
        payload: &Raw,
        timeout_after: Duration,
    ) -> Outcome {
        let mut attempts = FuturesUnordered::new();
        let mut sent = 0;
        let mut delay = (timeout_after / 4).min(MAX_RETRY_DELAY);
        loop {
            if attempts.is_empty() {
                self.wait_connected().await?;
            }
            attempts.push(self.attempt(function_id, payload.clone()));
            sent += 1;
            let retry = sleep(delay);
            tokio::pin!(retry);
            loop {
                tokio::select! {
                    Some(outcome) = attempts.next() => match outcome {
                        Err(CallError::Disconnected) if attempts.is_empty() => break,
                        Err(CallError::Disconnected) => {}
                        outcome => return outcome,
                    },
                    () = &mut retry, if sent < MAX_ATTEMPTS => {
                        tracing::debug!(function_id, sent, "no reply yet; sending the call again");
                        delay *= 2;
                        break;
                    }
                }
            }
        }
    }
}

fn timed_out(function_id: &str, timeout: Duration) -> CallError {
    CallError::TimedOut {
        function_id: function_id.to_owned(),
        timeout,
    }
}
