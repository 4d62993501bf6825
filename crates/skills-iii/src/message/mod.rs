//! What is said between a worker and an engine.
//!
//! One JSON object per frame, told apart by `type`. Payloads stay raw JSON text
//! ([`Raw`]): nothing is parsed twice, large integers and key contents arrive
//! as they left. Reading lives in `read`, writing in `write`; sockets are not
//! known here.

mod caller;
mod fields;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use serde_json::value::RawValue;
use uuid::Uuid;

pub use read::BadMessage;

pub(crate) use caller::with_caller;
pub(crate) use write::Object;

/// A piece of JSON, kept as the text it came as.
pub type Raw = Box<RawValue>;

/// Fields this version does not know, in the order they came. A message that is
/// passed on takes them along.
pub type Extra = Vec<(String, Raw)>;

/// One message of the protocol, in either direction.
#[derive(Clone, Debug)]
pub enum Message {
    /// The engine's first words to a worker.
    WorkerRegistered(Box<WorkerRegistered>),
    /// A worker offers a function.
    RegisterFunction(Box<RegisterFunction>),
    /// A worker takes a function back.
    UnregisterFunction {
        /// The function.
        id: String,
    },
    /// A worker offers to tell others about something.
    RegisterTriggerType(Box<RegisterTriggerType>),
    /// A worker takes a trigger type back.
    UnregisterTriggerType {
        /// The trigger type.
        id: String,
    },
    /// A worker wants a function called when something happens; passed on to
    /// the worker that provides the type.
    RegisterTrigger(Box<RegisterTrigger>),
    /// The provider's answer to a trigger; passed on to the subscriber only
    /// when it is a refusal.
    TriggerRegistrationResult(Box<TriggerRegistrationResult>),
    /// A trigger is no longer wanted.
    UnregisterTrigger {
        /// The trigger.
        id: String,
        /// Its type; an engine always says it.
        trigger_type: Option<String>,
    },
    /// A call.
    InvokeFunction(Box<InvokeFunction>),
    /// The answer to a call.
    InvocationResult(Box<InvocationResult>),
    /// Said by old SDKs; nothing hangs on it.
    RegisterService(Box<RegisterService>),
    /// Are you there?
    Ping,
    /// I am.
    Pong,
    /// A worker that was here before comes back.
    Reattach {
        /// The id it had.
        previous_worker_id: String,
        /// The token that came with that id.
        reattach_token: String,
    },
    /// The engine refuses a function or a whole worker.
    RegistrationRejected(Box<RegistrationRejected>),
    /// A type this version does not know.
    Unknown(Unknown),
}

/// The engine's first words to a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerRegistered {
    /// The id this connection has.
    pub worker_id: String,
    /// What to show on the next connection to be known again.
    pub reattach_token: Option<String>,
    /// Optional abilities of the engine.
    pub features: Option<Raw>,
}

/// A function a worker offers.
#[derive(Clone, Debug, Default)]
pub struct RegisterFunction {
    /// Such as `resend::email::send`.
    pub id: String,
    /// What it does, in words.
    pub description: Option<String>,
    /// JSON schema of the input.
    pub request_format: Option<Raw>,
    /// JSON schema of the output.
    pub response_format: Option<Raw>,
    /// Anything else the worker says about it.
    pub metadata: Option<Raw>,
    /// How to reach a function that is an HTTP endpoint.
    pub invocation: Option<Raw>,
    /// Fields not known here.
    pub extra: Extra,
}

/// A kind of event a worker offers to tell others about.
#[derive(Clone, Debug, Default)]
pub struct RegisterTriggerType {
    /// Such as `skills::on-change`.
    pub id: String,
    /// When it fires, in words.
    pub description: String,
    /// JSON schema of a trigger's `config`.
    pub trigger_request_format: Option<Raw>,
    /// JSON schema of what the called function gets.
    pub call_request_format: Option<Raw>,
    /// The namespace it belongs to.
    pub namespace: Option<String>,
    /// Fields not known here.
    pub extra: Extra,
}

/// A wish to have a function called when something happens.
#[derive(Clone, Debug)]
pub struct RegisterTrigger {
    /// Chosen by the subscriber.
    pub id: String,
    /// What to wait for.
    pub trigger_type: String,
    /// What to call.
    pub function_id: String,
    /// The provider's settings.
    pub config: Raw,
    /// Anything else the subscriber says about it.
    pub metadata: Option<Raw>,
    /// The function's namespace.
    pub namespace: Option<String>,
    /// The trigger type's namespace.
    pub trigger_namespace: Option<String>,
    /// Fields not known here.
    pub extra: Extra,
}

/// A provider's answer to a trigger.
#[derive(Clone, Debug)]
pub struct TriggerRegistrationResult {
    /// The trigger.
    pub id: String,
    /// Its type.
    pub trigger_type: String,
    /// The function it calls.
    pub function_id: String,
    /// Why it was refused.
    pub error: Option<ErrorBody>,
    /// Fields not known here.
    pub extra: Extra,
}

/// A call.
#[derive(Clone, Debug)]
pub struct InvokeFunction {
    /// What the answer will carry; none when no answer is wanted.
    pub invocation_id: Option<Uuid>,
    /// What to call.
    pub function_id: String,
    /// The input.
    pub data: Raw,
    /// Wait for the answer, do not, or put it in a queue.
    pub action: Option<Action>,
    /// Passed on untouched.
    pub metadata: Option<Raw>,
    /// The function's namespace.
    pub namespace: Option<String>,
    /// Trace context, passed on untouched.
    pub traceparent: Option<String>,
    /// Trace context, passed on untouched.
    pub baggage: Option<String>,
    /// Who calls. Not a field of its own on the wire: it is written into an
    /// object payload as `_caller_worker_id` when the message is sent, so that
    /// the payload is copied only once.
    pub caller: Option<Arc<str>>,
    /// Fields not known here.
    pub extra: Extra,
}

/// The answer to a call.
#[derive(Clone, Debug, Default)]
pub struct InvocationResult {
    /// The call's.
    pub invocation_id: Uuid,
    /// The function that was called.
    pub function_id: String,
    /// The output; absent and `null` are different things.
    pub result: Option<Raw>,
    /// Why there is none.
    pub error: Option<ErrorBody>,
    /// Trace context, passed on untouched.
    pub traceparent: Option<String>,
    /// Trace context, passed on untouched.
    pub baggage: Option<String>,
    /// Fields not known here.
    pub extra: Extra,
}

/// A service as old SDKs announce it.
#[derive(Clone, Debug, Default)]
pub struct RegisterService {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The service it is part of.
    pub parent_service_id: Option<String>,
}

/// An engine's refusal of a function or a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistrationRejected {
    /// `FUNCTION_NAMESPACE_CONFLICT` or `WORKER_NAMESPACE_CONFLICT`.
    pub code: String,
    /// Where the names clash.
    pub namespace: String,
    /// The worker name that is taken.
    pub worker_name: Option<String>,
    /// The function that is taken.
    pub function_id: Option<String>,
    /// Who has it.
    pub owner_worker_id: Option<String>,
}

/// A message of a type this version does not know.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// What it calls itself.
    pub kind: String,
    /// The whole of it.
    pub text: Raw,
}

/// What to do with a call.
#[derive(Clone, Debug)]
pub enum Action {
    /// No answer is wanted.
    Void,
    /// Put it in a queue.
    Enqueue {
        /// Which one.
        queue: String,
    },
    /// Something newer.
    Other(Raw),
}

/// A failure as it crosses the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ErrorBody {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// For developers.
    pub stacktrace: Option<String>,
}

impl ErrorBody {
    /// A failure without a stack trace.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            stacktrace: None,
        }
    }

    /// No worker has registered this function.
    pub(crate) fn function_not_found(function_id: &str) -> Self {
        Self::new(
            "function_not_found",
            format!("function `{function_id}` not found"),
        )
    }
}

impl InvokeFunction {
    /// A call of `function_id` with `data` and nothing else said.
    pub fn new(function_id: impl Into<String>, data: Raw) -> Self {
        Self {
            invocation_id: None,
            function_id: function_id.into(),
            data,
            action: None,
            metadata: None,
            namespace: None,
            traceparent: None,
            baggage: None,
            caller: None,
            extra: Extra::new(),
        }
    }

    /// Whether no answer is wanted.
    pub fn is_void(&self) -> bool {
        matches!(self.action, Some(Action::Void))
    }
}
