//! One connected worker.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::open_call::{OpenCall, OpenCalls};
use super::registered::RegisteredBytes;
use super::worker_log::LoggedFunctions;
use crate::call_id::new_call_id;
use crate::limits::MAX_PENDING_CALLS;
use crate::lock::lock;
use crate::message::{ErrorBody, InvocationResult, InvokeFunction, Message};
use crate::queue::{Outbox, PushError};
use crate::state_functions::Outcome;

/// The recipient of a call's result.
#[derive(Debug)]
pub(super) enum Caller {
    /// A worker, and the id that it gave the call.
    Worker(OpenCall, Uuid),
    /// The hub itself.
    Hub(oneshot::Sender<Outcome>),
    /// No result is expected.
    None,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) serial: u64,
    pub(super) worker_id: Arc<str>,
    pub(super) reattach_token: String,
    pub(super) address: Option<IpAddr>,
    pub(super) connected_at_ms: u64,
    outbox: Outbox,
    // Std mutexes: nothing awaits while they are held.
    profile: Mutex<(Option<String>, Profile)>,
    pending: Mutex<Pending>,
    refused_calls: AtomicUsize,
    /// Calls of this worker without a result.
    pub(super) open_calls: OpenCalls,
    /// Conditions of triggers that this worker is deciding.
    pub(super) conditions: AtomicUsize,
    /// Functions that this worker has registered.
    pub(super) functions: AtomicUsize,
    pub(super) registered: RegisteredBytes,
    pub(super) logged_functions: LoggedFunctions,
}

/// How a worker describes itself, besides its name.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Profile {
    pub(super) description: Option<String>,
    pub(super) version: Option<String>,
    pub(super) runtime: Option<String>,
    pub(super) os: Option<String>,
    pub(super) pid: Option<u64>,
    pub(super) isolation: Option<String>,
}

/// Calls that were sent to this worker and have no result yet.
#[derive(Debug, Default)]
struct Pending {
    calls: HashMap<Uuid, (Caller, String)>,
    closed: bool,
}

impl Session {
    pub(super) fn new(
        serial: u64,
        outbox: Outbox,
        address: Option<IpAddr>,
        max_open_calls: usize,
    ) -> Arc<Self> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Arc::new(Self {
            serial,
            worker_id: Uuid::new_v4().to_string().into(),
            reattach_token: Uuid::new_v4().to_string(),
            address,
            connected_at_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            outbox,
            profile: Mutex::default(),
            pending: Mutex::default(),
            refused_calls: AtomicUsize::new(0),
            open_calls: OpenCalls::new(max_open_calls),
            conditions: AtomicUsize::new(0),
            functions: AtomicUsize::new(0),
            registered: RegisteredBytes::default(),
            logged_functions: LoggedFunctions::default(),
        })
    }

    /// Whether both are the same connection.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.serial == other.serial
    }

    pub(super) fn profile(&self) -> Profile {
        lock(&self.profile).1.clone()
    }

    pub(super) fn set_profile(&self, name: Option<String>, profile: Profile) {
        *lock(&self.profile) = (name, profile);
    }

    /// The worker's name; its id if it has no name.
    pub(super) fn name(&self) -> String {
        let name = lock(&self.profile).0.clone();
        name.unwrap_or_else(|| self.worker_id.to_string())
    }

    pub(super) fn pending_calls(&self) -> usize {
        lock(&self.pending).calls.len()
    }

    /// Whether the worker is in this process. It reads all the time, so its own calls and the
    /// messages for it are not held back.
    pub(super) fn is_in_process(&self) -> bool {
        self.outbox.is_in_process()
    }

    /// Whether the worker should read replies before it makes more calls.
    pub(super) fn has_unread_replies(&self) -> bool {
        self.outbox.has_unread_replies()
    }

    /// Fails if the worker has as many calls open as are allowed.
    pub(super) fn check_open_calls(&self) -> Result<(), ErrorBody> {
        if !self.open_calls.are_too_many() || self.is_in_process() {
            return Ok(());
        }
        let max = self.open_calls.max;
        let message = format!("{max} calls of this worker have no result yet; wait for some");
        Err(ErrorBody::new("worker_overloaded", message))
    }

    /// Responds to a message of this worker. Always fits: the worker is not read from while it
    /// leaves too many replies unread.
    pub(super) fn send(&self, message: Message) {
        let _ = self.outbox.push_always(message);
    }

    /// Sends a message that must not be lost. A worker that has left too much unread is dropped.
    pub(super) fn send_or_drop(&self, message: Message) {
        if let Err(PushError::Full) = self.outbox.push_or_abort(message) {
            tracing::warn!(worker = self.name(), "dropping a worker that does not read");
        }
    }

    /// Sends a registration if there is space for it.
    pub(super) fn try_send(&self, message: Message) -> Result<(), ErrorBody> {
        match self.outbox.push_registration(message) {
            Err(PushError::Full) => {
                let message = format!("the worker `{}` does not keep up", self.name());
                Err(ErrorBody::new("worker_overloaded", message))
            }
            // The session is about to be removed.
            Err(PushError::Closed) | Ok(()) => Ok(()),
        }
    }

    /// Sends the result of a call that this worker made, if it expects one.
    pub(super) fn reply(&self, id: Option<Uuid>, function_id: String, outcome: Outcome) {
        let Some(invocation_id) = id else { return };
        self.send_result(InvocationResult {
            invocation_id,
            function_id,
            ..InvocationResult::of(outcome)
        });
    }

    /// Sends a result. If too much waits for this worker already, it gets an error instead, so
    /// that every call has an answer.
    fn send_result(&self, result: InvocationResult) {
        if self.is_in_process() {
            return self.send(Message::InvocationResult(Box::new(result)));
        }
        let message = Message::InvocationResult(Box::new(result));
        let Err(refused) = self.outbox.push_or_return(message) else {
            return;
        };
        let bytes = refused.weight();
        let Message::InvocationResult(refused) = refused else {
            return;
        };
        let (invocation_id, function_id) = (refused.invocation_id, refused.function_id);
        let error = ErrorBody::new(
            "caller_overloaded",
            format!(
                "the result of `{function_id}` ({bytes} bytes) was dropped: too much waits for \
                 this worker; read faster, or make fewer calls at once"
            ),
        );
        self.send(Message::InvocationResult(Box::new(InvocationResult {
            invocation_id,
            function_id,
            ..InvocationResult::of(Err(error))
        })));
    }

    /// Passes an event on to this worker. A worker of this process always gets it, others if
    /// there is space.
    pub(super) fn send_event(&self, mut event: InvokeFunction) {
        if !self.is_in_process() {
            self.call(event, Caller::None);
            return;
        }
        event.invocation_id = Some(new_call_id());
        self.send(Message::InvokeFunction(Box::new(event)));
    }

    /// The same, but waits until a worker of this process has space.
    pub(super) async fn send_event_in_turn(&self, mut event: InvokeFunction) {
        if !self.is_in_process() {
            self.call(event, Caller::None);
            return;
        }
        event.invocation_id = Some(new_call_id());
        let event = Message::InvokeFunction(Box::new(event));
        // Fails if the worker is gone.
        let _ = self.outbox.send(event).await;
    }

    /// Passes a call on to this worker and returns its id. The caller gets an error if that fails.
    pub(super) fn call(&self, mut call: InvokeFunction, caller: Caller) -> Uuid {
        call.action = None;
        let mut id = call.invocation_id.unwrap_or_else(new_call_id);
        let function_id = call.function_id.clone();
        if matches!(caller, Caller::None) {
            call.invocation_id = Some(new_call_id());
            let sent = self.outbox.push(Message::InvokeFunction(Box::new(call)));
            if let Err(PushError::Full) = sent {
                self.log_refusal(&function_id);
            }
            return id;
        }
        // Registered before the call is sent, so that the result finds its caller.
        let mut pending = lock(&self.pending);
        if pending.closed || pending.calls.len() >= MAX_PENDING_CALLS {
            let error = if pending.closed {
                stopped(&function_id)
            } else {
                overloaded(&function_id)
            };
            drop(pending);
            caller.reply(function_id, Err(error));
            return id;
        }
        while pending.calls.contains_key(&id) {
            // Two callers chose the same id, and the callee must be able to distinguish them.
            id = new_call_id();
        }
        call.invocation_id = Some(id);
        pending.calls.insert(id, (caller, function_id));
        drop(pending);
        if let Err(refused) = self.outbox.push(Message::InvokeFunction(Box::new(call))) {
            let Some((caller, function_id)) = lock(&self.pending).calls.remove(&id) else {
                return id;
            };
            let error = match refused {
                PushError::Full => {
                    self.log_refusal(&function_id);
                    overloaded(&function_id)
                }
                PushError::Closed => stopped(&function_id),
            };
            caller.reply(function_id, Err(error));
        }
        id
    }

    /// Forgets a call whose caller has given up.
    pub(super) fn forget_call(&self, id: Uuid) {
        lock(&self.pending).calls.remove(&id);
    }

    /// Logs with decreasing frequency, so that a flood of calls does not flood the log.
    pub(super) fn log_refusal(&self, function_id: &str) {
        let refused = self.refused_calls.fetch_add(1, Ordering::Relaxed) + 1;
        if refused.is_power_of_two() {
            let worker = self.name();
            tracing::warn!(
                worker,
                function_id,
                refused,
                "refusing calls of a worker that does not keep up"
            );
        }
    }

    /// Passes this worker's result of a call on to the caller.
    pub(super) fn complete(&self, mut result: InvocationResult) {
        let pending = lock(&self.pending).calls.remove(&result.invocation_id);
        let Some((caller, _)) = pending else {
            tracing::trace!(id = %result.invocation_id, "ignoring a result without a call");
            return;
        };
        // Between workers, null means no result.
        result.result = result.result.filter(|raw| raw.get() != "null");
        match caller {
            Caller::Worker(caller, id) => {
                result.invocation_id = id;
                caller.0.send_result(result);
            }
            Caller::Hub(caller) => {
                // Fails if the hub has given up.
                let _ = caller.send(result.error.map_or(Ok(result.result), Err));
            }
            Caller::None => {}
        }
    }

    /// The worker is gone: its pending calls fail.
    pub(super) fn close(&self) {
        self.outbox.abort("the session ended");
        let calls = {
            let mut pending = lock(&self.pending);
            pending.closed = true;
            std::mem::take(&mut pending.calls)
        };
        for (caller, function_id) in calls.into_values() {
            let error = stopped(&function_id);
            caller.reply(function_id, Err(error));
        }
    }

    /// Forgets the pending calls of a caller that is gone.
    pub(super) fn forget_caller(&self, gone: &Self) {
        lock(&self.pending)
            .calls
            .retain(|_, (caller, _)| match caller {
                Caller::Worker(caller, _) => !caller.0.is(gone),
                Caller::Hub(_) | Caller::None => true,
            });
    }

    /// Wakes the task of the connection.
    pub(super) fn wake(&self) {
        self.outbox.wake();
    }

    /// Sends the queued messages and closes the connection.
    pub(super) fn finish(&self) {
        self.outbox.finish();
    }
}

impl Caller {
    fn reply(self, function_id: String, outcome: Outcome) {
        match self {
            Self::Worker(caller, id) => caller.0.reply(Some(id), function_id, outcome),
            Self::Hub(caller) => {
                let _ = caller.send(outcome);
            }
            Self::None => {}
        }
    }
}

fn stopped(function_id: &str) -> ErrorBody {
    let message = format!("the worker of `{function_id}` disconnected");
    ErrorBody::new("invocation_stopped", message)
}

fn overloaded(function_id: &str) -> ErrorBody {
    let message = format!("the worker of `{function_id}` does not keep up with its calls");
    ErrorBody::new("worker_overloaded", message)
}
