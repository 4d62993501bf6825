//! Routing: passes each message of a worker on to its recipient.

use std::sync::{Arc, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::Core;
use super::builtin;
use super::directory::{Directory, NAMESPACE};
use super::events;
use super::session::{Caller, Session};
use super::trigger::rejection;
use crate::message::{
    Action, ErrorBody, FunctionSpec, InvokeFunction, Message, Raw, Reattach, RegistrationRejected,
    TriggerSpec,
};
use crate::state_functions::{Outcome, Reply};

impl Core {
    pub(super) fn directory(&self) -> RwLockReadGuard<'_, Directory> {
        let directory = self.directory.read();
        directory.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn directory_mut(&self) -> RwLockWriteGuard<'_, Directory> {
        let directory = self.directory.write();
        directory.unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a disconnected worker with everything it offered and subscribed to.
    pub(super) fn remove_session(&self, session: &Arc<Session>) {
        let others: Vec<_> = {
            let mut directory = self.directory_mut();
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
        tracing::debug!(worker = session.name(), "a worker disconnected");
    }

    /// Ends the previous connection of a worker that reconnected before the loss was detected, so
    /// that its name and functions are free again.
    pub(super) fn replace_session(&self, previous: &Reattach, by: &Session) {
        let is_previous = |session: &&Arc<Session>| {
            !session.is(by)
                && *session.worker_id == *previous.previous_worker_id
                && session.reattach_token == previous.reattach_token
        };
        let found = self
            .directory()
            .sessions
            .values()
            .find(is_previous)
            .cloned();
        if let Some(session) = found {
            self.remove_session(&session);
        }
    }

    /// Routes a call. Returns the work that is left if the result is not available at once.
    pub(super) fn invoke(
        self: &Arc<Self>,
        from: &Arc<Session>,
        mut call: InvokeFunction,
    ) -> Option<BoxFuture<'static, ()>> {
        let reply_to = call.invocation_id.filter(|_| !call.is_void());
        let reply = match check(&call) {
            Err(error) => Err(error),
            Ok(()) => match builtin::run(self, &call.function_id, &call.data) {
                Some(reply) => reply,
                None => match self.owner_of(&call.function_id) {
                    Ok(owner) => {
                        call.caller = Some(Arc::clone(&from.worker_id));
                        let caller = |id| Caller::Worker(Arc::clone(from), id);
                        owner.call(call, reply_to.map_or(Caller::None, caller));
                        return None;
                    }
                    Err(error) => Err(error),
                },
            },
        };
        match reply {
            Ok(Reply::Later(outcome)) => {
                let from = Arc::clone(from);
                Some(Box::pin(async move {
                    from.reply(reply_to, call.function_id, outcome.await);
                }))
            }
            Ok(Reply::Now(result)) => {
                from.reply(reply_to, call.function_id, Ok(result));
                None
            }
            Err(error) => {
                from.reply(reply_to, call.function_id, Err(error));
                None
            }
        }
    }

    /// Calls a function for the hub itself, without a result.
    pub(super) fn send(&self, function_id: &str, data: Raw, metadata: Option<Raw>) {
        let Ok(owner) = self.owner_of(function_id) else {
            tracing::debug!(
                function_id,
                "a trigger calls a function that does not exist"
            );
            return;
        };
        let mut call = InvokeFunction::new(function_id, data);
        call.metadata = metadata;
        owner.call(call, Caller::None);
    }

    /// Calls a function for the hub itself.
    pub(super) async fn call(&self, function_id: &str, data: Raw) -> Outcome {
        let owner = self.owner_of(function_id)?;
        let (caller, result) = oneshot::channel();
        let call = InvokeFunction::new(function_id, data);
        owner.call(call, Caller::Hub(caller));
        let result = result.await;
        result.unwrap_or_else(|_| Err(ErrorBody::function_not_found(function_id)))
    }

    fn owner_of(&self, function_id: &str) -> Result<Arc<Session>, ErrorBody> {
        let directory = self.directory();
        match directory.function(function_id) {
            Some(function) => Ok(Arc::clone(&function.owner)),
            None => Err(ErrorBody::function_not_found(function_id)),
        }
    }

    /// Applies a registration of a worker.
    pub(super) fn apply(&self, session: &Arc<Session>, message: Message) {
        match message {
            Message::RegisterFunction(spec) => self.register_function(session, *spec),
            Message::UnregisterFunction(function) => {
                self.unregister_function(session, &function.id);
            }
            Message::RegisterTriggerType(spec) => {
                if events::is_builtin(&spec.id) {
                    tracing::warn!(id = spec.id, "ignoring a trigger type of the hub itself");
                } else {
                    self.directory_mut().add_trigger_type(*spec, session);
                }
            }
            Message::UnregisterTriggerType(spec) => {
                self.directory_mut().remove_trigger_type(&spec.id, session);
            }
            Message::RegisterTrigger(trigger) => {
                if let Err(error) = self.register_trigger(Some(session), (*trigger).clone()) {
                    session.send(rejection(&trigger, error));
                }
            }
            Message::UnregisterTrigger(trigger) => {
                self.directory_mut().remove_trigger(&trigger.id, session);
            }
            Message::TriggerRegistrationResult(result) => {
                if let Some(error) = result.error {
                    self.directory_mut()
                        .reject_trigger(&result.id, session, error);
                }
            }
            _ => {}
        }
    }

    pub(super) fn register_trigger(
        &self,
        session: Option<&Arc<Session>>,
        trigger: TriggerSpec,
    ) -> Result<(), ErrorBody> {
        events::check(&trigger)?;
        self.directory_mut().add_trigger(trigger, session);
        Ok(())
    }

    fn unregister_function(&self, session: &Session, id: &str) {
        if self.directory_mut().remove_function(id, session) {
            self.functions_changed.notify_one();
        }
    }

    fn register_function(&self, session: &Arc<Session>, spec: FunctionSpec) {
        let id = spec.id.clone();
        if spec.invocation.is_some() {
            tracing::warn!(id, "ignoring a function that is an HTTP endpoint");
            return;
        }
        let owner = if builtin::all().any(|(builtin, _)| builtin == id) {
            Some(self.hub_id.clone())
        } else {
            let added = self.directory_mut().add_function(spec, session);
            added.err().map(|owner| owner.worker_id.to_string())
        };
        let Some(owner) = owner else {
            self.functions_changed.notify_one();
            return;
        };
        tracing::info!(id, owner, "rejecting a function of another worker");
        session.send(Message::RegistrationRejected(Box::new(
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
    if call.namespace.as_ref().is_some_and(|n| n.trim().is_empty()) {
        let message = "a namespace cannot be blank";
        return Err(ErrorBody::new("INVALID_NAMESPACE", message));
    }
    match &call.action {
        None | Some(Action::Void) => Ok(()),
        Some(Action::Enqueue { queue }) => {
            let message = format!("there is no queue `{queue}` here");
            Err(ErrorBody::new("enqueue_error", message))
        }
        Some(Action::Other(action)) => {
            let message = format!("unknown action: {action}");
            Err(ErrorBody::new("deserialization_error", message))
        }
    }
}
