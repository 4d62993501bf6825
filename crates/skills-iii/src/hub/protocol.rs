//! How the hub handles the messages of one worker.

use std::sync::{Arc, Mutex};

use serde::Deserialize;
use tokio::task::JoinSet;

use super::Core;
use super::builtin::{HUB_NAME, INTRODUCE};
use super::directory::NAMESPACE;
use super::id::{abbreviate, check_id};
use super::open_call::OpenCall;
use super::session::{Profile, Session};
use super::worker_log::SETTLE;
use crate::limits::{MAX_INTRODUCTION_BYTES, MAX_KEPT_BYTES};
use crate::link::Protocol;
use crate::lock::lock;
use crate::message::{
    BadMessage, ErrorBody, InvokeFunction, Message, RegistrationRejected, WorkerRegistered,
};
use crate::state_functions::{Outcome, decode};

/// Ends the session when dropped.
pub(super) struct SessionProtocol {
    core: Arc<Core>,
    session: Arc<Session>,
    intake: Arc<Mutex<Intake>>,
    /// No result came during a pause, so the worker is read from although it has many calls open:
    /// the results may depend on it, or never come.
    calls_stay_open: bool,
    /// The introduction timeout, and calls of the hub's functions that wait, such as durable
    /// writes.
    tasks: JoinSet<()>,
}

/// Registrations take effect after the worker's introduction, or after the introduction timeout.
enum Intake {
    Waiting(Vec<Message>, usize),
    Open,
    Rejected,
}

#[derive(Deserialize)]
struct Introduction {
    name: Option<String>,
    #[serde(flatten)]
    profile: Profile,
}

impl SessionProtocol {
    pub(super) fn new(core: &Arc<Core>, session: &Arc<Session>) -> Self {
        let entry = (session.serial, Arc::clone(session));
        core.directory_mut().sessions.extend([entry]);
        session.send(Message::WorkerRegistered(Box::new(WorkerRegistered {
            worker_id: session.worker_id.to_string(),
            reattach_token: Some(session.reattach_token.clone()),
            features: None,
        })));
        let (core, session) = (Arc::clone(core), Arc::clone(session));
        let intake = Arc::new(Mutex::new(Intake::Waiting(Vec::new(), 0)));
        let mut tasks = JoinSet::new();
        tasks.spawn({
            let (core, session) = (Arc::clone(&core), Arc::clone(&session));
            let intake = Arc::clone(&intake);
            async move {
                tokio::time::sleep(core.options.introduction_timeout).await;
                lock(&intake).open(&core, &session);
                core.log_connected(&session);
            }
        });
        Self {
            core,
            session,
            intake,
            calls_stay_open: false,
            tasks,
        }
    }

    /// Names and describes the worker, and applies the registrations it sent before.
    fn introduce(&mut self, call: &InvokeFunction) -> Outcome {
        let bytes = call.data.get().len();
        if bytes > MAX_INTRODUCTION_BYTES {
            let message =
                format!("an introduction has at most {MAX_INTRODUCTION_BYTES} bytes, not {bytes}");
            return Err(ErrorBody::new("deserialization_error", message));
        }
        let Introduction { name, profile } = decode(&call.data)?;
        if let Some(name) = &name {
            if let Err(error) = check_id("worker name", name) {
                return Err(self.reject(name, "WORKER_NAME_TOO_LONG", None, error.message));
            }
            let conflict = "WORKER_NAMESPACE_CONFLICT";
            let owner = if name == HUB_NAME {
                Some(self.core.hub_id.clone())
            } else {
                let taken = self.core.directory_mut().take_name(name, &self.session);
                taken.err().map(|owner| owner.worker_id.to_string())
            };
            if owner.is_some() {
                let message = format!("the worker name `{name}` is taken; choose another");
                return Err(self.reject(name, conflict, owner, message));
            }
        }
        self.session.set_profile(name, profile);
        let mut intake = lock(&self.intake);
        let event = match &*intake {
            Intake::Waiting(..) => "worker_connected",
            _ => "worker_metadata_updated",
        };
        intake.open(&self.core, &self.session);
        drop(intake);
        let (core, session) = (Arc::clone(&self.core), Arc::clone(&self.session));
        self.tasks.spawn(async move {
            tokio::time::sleep(SETTLE).await;
            core.log_connected(&session);
        });
        self.core.publish_worker_event(event, &self.session);
        Ok(None)
    }

    /// Ends a connection whose name cannot be used.
    fn reject(&self, name: &str, code: &str, owner: Option<String>, message: String) -> ErrorBody {
        let name = abbreviate(name);
        tracing::warn!(%name, owner, code, "rejecting a worker");
        self.session.send(Message::RegistrationRejected(Box::new(
            RegistrationRejected {
                code: code.to_owned(),
                namespace: NAMESPACE.to_owned(),
                worker_name: Some(name.into_owned()),
                function_id: None,
                owner_worker_id: owner,
            },
        )));
        *lock(&self.intake) = Intake::Rejected;
        self.session.finish();
        ErrorBody::new(code, message)
    }
}

impl Intake {
    fn add(&mut self, message: Message, core: &Core, session: &Arc<Session>) {
        match self {
            Self::Open => core.apply(session, message),
            Self::Rejected => {}
            Self::Waiting(kept, bytes) => {
                *bytes += message.weight();
                let full = *bytes > MAX_KEPT_BYTES;
                kept.push(message);
                if full {
                    self.open(core, session);
                }
            }
        }
    }

    fn open(&mut self, core: &Core, session: &Arc<Session>) {
        if let Self::Waiting(kept, _) = self {
            for message in std::mem::take(kept) {
                core.apply(session, message);
            }
            *self = Self::Open;
        }
    }
}

impl Protocol for SessionProtocol {
    fn receive(&mut self, message: Message) {
        if self.calls_stay_open {
            self.pause_stalled();
        }
        match message {
            Message::InvocationResult(result) => self.session.complete(*result),
            Message::InvokeFunction(call) if call.function_id == INTRODUCE => {
                let outcome = self.introduce(&call);
                let reply_to = call.invocation_id.filter(|_| !call.is_void());
                self.session.reply(reply_to, call.function_id, outcome);
            }
            Message::InvokeFunction(call) => {
                if let Some(work) = self.core.invoke(&self.session, *call) {
                    while self.tasks.try_join_next().is_some() {}
                    let open = OpenCall::new(&self.session);
                    self.tasks.spawn(async move {
                        work.await;
                        drop(open);
                    });
                }
            }
            Message::Ping => self.session.send(Message::Pong),
            Message::Reattach(previous) => self.core.replace_session(&previous, &self.session),
            Message::RegisterFunction(_)
            | Message::UnregisterFunction(_)
            | Message::RegisterTriggerType(_)
            | Message::UnregisterTriggerType(_)
            | Message::RegisterTrigger(_)
            | Message::UnregisterTrigger(_)
            | Message::TriggerRegistrationResult(_) => {
                lock(&self.intake).add(message, &self.core, &self.session);
            }
            // Old SDKs send `registerservice`, which has no effect.
            Message::Unknown(unknown) if unknown.kind == "registerservice" => {}
            Message::Unknown(unknown) => {
                tracing::warn!(kind = unknown.kind, "ignoring a message of an unknown type");
            }
            Message::Pong | Message::WorkerRegistered(_) | Message::RegistrationRejected(_) => {}
        }
    }

    fn receive_invalid(&mut self, problem: &BadMessage) {
        tracing::warn!(worker = self.session.name(), %problem, "ignoring an invalid message");
    }

    fn must_pause(&self) -> bool {
        let many = self.session.open_calls.are_many();
        self.session.has_unread_replies() || (many && !self.calls_stay_open)
    }

    fn pause_stalled(&mut self) {
        self.calls_stay_open = self.session.open_calls.are_many();
    }
}

impl Drop for SessionProtocol {
    fn drop(&mut self) {
        self.core.remove_session(&self.session);
    }
}
