//! Requests without a response, and responses that are not written: what back-pressure limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::watch;

use super::Limits;
use crate::jsonrpc::{self, ErrorResponse};

/// How much of the server's memory a client uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Requests without a response, and lines that are not written.
    pub messages: usize,
    /// Bytes of those requests.
    pub request_bytes: usize,
    /// Bytes of those lines.
    pub output_bytes: usize,
}

/// A part of the load, given back when it is dropped.
struct Share {
    total: watch::Sender<Load>,
    part: Load,
}

impl Share {
    fn new(total: &watch::Sender<Load>, part: Load) -> Self {
        let mut share = Self {
            total: total.clone(),
            part: Load::default(),
        };
        share.set(part);
        share
    }

    fn set(&mut self, part: Load) {
        self.total.send_modify(|total| {
            let old = self.part;
            total.messages = total.messages - old.messages + part.messages;
            total.request_bytes = total.request_bytes - old.request_bytes + part.request_bytes;
            total.output_bytes = total.output_bytes - old.output_bytes + part.output_bytes;
        });
        self.part = part;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(Load::default());
    }
}

/// A line to be written. It counts as load until it is dropped.
pub struct Line {
    /// The text without a line end.
    pub text: String,
    _share: Share,
}

impl Line {
    fn new(text: String, mut share: Share) -> Self {
        share.set(Load {
            messages: share.part.messages.max(1),
            request_bytes: 0,
            output_bytes: text.len(),
        });
        Self {
            text,
            _share: share,
        }
    }
}

/// The responses to a batch, which are written together.
pub struct Batch(Mutex<BatchState>);

struct BatchState {
    missing: usize,
    responses: Vec<String>,
    share: Option<Share>,
}

impl Batch {
    /// Adds the response to one request, if it gets any; returns the line after the last one.
    fn complete(&self, response: Option<String>) -> Option<Line> {
        let mut state = lock(&self.0);
        state.missing -= 1;
        state.responses.extend(response);
        if state.missing > 0 || state.responses.is_empty() {
            return None;
        }
        let text = format!("[{}]", state.responses.join(","));
        state.share.take().map(|share| Line::new(text, share))
    }
}

struct InFlight {
    is_subscription: bool,
    batch: Option<Arc<Batch>>,
    /// `None` in a batch, which has a share as a whole, and for subscriptions.
    share: Option<Share>,
}

/// The requests of one client that have no response yet.
pub struct Pending {
    /// The limits of this client.
    pub limits: Limits,
    load: watch::Sender<Load>,
    // A std mutex: nothing awaits while it is held.
    in_flight: Mutex<HashMap<RequestId, InFlight>>,
}

impl Pending {
    /// No requests.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            load: watch::Sender::default(),
            in_flight: Mutex::default(),
        }
    }

    /// The load, and a way to wait for a change of it.
    pub fn load(&self) -> watch::Receiver<Load> {
        self.load.subscribe()
    }

    /// Whether another line may be read.
    pub fn has_room(&self, load: &Load) -> bool {
        load.messages < self.limits.requests
            && load.request_bytes < self.limits.request_bytes
            && load.output_bytes < self.limits.output_bytes
    }

    /// Adds a request of `bytes` bytes, unless its id is in use or there are too many subscriptions.
    pub fn add(
        &self,
        id: &RequestId,
        is_subscription: bool,
        bytes: usize,
        batch: Option<&Arc<Batch>>,
    ) -> Result<(), ErrorResponse> {
        let mut in_flight = lock(&self.in_flight);
        let refuse = |problem: &str| {
            let error = jsonrpc::invalid_request(problem);
            Err(ErrorResponse::to_request(id, error))
        };
        if in_flight.contains_key(id) {
            return refuse("a request with this id has no response yet");
        }
        let subscriptions = || in_flight.values().filter(|it| it.is_subscription).count();
        if is_subscription && subscriptions() >= self.limits.subscriptions {
            return refuse("too many subscriptions on this connection; cancel one first");
        }
        let counts = !is_subscription && batch.is_none();
        let request = InFlight {
            is_subscription,
            batch: batch.cloned(),
            share: counts.then(|| self.share(1, bytes)),
        };
        in_flight.insert(id.clone(), request);
        Ok(())
    }

    /// Adds a batch of `bytes` bytes to which `responses` responses are due.
    pub fn add_batch(&self, responses: usize, bytes: usize) -> Arc<Batch> {
        Arc::new(Batch(Mutex::new(BatchState {
            missing: responses,
            responses: Vec::new(),
            share: Some(self.share(responses, bytes)),
        })))
    }

    /// The line for the response to a request; `None` if the line comes later, with the rest of a
    /// batch, or if the request was cancelled.
    pub fn respond(&self, id: &RequestId, response: String) -> Option<Line> {
        let request = lock(&self.in_flight).remove(id)?;
        match (request.batch, request.share) {
            (Some(batch), _) => batch.complete(Some(response)),
            (None, Some(share)) => Some(Line::new(response, share)),
            (None, None) => Some(self.line(response)),
        }
    }

    /// Removes a request that gets no response; returns the line of its batch if it was the last.
    pub fn cancel(&self, id: &RequestId) -> Option<Line> {
        lock(&self.in_flight).remove(id)?.batch?.complete(None)
    }

    /// The line for an error response that the handler did not make.
    pub fn refuse(&self, error: &ErrorResponse, batch: Option<&Arc<Batch>>) -> Option<Line> {
        match batch {
            Some(batch) => batch.complete(Some(error.to_json())),
            None => Some(self.line(error.to_json())),
        }
    }

    /// A line that is not a response.
    pub fn line(&self, text: String) -> Line {
        Line::new(text, self.share(1, 0))
    }

    fn share(&self, messages: usize, request_bytes: usize) -> Share {
        let part = Load {
            messages,
            request_bytes,
            output_bytes: 0,
        };
        Share::new(&self.load, part)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is one insert or remove, so the value is valid even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
