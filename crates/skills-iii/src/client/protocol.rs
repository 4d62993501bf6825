//! How a worker handles the messages of an engine.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Instant;

use futures_util::FutureExt;
use tokio::select;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::offer::{Handler, OfferedHandler};
use super::replies::Replies;
use super::{Event, Inner};
use crate::limits::{MAX_RUNNING_HANDLER_BYTES, MAX_RUNNING_HANDLERS, MAX_STARTING_HANDLERS};
use crate::link::{Ended, Protocol};
use crate::lock::lock;
use crate::message::{
    Action, BadMessage, ErrorBody, Id, InvocationResult, InvokeFunction, Message, Payload, Raw,
    TriggerRegistrationResult, TriggerSpec, WorkerRegistered, with_caller,
};
use crate::queue::Outbox;

/// One connection of a worker.
#[derive(Clone)]
pub(super) struct WorkerProtocol {
    inner: Arc<Inner>,
    outbox: Outbox,
    replies: Replies,
    /// The running calls of our functions; none once the worker is shutting down.
    running: Arc<Mutex<Option<JoinSet<()>>>>,
    /// The bytes of their payloads.
    running_bytes: Arc<AtomicUsize>,
    /// One permit for each call that may wait to be run for the first time.
    starting: Arc<Semaphore>,
}

/// The payload of a running call.
struct RunningBytes(Arc<AtomicUsize>, usize);

impl Drop for RunningBytes {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl WorkerProtocol {
    pub(super) fn new(inner: &Arc<Inner>, outbox: Outbox) -> Self {
        Self {
            inner: Arc::clone(inner),
            replies: Replies::new(outbox.clone(), inner.options.repeat_reply),
            outbox,
            running: Arc::new(Mutex::new(Some(JoinSet::new()))),
            running_bytes: Arc::default(),
            starting: Arc::new(Semaphore::new(MAX_STARTING_HANDLERS)),
        }
    }

    /// Runs the connection until it ends. When the client stops: withdraws the functions, waits
    /// for the running calls, and closes.
    pub(super) async fn serve(self, connection: impl Future<Output = Ended>) {
        let mut stop = self.inner.stop.subscribe();
        let shutdown = async {
            // An error means that the client is gone.
            let _ = stop.wait_for(|stop| *stop).await;
            self.finish_calls().await;
            self.outbox.finish();
            std::future::pending().await
        };
        let ended = select! {
            ended = connection => ended,
            ended = shutdown => ended,
            never = self.replies.send_late() => never,
        };
        // Nothing can receive the results of calls that still run.
        lock(&self.running).take();
        self.inner.disconnected(&ended.to_string());
    }

    async fn finish_calls(&self) {
        let running = lock(&self.running).take();
        for id in self.inner.offers().function_ids() {
            let _ = self
                .outbox
                .push_or_abort(Message::UnregisterFunction(Id { id }));
        }
        let Some(mut running) = running else { return };
        if self.inner.unattended.load(Ordering::Acquire) {
            // Every handle of the client is gone, and a handler may run forever.
            running.abort_all();
        }
        while running.join_next().await.is_some() {}
        self.replies.send_waiting(None).await;
    }

    /// Sends all offers, then the introduction, after which the engine makes them available.
    fn introduce(&self, registered: WorkerRegistered) {
        let mut offers = self.inner.offers();
        let mut introduction = InvokeFunction::new(
            "engine::workers::register",
            self.inner.options.introduction(),
        );
        introduction.action = Some(Action::Void);
        let introduction = Message::InvokeFunction(Box::new(introduction));
        for message in offers.all().into_iter().chain([introduction]) {
            let _ = self.outbox.push_or_abort(message);
        }
        // With the offers locked: a new offer is either in the list above or sees the connection.
        self.inner.connected(registered, self.outbox.clone());
    }

    fn run_call(&self, call: InvokeFunction) {
        let received = Instant::now();
        let offered = self.inner.offers().handler(&call.function_id);
        let mut running = lock(&self.running);
        let (running, offered) = match (running.as_mut(), offered) {
            (Some(running), Some(offered)) => (running, offered),
            (None, _) => {
                let error = ErrorBody::new("invocation_stopped", "the worker is shutting down");
                return self.reply_at_once(call, error);
            }
            (_, None) => {
                let error = ErrorBody::function_not_found(&call.function_id);
                return self.reply_at_once(call, error);
            }
        };
        while running.try_join_next().is_some() {}
        match offered {
            OfferedHandler::Function(handler) => self.start(running, handler, call, received),
            OfferedHandler::Listener(handler) => self.hear(running, handler, call, received),
        }
    }

    /// Runs a call in a task of its own.
    fn start(
        &self,
        running: &mut JoinSet<()>,
        handler: Handler,
        mut call: InvokeFunction,
        received: Instant,
    ) {
        let bytes = call.data.get().len();
        let running_bytes = self.running_bytes.fetch_add(bytes, Ordering::Relaxed);
        let held = RunningBytes(Arc::clone(&self.running_bytes), bytes);
        let fits = running_bytes == 0 || running_bytes + bytes <= MAX_RUNNING_HANDLER_BYTES;
        if running.len() >= MAX_RUNNING_HANDLERS || !fits {
            let message = format!("{} calls run already; call again later", running.len());
            let error = ErrorBody::new("worker_overloaded", message);
            return self.reply_at_once(call, error);
        }
        // None for a call that came although none may start: it is run all the same.
        let starting = Arc::clone(&self.starting).try_acquire_owned().ok();
        let replies = self.replies.clone();
        running.spawn(async move {
            let _held = held;
            let payload = with_caller(&mut call);
            let mut work = pin!(run(handler, payload));
            let started = futures_util::poll!(&mut work);
            drop(starting);
            let outcome = match started {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => work.await,
            };
            let outcome = outcome.unwrap_or_else(|panic| Err(panicked(&call, panic.as_ref())));
            if let Some(reply) = reply(call, outcome) {
                replies.send(reply, received).await;
            }
        });
    }

    /// Runs the handler of an event as far as it gets at once, which is usually to its end: a task
    /// for each event costs more than most handlers.
    fn hear(
        &self,
        running: &mut JoinSet<()>,
        handler: Handler,
        mut call: InvokeFunction,
        received: Instant,
    ) {
        let replies = self.replies.clone();
        let mut work = Box::pin(async move {
            let payload = with_caller(&mut call);
            let outcome = run(handler, payload).await;
            let outcome = outcome.unwrap_or_else(|panic| Err(panicked(&call, panic.as_ref())));
            if let Some(reply) = reply(call, outcome) {
                replies.acknowledge(reply, received).await;
            }
        });
        if (&mut work).now_or_never().is_none() {
            running.spawn(work);
        }
    }

    fn reply_at_once(&self, call: InvokeFunction, error: ErrorBody) {
        if let Some(reply) = reply(call, Err(error)) {
            let _ = self.outbox.push_or_abort(reply);
        }
    }

    fn add_trigger(&self, trigger: TriggerSpec) {
        let provider = self.inner.offers().provider(&trigger.trigger_type);
        let (id, trigger_type) = (trigger.id.clone(), trigger.trigger_type.clone());
        let function_id = trigger.function_id.clone();
        let outcome = match provider {
            None => Err(ErrorBody::new(
                "trigger_type_not_found",
                "this worker does not provide the trigger type",
            )),
            Some(provider) => catch_unwind(AssertUnwindSafe(|| provider.on_register(trigger)))
                .unwrap_or_else(|_| Err(ErrorBody::new("internal", "the provider panicked"))),
        };
        if outcome.is_ok() {
            self.inner.offers().add_provided(&id, &trigger_type);
        }
        let result = TriggerRegistrationResult {
            id,
            trigger_type,
            function_id,
            error: outcome.err(),
            ..TriggerRegistrationResult::default()
        };
        let _ = self
            .outbox
            .push_or_abort(Message::TriggerRegistrationResult(Box::new(result)));
    }

    fn remove_trigger(&self, id: &str) {
        let provider = self.inner.offers().remove_provided(id);
        if let Some(provider) = provider {
            let _ = catch_unwind(AssertUnwindSafe(|| provider.on_unregister(id)));
        }
    }
}

impl Protocol for WorkerProtocol {
    fn receive(&mut self, message: Message) {
        match message {
            Message::InvokeFunction(call) => self.run_call(*call),
            Message::InvocationResult(result) => self.inner.calls.complete(*result),
            Message::WorkerRegistered(registered) => self.introduce(*registered),
            Message::RegisterTrigger(trigger) => self.add_trigger(*trigger),
            Message::UnregisterTrigger(trigger) => self.remove_trigger(&trigger.id),
            Message::TriggerRegistrationResult(result) => {
                if let Some(error) = result.error {
                    self.inner.publish(Event::TriggerRejected {
                        id: result.id,
                        trigger_type: result.trigger_type,
                        function_id: result.function_id,
                        error,
                    });
                }
            }
            Message::RegistrationRejected(rejected) => {
                self.inner.offers().reject((*rejected).clone());
                self.inner.publish(Event::RegistrationRejected(*rejected));
            }
            Message::Ping => {
                let _ = self.outbox.push_or_abort(Message::Pong);
            }
            Message::Unknown(unknown) => {
                tracing::debug!(kind = unknown.kind, "ignoring a message of an unknown type");
            }
            other => tracing::debug!(?other, "ignoring a message that only workers send"),
        }
    }

    fn receive_invalid(&mut self, problem: &BadMessage) {
        tracing::warn!(%problem, "ignoring an invalid message of the engine");
    }

    /// Calls that do not run yet wait in the queue of the engine, where callers are served in turn,
    /// not in the queue of the runtime.
    async fn ready(&self) {
        // Without load there is nothing to wait for, and the check costs less than a permit.
        if self.starting.available_permits() == 0 {
            // The semaphore is never closed.
            let _ = self.starting.acquire().await;
        }
    }
}

/// The outcome of a handler, or what it panicked with.
type Outcome = Result<Result<Option<Raw>, ErrorBody>, Box<dyn Any + Send>>;

/// The handler may also panic before it returns its future.
fn run(handler: Handler, payload: Raw) -> impl Future<Output = Outcome> + Send {
    AssertUnwindSafe(async move { handler(payload).await }).catch_unwind()
}

/// The reply to a call, if the caller expects one.
fn reply(call: InvokeFunction, outcome: Result<Option<Raw>, ErrorBody>) -> Option<Message> {
    let result = InvocationResult {
        invocation_id: call.invocation_id?,
        function_id: call.function_id,
        traceparent: call.traceparent,
        baggage: call.baggage,
        ..InvocationResult::of(outcome.map(|result| result.map(Payload::from)))
    };
    Some(Message::InvocationResult(Box::new(result)))
}

fn panicked(call: &InvokeFunction, panic: &(dyn Any + Send)) -> ErrorBody {
    let (function_id, message) = (&*call.function_id, panic_text(panic));
    tracing::error!(function_id, message, "a handler panicked");
    ErrorBody::new(
        "invocation_failed",
        format!("the handler panicked: {message}"),
    )
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}
