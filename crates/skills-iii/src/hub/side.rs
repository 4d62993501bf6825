//! The hub's understanding of what one worker says.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, future::BoxFuture};
use tokio::time::{Sleep, sleep};

use super::Core;
use super::builtin::INTRODUCE;
use super::session::{Profile, Session};
use crate::link::Side;
use crate::message::{
    BadMessage, ErrorBody, InvokeFunction, Message, Raw, RegistrationRejected, WorkerRegistered,
};

/// Bytes of offers kept for a worker that has not introduced itself.
const PATIENCE_BYTES: usize = 64 << 20;

/// Ends the session when dropped, whatever the reason.
pub(super) struct SessionSide {
    core: Arc<Core>,
    session: Arc<Session>,
    intake: Intake,
    grace: Pin<Box<Sleep>>,
    /// Answers that need time, such as a durable write.
    work: FuturesUnordered<BoxFuture<'static, ()>>,
}

/// What a worker offers counts once it has introduced itself, or has had time
/// enough to.
enum Intake {
    Waiting(Vec<Message>, usize),
    Open,
    Refused,
}

impl SessionSide {
    pub(super) fn new(core: &Arc<Core>, session: &Arc<Session>, grace: Duration) -> Self {
        core.enter(session);
        session.say(Message::WorkerRegistered(Box::new(WorkerRegistered {
            worker_id: session.worker_id.to_string(),
            reattach_token: Some(session.reattach_token.clone()),
            features: None,
        })));
        Self {
            core: Arc::clone(core),
            session: Arc::clone(session),
            intake: Intake::Waiting(Vec::new(), 0),
            grace: Box::pin(sleep(grace)),
            work: FuturesUnordered::new(),
        }
    }

    fn offer(&mut self, message: Message) {
        match &mut self.intake {
            Intake::Open => self.core.apply(&self.session, message),
            Intake::Refused => {}
            Intake::Waiting(offers, bytes) => {
                *bytes += message.weight();
                let too_much = *bytes > PATIENCE_BYTES;
                offers.push(message);
                if too_much {
                    self.open();
                }
            }
        }
    }

    fn open(&mut self) {
        if let Intake::Waiting(offers, _) = std::mem::replace(&mut self.intake, Intake::Open) {
            for offer in offers {
                self.core.apply(&self.session, offer);
            }
        }
    }

    fn introduce(&mut self, call: &InvokeFunction) -> Result<Option<Raw>, ErrorBody> {
        let profile: Profile = serde_json::from_str(call.data.get())
            .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))?;
        let first = matches!(self.intake, Intake::Waiting(..));
        if let Some(name) = &profile.name
            && let Err(owner) = self.core.directory().take_name(name, &self.session)
        {
            tracing::warn!(name, owner = %owner.worker_id, "refusing a worker: its name is taken");
            self.session.say(Message::RegistrationRejected(Box::new(
                RegistrationRejected {
                    code: "WORKER_NAMESPACE_CONFLICT".to_owned(),
                    namespace: super::directory::NAMESPACE.to_owned(),
                    worker_name: Some(name.clone()),
                    function_id: None,
                    owner_worker_id: Some(owner.worker_id.to_string()),
                },
            )));
            self.intake = Intake::Refused;
            self.session.finish();
            return Err(ErrorBody::new(
                "WORKER_NAMESPACE_CONFLICT",
                "the name is taken",
            ));
        }
        *self.session.profile() = profile;
        self.open();
        let event = if first {
            "worker_connected"
        } else {
            "worker_metadata_updated"
        };
        self.core.publish_worker_event(event, &self.session);
        Ok(None)
    }
}

impl Side for SessionSide {
    fn receive(&mut self, message: Message) {
        match message {
            Message::InvocationResult(answer) => self.session.settle(*answer),
            Message::InvokeFunction(call) if call.function_id == INTRODUCE => {
                let outcome = self.introduce(&call);
                if !call.is_void() {
                    self.session
                        .answer(call.invocation_id, call.function_id, outcome);
                }
            }
            Message::InvokeFunction(call) => {
                if let Some(work) = self.core.invoke(&self.session, *call) {
                    self.work.push(work);
                }
            }
            Message::Ping => self.session.say(Message::Pong),
            Message::Reattach {
                previous_worker_id,
                reattach_token,
            } => {
                self.core
                    .supersede(&previous_worker_id, &reattach_token, &self.session);
            }
            Message::RegisterFunction(_)
            | Message::UnregisterFunction { .. }
            | Message::RegisterTriggerType(_)
            | Message::UnregisterTriggerType { .. }
            | Message::RegisterTrigger(_)
            | Message::UnregisterTrigger { .. }
            | Message::TriggerRegistrationResult(_) => self.offer(message),
            Message::Unknown(unknown) => {
                tracing::warn!(
                    kind = unknown.kind,
                    "ignoring a message of a type not known here"
                );
            }
            Message::RegisterService(_)
            | Message::Pong
            | Message::WorkerRegistered(_)
            | Message::RegistrationRejected(_) => {}
        }
    }

    fn refuse(&mut self, bad: &BadMessage) {
        tracing::warn!(worker = self.session.name(), %bad, "ignoring a frame");
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        if matches!(self.intake, Intake::Waiting(..))
            && self.grace.as_mut().poll(context).is_ready()
        {
            self.open();
        }
        while let Poll::Ready(Some(())) = Pin::new(&mut self.work).poll_next(context) {}
    }
}

impl Drop for SessionSide {
    fn drop(&mut self) {
        self.core.leave(&self.session);
    }
}
