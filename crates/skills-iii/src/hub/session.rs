//! One connected worker, as the hub sees it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::fresh::fresh_id;
use crate::message::{ErrorBody, Extra, InvocationResult, InvokeFunction, Message};
use crate::queue::{NotTaken, Outbox};
use crate::state_functions::Outcome;

/// Calls one worker may have open before it is called overloaded.
const MOST_OPEN: usize = 262_144;

/// Whoever waits for the answer to a call.
#[derive(Debug)]
pub(super) enum Caller {
    /// A worker, and the id it gave the call.
    Worker(Arc<Session>, Uuid),
    /// The hub itself.
    Inside(oneshot::Sender<Outcome>),
    /// Nobody.
    Nobody,
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
    profile: Mutex<Profile>,
    open: Mutex<Open>,
    overloaded: AtomicUsize,
}

/// What a worker says about itself.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Profile {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) runtime: Option<String>,
    pub(super) os: Option<String>,
    pub(super) description: Option<String>,
    pub(super) isolation: Option<String>,
    pub(super) pid: Option<u64>,
}

/// Calls sent to this worker and not answered yet.
#[derive(Debug, Default)]
struct Open {
    calls: HashMap<Uuid, (Caller, String)>,
    closed: bool,
}

impl Session {
    pub(super) fn new(serial: u64, outbox: Outbox, address: Option<IpAddr>) -> Arc<Self> {
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
            open: Mutex::default(),
            overloaded: AtomicUsize::new(0),
        })
    }

    pub(super) fn profile(&self) -> MutexGuard<'_, Profile> {
        self.profile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name it goes by; its id until it has one.
    pub(super) fn name(&self) -> String {
        self.profile()
            .name
            .clone()
            .unwrap_or_else(|| self.worker_id.to_string())
    }

    pub(super) fn open_calls(&self) -> usize {
        self.open().calls.len()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something that must not be lost. A worker that leaves so much
    /// unread that it does not fit is dropped.
    pub(super) fn say(&self, message: Message) {
        if let Err(NotTaken::Full(_)) = self.outbox.push(message) {
            tracing::warn!(worker = self.name(), "dropping a worker that does not read");
            self.outbox.abort("it does not read what it is sent");
        }
    }

    /// Answers a call of this worker.
    pub(super) fn answer(&self, id: Option<Uuid>, function_id: String, outcome: Outcome) {
        let Some(invocation_id) = id else { return };
        let (result, error) = match outcome {
            Ok(result) => (result, None),
            Err(error) => (None, Some(error)),
        };
        self.say(Message::InvocationResult(Box::new(InvocationResult {
            invocation_id,
            function_id,
            result,
            error,
            traceparent: None,
            baggage: None,
            extra: Extra::new(),
        })));
    }

    /// Passes a call on to this worker. Whoever waits hears of a failure.
    pub(super) fn call(&self, mut call: InvokeFunction, caller: Caller) {
        call.action = None;
        let mut id = call.invocation_id.unwrap_or_else(fresh_id);
        let function_id = call.function_id.clone();
        if matches!(caller, Caller::Nobody) {
            call.invocation_id = Some(fresh_id());
            let sent = self.outbox.push(Message::InvokeFunction(Box::new(call)));
            if let Err(NotTaken::Full(_)) = sent {
                self.complain(&function_id);
            }
            return;
        }
        // Booked before it is sent: no answer can come first.
        let mut open = self.open();
        if open.closed || open.calls.len() >= MOST_OPEN {
            let error = if open.closed {
                stopped(&function_id)
            } else {
                busy(&function_id)
            };
            drop(open);
            caller.hear(function_id, Err(error));
            return;
        }
        while open.calls.contains_key(&id) {
            // Two callers chose the same id; the callee must tell them apart.
            id = fresh_id();
        }
        call.invocation_id = Some(id);
        open.calls.insert(id, (caller, function_id));
        drop(open);
        if let Err(not_taken) = self.outbox.push(Message::InvokeFunction(Box::new(call))) {
            let Some((caller, function_id)) = self.open().calls.remove(&id) else {
                return;
            };
            let error = match not_taken {
                NotTaken::Full(_) => {
                    self.complain(&function_id);
                    busy(&function_id)
                }
                NotTaken::Closed => stopped(&function_id),
            };
            caller.hear(function_id, Err(error));
        }
    }

    /// One line for many: whoever floods a worker must not flood the log too.
    fn complain(&self, function_id: &str) {
        let refused = self.overloaded.fetch_add(1, Ordering::Relaxed) + 1;
        if refused.is_power_of_two() {
            let worker = self.name();
            tracing::warn!(
                worker,
                function_id,
                refused,
                "a worker leaves calls unread; refusing"
            );
        }
    }

    /// Takes this worker's answer to a call and passes it on.
    pub(super) fn settle(&self, mut answer: InvocationResult) {
        let Some((caller, _)) = self.open().calls.remove(&answer.invocation_id) else {
            tracing::trace!(id = %answer.invocation_id, "an answer nobody waits for");
            return;
        };
        // Between workers, null is no result.
        if answer
            .result
            .as_ref()
            .is_some_and(|raw| raw.get() == "null")
        {
            answer.result = None;
        }
        match caller {
            Caller::Worker(session, id) => {
                answer.invocation_id = id;
                session.say(Message::InvocationResult(Box::new(answer)));
            }
            Caller::Inside(waiting) => {
                let outcome = answer.error.map_or(Ok(answer.result), Err);
                let _gave_up = waiting.send(outcome);
            }
            Caller::Nobody => {}
        }
    }

    /// The worker is gone: everyone who waits for it is told.
    pub(super) fn close(&self) {
        self.outbox.abort("the session ended");
        let mut open = self.open();
        open.closed = true;
        let calls = std::mem::take(&mut open.calls);
        drop(open);
        for (caller, function_id) in calls.into_values() {
            let error = stopped(&function_id);
            caller.hear(function_id, Err(error));
        }
    }

    /// Forgets calls whose caller is gone.
    pub(super) fn forget_caller(&self, gone: &Self) {
        self.open().calls.retain(|_, (caller, _)| match caller {
            Caller::Worker(session, _) => session.serial != gone.serial,
            Caller::Inside(_) | Caller::Nobody => true,
        });
    }

    /// Sends what waits and closes.
    pub(super) fn finish(&self) {
        self.outbox.finish();
    }
}

impl Caller {
    fn hear(self, function_id: String, outcome: Outcome) {
        match self {
            Self::Worker(session, id) => session.answer(Some(id), function_id, outcome),
            Self::Inside(waiting) => {
                let _gave_up = waiting.send(outcome);
            }
            Self::Nobody => {}
        }
    }
}

fn stopped(function_id: &str) -> ErrorBody {
    let message = format!("the worker of `{function_id}` went away");
    ErrorBody::new("invocation_stopped", message)
}

fn busy(function_id: &str) -> ErrorBody {
    let message = format!("the worker of `{function_id}` does not keep up with its calls");
    ErrorBody::new("worker_overloaded", message)
}
