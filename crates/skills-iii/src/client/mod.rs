//! A worker's connection to an engine.
//!
//! [`Client`] is a handle that is cheap to clone. It offers functions, answers
//! calls to them side by side, calls others, and hears what happens to the
//! connection. Over a socket it reconnects by itself and says everything again;
//! inside one process ([`crate::Hub::attach`]) there is nothing to reconnect.

mod call;
mod connect;
mod offer;
mod options;
mod side;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

pub use call::CallError;
pub use connect::BadAddress;
pub use offer::{FunctionSpec, Handler, Trigger, TriggerProvider, TriggerSpec, TriggerTypeSpec};
pub use options::ClientOptions;

use call::Calls;
use connect::{Address, keep_connected, stay_attached};
use offer::Offers;
use side::WorkerSide;

use crate::link::Link;
use crate::message::{ErrorBody, Message, RegistrationRejected, WorkerRegistered};
use crate::queue::Outbox;

/// Something that happened to the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The engine took us; everything on offer has been said.
    Connected {
        /// The id this connection has.
        worker_id: String,
    },
    /// The connection is gone. Over a socket, another follows.
    Disconnected {
        /// Why.
        reason: String,
    },
    /// Whoever listens at the address does not let us in. Said once, until it answers otherwise;
    /// connecting goes on.
    ConnectionRefused {
        /// The HTTP status it answered with.
        status: u16,
    },
    /// The engine refused a function, or (naming no function) the worker's name.
    RegistrationRejected(RegistrationRejected),
    /// The provider of a trigger type refused one of our triggers.
    TriggerRejected {
        /// The trigger.
        id: String,
        /// Its type.
        trigger_type: String,
        /// What it would have called.
        function_id: String,
        /// Why.
        error: ErrorBody,
    },
}

/// A worker. When the last clone is dropped, what was said is still sent and the
/// connection ends; calls being answered are given up. See [`Client::shutdown`] for a
/// polite end. A handler that holds a clone keeps the connection.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    _last: Arc<StopOnDrop>,
}

struct Inner {
    options: ClientOptions,
    // A std mutex: nothing awaits while it is held.
    offers: Mutex<Offers>,
    calls: Calls,
    status: watch::Sender<Status>,
    events: broadcast::Sender<Event>,
    stop: watch::Sender<bool>,
    /// Nobody holds the client any more.
    unattended: AtomicBool,
    known_as: Mutex<Option<(String, String)>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Clone, Debug)]
enum Status {
    Away,
    Here { worker_id: String, outbox: Outbox },
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
    /// Starts connecting to the engine at `url` (`ws://…`) and stays connected.
    /// Returns at once; see [`Client::wait_connected`].
    pub fn connect(url: &str, options: ClientOptions) -> Result<Self, BadAddress> {
        let address = Address::parse(url, &options)?;
        let inner = Inner::new(options);
        let task = tokio::spawn(keep_connected(Arc::clone(&inner), address));
        Ok(Self::start(inner, task))
    }

    /// A worker on a link inside this process.
    pub(crate) fn attached(link: Link, outbox: Outbox, options: ClientOptions) -> Self {
        let inner = Inner::new(options);
        let side = WorkerSide::new(&inner, outbox);
        let task = tokio::spawn(stay_attached(Arc::clone(&inner), link, side));
        Self::start(inner, task)
    }

    fn start(inner: Arc<Inner>, task: JoinHandle<()>) -> Self {
        *lock(&inner.task) = Some(task);
        let last = Arc::new(StopOnDrop(Arc::clone(&inner)));
        Self { inner, _last: last }
    }

    /// Offers a function, now and after every reconnect. One offered before
    /// under the same id is replaced.
    pub fn register_function(&self, spec: FunctionSpec, handler: Handler) {
        let mut offers = self.inner.offers();
        let message = offers.add_function(spec, handler);
        self.inner.say(message);
    }

    /// Takes a function back.
    pub fn unregister_function(&self, id: &str) {
        let mut offers = self.inner.offers();
        if let Some(message) = offers.remove_function(id) {
            self.inner.say(message);
        }
    }

    /// Offers a trigger type. Of two workers that do, the engine takes the last:
    /// only the owner of the functions behind it should.
    pub fn register_trigger_type(&self, spec: TriggerTypeSpec, provider: Arc<dyn TriggerProvider>) {
        let mut offers = self.inner.offers();
        let message = offers.add_type(spec, provider);
        self.inner.say(message);
    }

    /// Takes a trigger type back; its provider is told that its triggers ended.
    pub fn unregister_trigger_type(&self, id: &str) {
        let mut offers = self.inner.offers();
        let Some((message, provider, ended)) = offers.remove_type(id) else {
            return;
        };
        self.inner.say(message);
        // A provider may well use the client.
        drop(offers);
        for trigger in ended {
            provider.on_unregister(&trigger);
        }
    }

    /// Asks for a function to be called when something happens.
    pub fn register_trigger(&self, spec: TriggerSpec) {
        let mut offers = self.inner.offers();
        let message = offers.add_trigger(spec);
        self.inner.say(message);
    }

    /// Asks for it no more.
    pub fn unregister_trigger(&self, id: &str) {
        let mut offers = self.inner.offers();
        if let Some(message) = offers.remove_trigger(id) {
            self.inner.say(message);
        }
    }

    /// Functions somebody else has, and who.
    pub fn rejected_functions(&self) -> Vec<RegistrationRejected> {
        self.inner.offers().rejected()
    }

    /// Asks again for every function that was refused, as a standby does when
    /// the owner is gone. Those still taken are refused again, as events.
    pub fn retry_rejected_functions(&self) {
        let mut offers = self.inner.offers();
        for message in offers.reclaim() {
            self.inner.say(message);
        }
    }

    /// Events from now on. A receiver that falls far behind misses the oldest.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// The name this worker goes by.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// The id of the present connection, if there is one.
    pub fn worker_id(&self) -> Option<String> {
        match &*self.inner.status.borrow() {
            Status::Here { worker_id, .. } => Some(worker_id.clone()),
            Status::Away | Status::Closed => None,
        }
    }

    /// Waits for a connection and answers its id; fails once the client is
    /// shut down.
    pub async fn wait_connected(&self) -> Result<String, CallError> {
        let mut status = self.inner.status.subscribe();
        match status
            .wait_for(|status| !matches!(status, Status::Away))
            .await
            .as_deref()
        {
            Ok(Status::Here { worker_id, .. }) => Ok(worker_id.clone()),
            _ => Err(CallError::Disconnected),
        }
    }

    /// Takes no more calls, finishes those being answered, sends what waits,
    /// and closes; what is not done by the deadline is dropped.
    pub async fn shutdown(&self, deadline: Duration) {
        self.inner.stop.send_replace(true);
        let task = lock(&self.inner.task).take();
        let Some(mut task) = task else { return };
        if tokio::time::timeout(deadline, &mut task).await.is_err() {
            tracing::warn!("not everything was finished before the deadline");
            task.abort();
            let _aborted = task.await;
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
            calls: Calls::default(),
            status: watch::Sender::new(Status::Away),
            events: broadcast::Sender::new(256),
            stop: watch::Sender::new(false),
            unattended: AtomicBool::new(false),
            known_as: Mutex::default(),
            task: Mutex::default(),
        })
    }

    fn offers(&self) -> MutexGuard<'_, Offers> {
        lock(&self.offers)
    }

    fn outbox(&self) -> Option<Outbox> {
        match &*self.status.borrow() {
            Status::Here { outbox, .. } => Some(outbox.clone()),
            Status::Away | Status::Closed => None,
        }
    }

    /// Says something if there is a connection; if not, it is said on connect.
    fn say(&self, message: Message) {
        if let Some(outbox) = self.outbox() {
            let _open = outbox.push_anyway(message);
        }
    }

    fn tell(&self, event: Event) {
        let _nobody_listens = self.events.send(event);
    }

    fn previous(&self) -> Option<(String, String)> {
        lock(&self.known_as).clone()
    }

    fn connected(&self, hello: WorkerRegistered, outbox: Outbox) {
        let worker_id = hello.worker_id;
        *lock(&self.known_as) = hello.reattach_token.map(|token| (worker_id.clone(), token));
        tracing::info!(worker_id, "connected to the engine");
        self.status.send_replace(Status::Here {
            worker_id: worker_id.clone(),
            outbox,
        });
        self.tell(Event::Connected { worker_id });
    }

    fn disconnected(&self, reason: &str) {
        let was = self.status.send_replace(Status::Away);
        self.calls.lose_all();
        let told = self.offers().forget_all();
        for (trigger, provider) in told {
            // A provider that panics must not end the worker.
            let _panic = catch_unwind(AssertUnwindSafe(|| provider.on_unregister(&trigger)));
        }
        if matches!(was, Status::Here { .. }) {
            tracing::info!(reason, "disconnected from the engine");
            self.tell(Event::Disconnected {
                reason: reason.to_owned(),
            });
        }
    }

    fn closed(&self) {
        self.status.send_replace(Status::Closed);
        self.calls.lose_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere does not make these tables wrong.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
