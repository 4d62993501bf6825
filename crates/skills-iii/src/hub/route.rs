//! Where each thing a worker says goes.

use std::sync::{Arc, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::Core;
use super::builtin;
use super::directory::{Directory, NAMESPACE};
use super::events;
use super::session::{Caller, Session};
use super::trigger::refusal;
use crate::message::{
    Action, ErrorBody, InvokeFunction, Message, Raw, RegisterFunction, RegisterTrigger,
    RegistrationRejected,
};
use crate::state_functions::{Outcome, Reply};

impl Core {
    pub(super) fn directory(&self) -> RwLockWriteGuard<'_, Directory> {
        self.directory
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn look(&self) -> RwLockReadGuard<'_, Directory> {
        self.directory
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, session: &Arc<Session>) {
        self.directory()
            .sessions
            .insert(session.serial, Arc::clone(session));
    }

    /// A worker is gone, with everything it offered and asked for.
    pub(super) fn leave(&self, session: &Arc<Session>) {
        let others: Vec<_> = {
            let mut directory = self.directory();
            if !directory.remove(session) {
                return;
            }
            directory.sessions.values().cloned().collect()
        };
        session.close();
        for other in others {
            other.forget_caller(session);
        }
        self.functions_changed.notify_one();
        self.publish_worker_event("worker_disconnected", session);
        tracing::debug!(worker = session.name(), "a worker left");
    }

    /// A worker is back before its old connection was known to be dead: the
    /// old one ends, so that names and functions are free again.
    pub(super) fn supersede(&self, worker_id: &str, token: &str, by: &Session) {
        let old = self
            .look()
            .sessions
            .values()
            .find(|session| {
                session.serial != by.serial
                    && *session.worker_id == *worker_id
                    && session.reattach_token == token
            })
            .cloned();
        if let Some(old) = old {
            self.leave(&old);
        }
    }

    /// Routes a call; answers what is left to do when it cannot be done at once.
    pub(super) fn invoke(
        self: &Arc<Self>,
        from: &Arc<Session>,
        mut call: InvokeFunction,
    ) -> Option<BoxFuture<'static, ()>> {
        let wanted = if call.is_void() {
            None
        } else {
            call.invocation_id
        };
        if let Err(error) = check(&call) {
            from.answer(wanted, call.function_id, Err(error));
            return None;
        }
        if let Some(reply) = builtin::run(self, &call.function_id, &call.data) {
            return match reply {
                Reply::Now(outcome) => {
                    from.answer(wanted, call.function_id, outcome);
                    None
                }
                Reply::Later(work) => {
                    let from = Arc::clone(from);
                    Some(Box::pin(async move {
                        let outcome = work.await;
                        from.answer(wanted, call.function_id, outcome);
                    }))
                }
            };
        }
        let owner = self
            .look()
            .function(&call.function_id)
            .map(|f| Arc::clone(&f.owner));
        let Some(owner) = owner else {
            let error = ErrorBody::function_not_found(&call.function_id);
            from.answer(wanted, call.function_id, Err(error));
            return None;
        };
        call.caller = Some(Arc::clone(&from.worker_id));
        let caller = wanted.map_or(Caller::Nobody, |id| Caller::Worker(Arc::clone(from), id));
        owner.call(call, caller);
        None
    }

    /// A call of the hub's own, without an answer.
    pub(super) fn send(&self, function_id: &str, data: Raw, metadata: Option<Raw>) {
        let owner = self
            .look()
            .function(function_id)
            .map(|f| Arc::clone(&f.owner));
        let Some(owner) = owner else {
            tracing::debug!(function_id, "a trigger calls a function that is not there");
            return;
        };
        let mut call = InvokeFunction::new(function_id, data);
        call.metadata = metadata;
        owner.call(call, Caller::Nobody);
    }

    /// A call of the hub's own.
    pub(super) async fn ask(&self, function_id: &str, data: Raw) -> Outcome {
        let owner = self
            .look()
            .function(function_id)
            .map(|f| Arc::clone(&f.owner));
        let Some(owner) = owner else {
            return Err(ErrorBody::function_not_found(function_id));
        };
        let (answer, answered) = oneshot::channel();
        owner.call(
            InvokeFunction::new(function_id, data),
            Caller::Inside(answer),
        );
        answered
            .await
            .unwrap_or_else(|_| Err(ErrorBody::function_not_found(function_id)))
    }

    /// Takes what a worker offers or asks for.
    pub(super) fn apply(&self, session: &Arc<Session>, message: Message) {
        match message {
            Message::RegisterFunction(spec) => self.register_function(session, *spec),
            Message::UnregisterFunction { id } => self.unregister_function(session, &id),
            Message::RegisterTriggerType(spec) => {
                if events::is_own(&spec.id) {
                    tracing::warn!(id = spec.id, "refusing a trigger type the hub itself has");
                } else {
                    self.directory().add_kind(*spec, session);
                }
            }
            Message::UnregisterTriggerType { id } => self.directory().remove_kind(&id, session),
            Message::RegisterTrigger(trigger) => {
                if let Err(error) = self.register_trigger(Some(session), (*trigger).clone()) {
                    let answer = refusal(&trigger, error);
                    session.say(Message::TriggerRegistrationResult(Box::new(answer)));
                }
            }
            Message::UnregisterTrigger { id, .. } => self.directory().remove_trigger(&id, session),
            Message::TriggerRegistrationResult(answer) => {
                if let Some(error) = answer.error {
                    self.directory().refuse_trigger(&answer.id, session, error);
                }
            }
            _ => {}
        }
    }

    pub(super) fn register_trigger(
        &self,
        session: Option<&Arc<Session>>,
        trigger: RegisterTrigger,
    ) -> Result<(), ErrorBody> {
        events::check(&trigger)?;
        self.directory().add_trigger(trigger, session);
        Ok(())
    }

    fn unregister_function(&self, session: &Session, id: &str) {
        if self.directory().remove_function(id, session) {
            self.functions_changed.notify_one();
        }
    }

    fn register_function(&self, session: &Arc<Session>, spec: RegisterFunction) {
        if spec.invocation.is_some() {
            tracing::warn!(
                id = spec.id,
                "HTTP functions are not served here; ignoring it"
            );
            return;
        }
        let id = spec.id.clone();
        let owner = if builtin::is_builtin(&id) {
            Some(self.own_id.clone())
        } else {
            let added = self.directory().add_function(spec, session);
            added.err().map(|owner| owner.worker_id.to_string())
        };
        let Some(owner) = owner else {
            self.functions_changed.notify_one();
            return;
        };
        tracing::info!(id, owner, "refusing a function: somebody has it");
        session.say(Message::RegistrationRejected(Box::new(
            RegistrationRejected {
                code: "FUNCTION_NAMESPACE_CONFLICT".to_owned(),
                namespace: NAMESPACE.to_owned(),
                worker_name: None,
                function_id: Some(id),
                owner_worker_id: Some(owner),
            },
        )));
    }
}

fn check(call: &InvokeFunction) -> Result<(), ErrorBody> {
    if call
        .namespace
        .as_ref()
        .is_some_and(|namespace| namespace.trim().is_empty())
    {
        return Err(ErrorBody::new(
            "INVALID_NAMESPACE",
            "a namespace cannot be blank",
        ));
    }
    match &call.action {
        None | Some(Action::Void) => Ok(()),
        Some(Action::Enqueue { queue }) => Err(ErrorBody::new(
            "enqueue_error",
            format!("there is no queue `{queue}` here"),
        )),
        Some(Action::Other(action)) => Err(ErrorBody::new(
            "deserialization_error",
            format!("an action not known here: {action}"),
        )),
    }
}
