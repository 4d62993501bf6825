//! A worker's understanding of what an engine says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::task::JoinSet;

use super::{Event, Inner, Trigger};
use crate::link::Side;
use crate::message::{
    Action, BadMessage, ErrorBody, Extra, InvocationResult, InvokeFunction, Message,
    RegisterTrigger, TriggerRegistrationResult, WorkerRegistered, with_caller,
};
use crate::queue::Outbox;

/// The largest answer that is said twice, in bytes. Reading a larger one takes an
/// engine longer than noting down who waits for it.
const REPEATABLE: usize = 512 << 10;

pub(super) struct WorkerSide {
    inner: Arc<Inner>,
    outbox: Outbox,
    /// Calls being answered.
    answering: JoinSet<()>,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    stopping: bool,
}

impl WorkerSide {
    pub(super) fn new(inner: &Arc<Inner>, outbox: Outbox) -> Self {
        let mut stop = inner.stop.subscribe();
        Self {
            inner: Arc::clone(inner),
            outbox,
            answering: JoinSet::new(),
            stop: Box::pin(async move {
                let _gone = stop.wait_for(|stop| *stop).await;
            }),
            stopping: false,
        }
    }

    /// The engine knows us: say everything we offer, then who we are, which
    /// makes it count.
    fn introduce(&self, hello: WorkerRegistered) {
        let mut offers = self.inner.offers();
        for message in offers.all() {
            let _open = self.outbox.push_anyway(message);
        }
        let mut introduction = InvokeFunction::new(
            "engine::workers::register",
            self.inner.options.introduction(),
        );
        introduction.action = Some(Action::Void);
        let _open = self
            .outbox
            .push_anyway(Message::InvokeFunction(Box::new(introduction)));
        // Still under the lock: an offer made now is either in the list above
        // or sees the connection.
        self.inner.connected(hello, self.outbox.clone());
    }

    fn answer(&mut self, call: InvokeFunction) {
        let received = Instant::now();
        let handler = self.inner.offers().handler(&call.function_id);
        let (outbox, repeat) = (self.outbox.clone(), self.inner.options.repeat_reply);
        if self.stopping || handler.is_none() {
            let error = if self.stopping {
                ErrorBody::new("invocation_stopped", "the worker is shutting down")
            } else {
                let message = format!("function `{}` not found", call.function_id);
                ErrorBody::new("function_not_found", message)
            };
            if let Some(reply) = reply(&call, Err(error)) {
                let _open = outbox.push_anyway(reply);
            }
            return;
        }
        let Some(handler) = handler else { return };
        self.answering.spawn(async move {
            let payload = with_caller(&call);
            // The handler's first step is inside as well: it may panic there.
            let work = AssertUnwindSafe(async move { handler(payload).await }).catch_unwind();
            let outcome = work.await.unwrap_or_else(|panic| {
                let said = panic_text(panic.as_ref());
                tracing::error!(function_id = call.function_id, said, "a handler panicked");
                Err(ErrorBody::new(
                    "invocation_failed",
                    format!("the handler panicked: {said}"),
                ))
            });
            if let Some(reply) = reply(&call, outcome) {
                say_reply(&outbox, reply, received, repeat).await;
            }
        });
    }

    fn trigger_wanted(&self, wish: RegisterTrigger) {
        let provider = self.inner.offers().provider(&wish.trigger_type);
        let outcome = match provider {
            None => Err(ErrorBody::new(
                "trigger_type_not_found",
                "no such trigger type here",
            )),
            Some(provider) => {
                let trigger = Trigger {
                    id: wish.id.clone(),
                    function_id: wish.function_id.clone(),
                    config: wish.config,
                    metadata: wish.metadata,
                };
                catch_unwind(AssertUnwindSafe(|| provider.on_register(trigger)))
                    .unwrap_or_else(|_| Err(ErrorBody::new("internal", "the provider panicked")))
            }
        };
        if outcome.is_ok() {
            self.inner.offers().note(&wish.id, &wish.trigger_type);
        }
        let answer = TriggerRegistrationResult {
            id: wish.id,
            trigger_type: wish.trigger_type,
            function_id: wish.function_id,
            error: outcome.err(),
            extra: Extra::new(),
        };
        let _open = self
            .outbox
            .push_anyway(Message::TriggerRegistrationResult(Box::new(answer)));
    }

    fn trigger_unwanted(&self, id: &str) {
        let provider = self.inner.offers().forget(id);
        if let Some(provider) = provider {
            let _panic = catch_unwind(AssertUnwindSafe(|| provider.on_unregister(id)));
        }
    }
}

impl Side for WorkerSide {
    fn receive(&mut self, message: Message) {
        match message {
            Message::InvokeFunction(call) => self.answer(*call),
            Message::InvocationResult(answer) => self.inner.calls.answer(*answer),
            Message::WorkerRegistered(hello) => self.introduce(*hello),
            Message::RegisterTrigger(wish) => self.trigger_wanted(*wish),
            Message::UnregisterTrigger { id, .. } => self.trigger_unwanted(&id),
            Message::TriggerRegistrationResult(answer) => {
                if let Some(error) = answer.error {
                    self.inner.tell(Event::TriggerRejected {
                        id: answer.id,
                        trigger_type: answer.trigger_type,
                        function_id: answer.function_id,
                        error,
                    });
                }
            }
            Message::RegistrationRejected(refusal) => {
                self.inner.offers().reject((*refusal).clone());
                self.inner.tell(Event::RegistrationRejected(*refusal));
            }
            Message::Ping => {
                let _open = self.outbox.push_anyway(Message::Pong);
            }
            Message::Unknown(unknown) => {
                tracing::debug!(kind = unknown.kind, "a message of a type not known here");
            }
            other => tracing::debug!(?other, "a message an engine does not send"),
        }
    }

    fn refuse(&mut self, bad: &BadMessage) {
        tracing::warn!(%bad, "the engine sent something that is not a message");
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        if !self.stopping && self.stop.as_mut().poll(context).is_ready() {
            self.stopping = true;
            if self.inner.unattended.load(Ordering::Acquire) {
                // Nobody waits for them, and one may never end.
                self.answering.abort_all();
            }
            for id in self.inner.offers().function_ids() {
                let _open = self.outbox.push_anyway(Message::UnregisterFunction { id });
            }
        }
        while let Poll::Ready(Some(_)) = self.answering.poll_join_next(context) {}
        if self.stopping && self.answering.is_empty() {
            self.outbox.finish();
        }
    }
}

/// Gives an answer, twice if the first may have come too soon.
async fn say_reply(outbox: &Outbox, reply: Message, received: Instant, age: Option<Duration>) {
    let due = age
        .map(|age| received + age)
        .filter(|due| Instant::now() < *due);
    let Some(due) = due else {
        let _open = outbox.send(reply).await;
        return;
    };
    if reply.weight() > REPEATABLE {
        let _open = outbox.send(reply).await;
        return;
    }
    if outbox.send(reply.clone()).await.is_ok() {
        tokio::time::sleep_until(due.into()).await;
        let _open = outbox.send(reply).await;
    }
}

/// The answer to a call, if one is wanted.
fn reply(
    call: &InvokeFunction,
    outcome: Result<Option<crate::message::Raw>, ErrorBody>,
) -> Option<Message> {
    let (result, error) = match outcome {
        Ok(result) => (result, None),
        Err(error) => (None, Some(error)),
    };
    Some(Message::InvocationResult(Box::new(InvocationResult {
        invocation_id: call.invocation_id?,
        function_id: call.function_id.clone(),
        result,
        error,
        traceparent: call.traceparent.clone(),
        baggage: call.baggage.clone(),
        extra: Extra::new(),
    })))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else {
        panic
            .downcast_ref::<String>()
            .map_or("(no message)", String::as_str)
    }
}
