//! A worker's connection to an engine.
//!
//! [`Client`] is a handle that is cheap to clone. It offers functions, runs calls to them
//! concurrently, calls functions of other workers, and publishes connection events. Over a socket
//! it reconnects by itself and sends all offers again; inside one process
//! ([`crate::Hub::attach`]) the connection ends only with the hub.

mod call;
mod connect;
mod offer;
mod options;
mod protocol;
mod replies;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

pub use crate::message::{FunctionSpec, TriggerSpec, TriggerTypeSpec};
pub use call::CallError;
pub use connect::BadAddress;
pub use offer::{Handler, TriggerProvider};
pub use options::ClientOptions;

use call::PendingCalls;
use connect::{Address, keep_connected};
use offer::{OfferedHandler, Offers};
use protocol::WorkerProtocol;

use crate::link::run_local;
use crate::lock::lock;
use crate::message::{ErrorBody, Message, Reattach, RegistrationRejected, WorkerRegistered};
use crate::queue::{Outbox, Queue};

/// Events that may wait for a slow receiver.
const MAX_QUEUED_EVENTS: usize = 256;

/// An event of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The engine has registered the worker, and all offers were sent.
    Connected {
        /// The id of this connection.
        worker_id: String,
    },
    /// The connection was lost. Over a socket, the client reconnects.
    Disconnected {
        /// The cause.
        reason: String,
    },
    /// Nothing accepts the connection. Published for each attempt; the client keeps trying.
    Unreachable {
        /// The cause.
        cause: String,
    },
    /// The server at the address refuses the connection. Published once for each status; the
    /// client keeps trying.
    ConnectionRefused {
        /// The HTTP status of the refusal.
        status: u16,
    },
    /// The engine rejected a function, or the worker's name if no function is given.
    RegistrationRejected(RegistrationRejected),
    /// The provider of a trigger type rejected one of our triggers.
    TriggerRejected {
        /// The trigger.
        id: String,
        /// Its type.
        trigger_type: String,
        /// The function to call.
        function_id: String,
        /// The cause.
        error: ErrorBody,
    },
}

/// A worker. When the last clone is dropped, the queued messages are still sent and the
/// connection ends; running handlers are cancelled. [`Client::shutdown`] waits for them instead.
/// A handler that holds a clone keeps the connection.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    _last: Arc<StopOnDrop>,
}

struct Inner {
    options: ClientOptions,
    // A std mutex: nothing awaits while it is held.
    offers: Mutex<Offers>,
    calls: PendingCalls,
    status: watch::Sender<Status>,
    events: broadcast::Sender<Event>,
    stop: watch::Sender<bool>,
    /// Every handle of the client was dropped.
    unattended: AtomicBool,
    previous: Mutex<Option<Reattach>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Clone, Debug)]
enum Status {
    Disconnected,
    Connected { worker_id: String, outbox: Outbox },
    Closed,
}

struct StopOnDrop(Arc<Inner>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.unattended.store(true, Ordering::Release);
        self.0.stop.send_replace(true);
    }
}

impl Client {
    /// Connects to the engine at `url` (`ws://…`) in the background, and reconnects as needed.
    /// [`Client::wait_connected`] waits for the connection.
    pub fn connect(url: &str, options: ClientOptions) -> Result<Self, BadAddress> {
        let address = Address::parse(url, &options)?;
        let inner = Inner::new(options);
        let task = tokio::spawn(keep_connected(Arc::clone(&inner), address));
        Ok(Self::start(inner, task))
    }

    /// A worker on an engine in this process: receives from `inbox`, sends to `outbox`.
    pub(crate) fn attached(inbox: Queue, outbox: Outbox, options: ClientOptions) -> Self {
        let inner = Inner::new(options);
        let protocol = WorkerProtocol::new(&inner, outbox.clone());
        let attached = Arc::clone(&inner);
        let task = tokio::spawn(async move {
            let mut receiver = protocol.clone();
            protocol
                .serve(run_local(inbox, outbox, &mut receiver))
                .await;
            attached.closed();
        });
        Self::start(inner, task)
    }

    fn start(inner: Arc<Inner>, task: JoinHandle<()>) -> Self {
        *lock(&inner.task) = Some(task);
        let last = Arc::new(StopOnDrop(Arc::clone(&inner)));
        Self { inner, _last: last }
    }

    /// Offers a function, now and after every reconnect. Replaces an earlier offer of the same
    /// id.
    pub fn register_function(&self, spec: FunctionSpec, handler: Handler) {
        self.offer(spec, OfferedHandler::Function(handler));
    }

    /// Offers a function that receives events: its callers wait for no result. Its handler starts on
    /// the task that reads the connection, so it must return or wait soon. Events are never refused,
    /// and start in the order in which they arrive.
    pub fn register_listener(&self, spec: FunctionSpec, handler: Handler) {
        self.offer(spec, OfferedHandler::Listener(handler));
    }

    fn offer(&self, spec: FunctionSpec, handler: OfferedHandler) {
        let mut offers = self.inner.offers();
        let message = offers.add_function(spec, handler);
        self.inner.send_offer(message);
    }

    /// Withdraws a function.
    pub fn unregister_function(&self, id: &str) {
        let mut offers = self.inner.offers();
        if let Some(message) = offers.remove_function(id) {
            self.inner.send_offer(message);
        }
    }

    /// Offers a trigger type. If several workers offer a type, some engines let the last one
    /// provide it: only the owner of the functions behind it should offer it.
    pub fn register_trigger_type(&self, spec: TriggerTypeSpec, provider: Arc<dyn TriggerProvider>) {
        let mut offers = self.inner.offers();
        let message = offers.add_type(spec, provider);
        self.inner.send_offer(message);
    }

    /// Withdraws a trigger type; its provider's triggers end.
    pub fn unregister_trigger_type(&self, id: &str) {
        let mut offers = self.inner.offers();
        let Some((message, provider, ended)) = offers.remove_type(id) else {
            return;
        };
        self.inner.send_offer(message);
        // A provider may use the client, which locks the offers.
        drop(offers);
        for trigger in ended {
            provider.on_unregister(&trigger);
        }
    }

    /// Registers a trigger: a function to call on an event.
    pub fn register_trigger(&self, spec: TriggerSpec) {
        let mut offers = self.inner.offers();
        let message = offers.add_trigger(spec);
        self.inner.send_offer(message);
    }

    /// Removes a trigger.
    pub fn unregister_trigger(&self, id: &str) {
        let mut offers = self.inner.offers();
        if let Some(message) = offers.remove_trigger(id) {
            self.inner.send_offer(message);
        }
    }

    /// The functions that other workers have registered.
    pub fn rejected_functions(&self) -> Vec<RegistrationRejected> {
        self.inner.offers().rejected()
    }

    /// Registers every rejected function again, as a standby does when the owner is gone. The
    /// engine rejects those that are still taken again, with an event.
    pub fn retry_rejected_functions(&self) {
        let mut offers = self.inner.offers();
        for message in offers.retry_rejected() {
            self.inner.send_offer(message);
        }
    }

    /// Events from now on. A receiver that falls far behind loses the oldest.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// The name of this worker.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// The id of the connection, if there is one.
    pub fn worker_id(&self) -> Option<String> {
        match &*self.inner.status.borrow() {
            Status::Connected { worker_id, .. } => Some(worker_id.clone()),
            Status::Disconnected | Status::Closed => None,
        }
    }

    /// Waits for a connection and returns its id; fails once the client is shut down.
    pub async fn wait_connected(&self) -> Result<String, CallError> {
        let mut status = self.inner.status.subscribe();
        match status
            .wait_for(|status| !matches!(status, Status::Disconnected))
            .await
            .as_deref()
        {
            Ok(Status::Connected { worker_id, .. }) => Ok(worker_id.clone()),
            _ => Err(CallError::Disconnected),
        }
    }

    /// Completes when the client is shut down, or when the engine in this process has ended its
    /// connection.
    pub async fn wait_closed(&self) {
        let mut status = self.inner.status.subscribe();
        let closed = status.wait_for(|status| matches!(status, Status::Closed));
        // Fails if the client is gone.
        let _ = closed.await;
    }

    /// Accepts no more calls, finishes the running ones, sends the queued messages, and closes.
    /// Drops what is not done by the deadline.
    pub async fn shutdown(&self, deadline: Duration) {
        self.inner.stop.send_replace(true);
        let task = lock(&self.inner.task).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(deadline, &mut task).await.is_err() {
            if self.worker_id().is_some() {
                tracing::warn!("calls or messages were dropped at the shutdown deadline");
            }
            task.abort();
            let _ = task.await;
            self.inner.disconnected("shut down");
            self.inner.closed();
        }
    }
}

impl Inner {
    fn new(options: ClientOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            offers: Mutex::default(),
            calls: PendingCalls::default(),
            status: watch::Sender::new(Status::Disconnected),
            events: broadcast::Sender::new(MAX_QUEUED_EVENTS),
            stop: watch::Sender::new(false),
            unattended: AtomicBool::new(false),
            previous: Mutex::default(),
            task: Mutex::default(),
        })
    }

    fn offers(&self) -> MutexGuard<'_, Offers> {
        lock(&self.offers)
    }

    fn outbox(&self) -> Option<Outbox> {
        match &*self.status.borrow() {
            Status::Connected { outbox, .. } => Some(outbox.clone()),
            Status::Disconnected | Status::Closed => None,
        }
    }

    /// Sends an offer if there is a connection; otherwise it is sent on connect.
    fn send_offer(&self, message: Message) {
        if let Some(outbox) = self.outbox() {
            let _ = outbox.push_or_abort(message);
        }
    }

    fn publish(&self, event: Event) {
        // Fails without receivers.
        let _ = self.events.send(event);
    }

    fn connected(&self, registered: WorkerRegistered, outbox: Outbox) {
        let worker_id = registered.worker_id;
        *lock(&self.previous) = registered.reattach_token.map(|token| Reattach {
            previous_worker_id: worker_id.clone(),
            reattach_token: token,
        });
        tracing::debug!(worker_id, "connected to the engine");
        self.status.send_replace(Status::Connected {
            worker_id: worker_id.clone(),
            outbox,
        });
        self.publish(Event::Connected { worker_id });
    }

    fn disconnected(&self, reason: &str) {
        let was = self.status.send_replace(Status::Disconnected);
        self.calls.fail_all();
        let provided = self.offers().remove_all_provided();
        for (trigger, provider) in provided {
            // A provider that panics must not end the worker.
            let _ = catch_unwind(AssertUnwindSafe(|| provider.on_unregister(&trigger)));
        }
        if matches!(was, Status::Connected { .. }) {
            tracing::debug!(reason, "disconnected from the engine");
            self.publish(Event::Disconnected {
                reason: reason.to_owned(),
            });
        }
    }

    fn closed(&self) {
        self.status.send_replace(Status::Closed);
        self.calls.fail_all();
    }
}
