//! Routing: passes each message of a worker on to its recipient.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLockReadGuard, RwLockWriteGuard};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Core;
use super::builtin;
use super::directory::{Directory, NAMESPACE};
use super::events;
use super::id::{abbreviate, check_id};
use super::open_call::OpenCall;
use super::session::{Caller, Session};
use super::trigger::rejection;
use crate::limits::MAX_FUNCTIONS_PER_WORKER;
use crate::message::{
    Action, ErrorBody, FunctionSpec, InvokeFunction, Message, Payload, Reattach,
    RegistrationRejected, TriggerSpec, TriggerTypeSpec,
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
        let checked = check(&call).and_then(|()| from.check_open_calls());
        let reply = match checked {
            Err(error) => Err(error),
            Ok(()) => match builtin::run(self, &from.worker_id, &call.function_id, &call.data) {
                Some(reply) => reply,
                None => match self.owner_of(&call.function_id) {
                    Ok(owner) => {
                        call.caller = Some(Arc::clone(&from.worker_id));
                        let caller = |id| Caller::Worker(OpenCall::new(from), id);
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

    /// Calls a function for the hub itself.
    pub(super) async fn call(&self, function_id: &str, data: Payload) -> Outcome {
        let owner = self.owner_of(function_id)?;
        let (caller, result) = oneshot::channel();
        let call = InvokeFunction::new(function_id, data);
        let id = owner.call(call, Caller::Hub(caller));
        let _pending = PendingCall(owner, id);
        let result = result.await;
        result.unwrap_or_else(|_| Err(ErrorBody::function_not_found(function_id)))
    }

    pub(super) fn owner_of(&self, function_id: &str) -> Result<Arc<Session>, ErrorBody> {
        let directory = self.directory();
        match directory.function(function_id) {
            Some(function) => Ok(Arc::clone(&function.owner)),
            None => Err(ErrorBody::function_not_found(function_id)),
        }
    }

    /// Applies a registration of a worker.
    pub(super) fn apply(&self, session: &Arc<Session>, message: Message) {
        let bytes = message.weight();
        match message {
            Message::RegisterFunction(spec) => self.register_function(session, *spec, bytes),
            Message::UnregisterFunction(function) => {
                self.unregister_function(session, &function.id);
            }
            Message::RegisterTriggerType(spec) => {
                self.register_trigger_type(session, *spec, bytes);
            }
            Message::UnregisterTriggerType(spec) => {
                self.directory_mut().remove_trigger_type(&spec.id, session);
            }
            Message::RegisterTrigger(trigger) => {
                if let Err(error) = self.register_trigger(Some(session), (*trigger).clone(), bytes)
                {
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
        bytes: usize,
    ) -> Result<(), ErrorBody> {
        check_id("trigger id", &trigger.id)?;
        check_id("trigger type", &trigger.trigger_type)?;
        check_id("function id", &trigger.function_id)?;
        let filter = events::StateFilter::of(&trigger)?;
        self.directory_mut()
            .add_trigger(trigger, filter, bytes, session)
    }

    /// There is no reply to a trigger type, so a refusal is only logged.
    fn register_trigger_type(&self, session: &Arc<Session>, spec: TriggerTypeSpec, bytes: usize) {
        let id = abbreviate(&spec.id).into_owned();
        let added = check_id("trigger type", &spec.id).and_then(|()| {
            if events::is_builtin(&spec.id) {
                return Err(ErrorBody::new("taken", "the engine provides it"));
            }
            let bytes = session.registered.add(bytes)?;
            self.directory_mut().add_trigger_type(spec, bytes, session)
        });
        if let Err(error) = added {
            let worker = session.name();
            tracing::warn!(
                id,
                worker,
                reason = error.message,
                "refusing a trigger type"
            );
        }
    }

    fn unregister_function(&self, session: &Session, id: &str) {
        if self.directory_mut().remove_function(id, session) {
            self.functions_changed.notify_one();
        }
    }

    fn register_function(&self, session: &Arc<Session>, spec: FunctionSpec, bytes: usize) {
        if spec.invocation.is_some() {
            let id = abbreviate(&spec.id);
            tracing::warn!(%id, "ignoring a function that is an HTTP endpoint");
            return;
        }
        let id = abbreviate(&spec.id).into_owned();
        let (code, owner) = match self.add_function(session, spec, bytes) {
            Ok(()) => return self.functions_changed.notify_one(),
            Err(refused) => refused,
        };
        tracing::info!(id, code, owner, "rejecting a function");
        session.send(Message::RegistrationRejected(Box::new(
            RegistrationRejected {
                code: code.to_owned(),
                namespace: NAMESPACE.to_owned(),
                worker_name: None,
                function_id: Some(id),
                owner_worker_id: owner,
            },
        )));
    }

    /// Adds a function; fails with the code of the refusal and the owner of the function.
    fn add_function(
        &self,
        session: &Arc<Session>,
        spec: FunctionSpec,
        bytes: usize,
    ) -> Result<(), (&'static str, Option<String>)> {
        const CONFLICT: &str = "FUNCTION_NAMESPACE_CONFLICT";
        if check_id("function id", &spec.id).is_err() {
            return Err(("FUNCTION_ID_TOO_LONG", None));
        }
        if builtin::all().any(|(builtin, _)| builtin == spec.id) {
            return Err((CONFLICT, Some(self.hub_id.clone())));
        }
        let Ok(bytes) = session.registered.add(bytes) else {
            return Err(("REGISTRATIONS_TOO_LARGE", None));
        };
        let mut directory = self.directory_mut();
        if session.functions.load(Ordering::Relaxed) >= MAX_FUNCTIONS_PER_WORKER
            && directory.function(&spec.id).is_none()
        {
            return Err(("TOO_MANY_FUNCTIONS", None));
        }
        let added = directory.add_function(spec, bytes, session);
        added.map_err(|owner| (CONFLICT, Some(owner.worker_id.to_string())))
    }
}

/// Forgets a call of the hub when the hub gives up.
struct PendingCall(Arc<Session>, Uuid);

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.0.forget_call(self.1);
    }
}

fn check(call: &InvokeFunction) -> Result<(), ErrorBody> {
    if call.namespace.as_ref().is_some_and(|n| n.trim().is_empty()) {
        let message = "a namespace cannot be blank";
        return Err(ErrorBody::new("INVALID_NAMESPACE", message));
    }
    check_id("function id", &call.function_id)?;
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
