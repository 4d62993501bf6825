//! The messages between a worker and an engine.
//!
//! A frame is one JSON object, and its `type` names the message. Payloads stay raw JSON text
//! ([`Raw`]): they are not parsed on the way, so large integers and the order of keys survive.
//! `decode` parses a frame, `encode` writes one, `caller` adds the caller's id to a payload.
//! Nothing here knows about sockets.

mod caller;
mod decode;
mod encode;
mod payload;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

pub use decode::BadMessage;
pub use payload::Payload;

pub(crate) use caller::with_caller;
pub(crate) use encode::{Encoded, LargePayload};

use decode::{null_as_default, payload_or_null};

/// JSON text.
pub type Raw = Box<RawValue>;

/// Fields that this version does not use. A message that is passed on keeps them.
pub type Extra = BTreeMap<String, Raw>;

/// One message of the protocol, in either direction.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message {
    /// The first message of an engine to a worker.
    WorkerRegistered(Box<WorkerRegistered>),
    /// A worker offers a function.
    RegisterFunction(Box<FunctionSpec>),
    /// A worker withdraws a function.
    UnregisterFunction(Id),
    /// A worker offers a trigger type.
    RegisterTriggerType(Box<TriggerTypeSpec>),
    /// A worker withdraws a trigger type.
    UnregisterTriggerType(Id),
    /// A worker registers a trigger. The engine passes it on to the provider of the type.
    RegisterTrigger(Box<TriggerSpec>),
    /// The provider's reply to a trigger. The engine passes only a rejection on to the subscriber.
    TriggerRegistrationResult(Box<TriggerRegistrationResult>),
    /// A trigger ended.
    UnregisterTrigger(UnregisterTrigger),
    /// A call.
    InvokeFunction(Box<InvokeFunction>),
    /// The result of a call.
    InvocationResult(Box<InvocationResult>),
    /// Requests a [`Message::Pong`].
    Ping,
    /// The reply to a [`Message::Ping`].
    Pong,
    /// A worker reconnects and presents its previous id.
    Reattach(Reattach),
    /// The engine rejects a function or a worker.
    RegistrationRejected(Box<RegistrationRejected>),
    /// A message of a type that this version does not know.
    #[serde(skip)]
    Unknown(Unknown),
}

/// The first message of an engine to a worker.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct WorkerRegistered {
    /// The id of this connection.
    pub worker_id: String,
    /// Presented on the next connection to replace this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reattach_token: Option<String>,
    /// Optional features of the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Raw>,
}

/// A function that a worker offers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct FunctionSpec {
    /// Such as `resend::email::send`.
    pub id: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON schema of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_format: Option<Raw>,
    /// JSON schema of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Raw>,
    /// Further properties, not interpreted by the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw>,
    /// The address of a function that is an HTTP endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Raw>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
}

/// A trigger type that a worker provides.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TriggerTypeSpec {
    /// Such as `skills::on-change`.
    pub id: String,
    /// When it fires.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// JSON schema of a trigger's `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_request_format: Option<Raw>,
    /// JSON schema of the payload of the called function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_request_format: Option<Raw>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
}

/// A trigger: the function to call when an event of a type happens.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TriggerSpec {
    /// Chosen by the subscriber; a UUID is customary.
    pub id: String,
    /// The type of the events.
    pub trigger_type: String,
    /// The function to call.
    pub function_id: String,
    /// Settings for the provider of the type.
    #[serde(default)]
    pub config: Raw,
    /// Further properties, passed on to the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
}

/// A provider's reply to a trigger.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TriggerRegistrationResult {
    /// The trigger.
    pub id: String,
    /// Its type.
    #[serde(default, deserialize_with = "null_as_default")]
    pub trigger_type: String,
    /// The function it calls.
    #[serde(default, deserialize_with = "null_as_default")]
    pub function_id: String,
    /// The reason of a rejection; none if the trigger was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
}

/// The id of a function or a trigger type.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Id {
    /// The id.
    pub id: String,
}

/// The end of a trigger.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct UnregisterTrigger {
    /// The trigger.
    pub id: String,
    /// Its type; always present in messages of an engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_type: Option<String>,
}

/// A call.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct InvokeFunction {
    /// Repeated in the result; none when no result is expected.
    pub invocation_id: Option<Uuid>,
    /// The function to call.
    pub function_id: String,
    /// Wait for the result, do not wait, or put the call into a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Passed on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Raw>,
    /// The function's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Trace context, passed on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Trace context, passed on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
    /// The calling worker. Not a field of the message: `encode` writes it into an object payload
    /// as `_caller_worker_id`, so that the payload is copied at most once.
    #[serde(skip)]
    pub caller: Option<Arc<str>>,
    /// The input. Serialized last, for `encode`.
    pub data: Payload,
}

/// The result of a call.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct InvocationResult {
    /// The id of the call.
    pub invocation_id: Uuid,
    /// The function that was called.
    #[serde(default, deserialize_with = "null_as_default")]
    pub function_id: String,
    /// The error of a failed call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// Trace context, passed on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Trace context, passed on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
    /// Other fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Extra,
    /// The output. A missing result and `null` are different. Serialized last, for `encode`.
    #[serde(
        default,
        deserialize_with = "payload_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<Payload>,
}

/// A worker that reconnects.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Reattach {
    /// Its previous id.
    pub previous_worker_id: String,
    /// The token that came with that id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub reattach_token: String,
}

/// An engine's rejection of a function or a worker.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct RegistrationRejected {
    /// `FUNCTION_NAMESPACE_CONFLICT` or `WORKER_NAMESPACE_CONFLICT`.
    pub code: String,
    /// The namespace of the conflict.
    #[serde(default, deserialize_with = "null_as_default")]
    pub namespace: String,
    /// The worker name that is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_name: Option<String>,
    /// The function that is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_id: Option<String>,
    /// The worker that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_worker_id: Option<String>,
}

/// A message of a type that this version does not know.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Its type.
    pub kind: String,
    /// The whole frame.
    pub text: Raw,
}

/// How to run a call.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Action {
    /// No result is expected.
    Void,
    /// Put it into a queue.
    Enqueue {
        /// The name of the queue.
        queue: String,
    },
    /// An action that this version does not know.
    #[serde(untagged)]
    Other(Raw),
}

/// The error of a failed call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ErrorBody {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// For developers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacktrace: Option<String>,
}

impl ErrorBody {
    /// An error without a stack trace.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            stacktrace: None,
        }
    }

    /// Whether the engine did not let the function finish: a later call may succeed.
    pub fn is_temporary(&self) -> bool {
        matches!(&*self.code, "worker_overloaded" | "invocation_stopped")
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
    /// A call of `function_id` with `data` and no other properties.
    pub fn new(function_id: impl Into<String>, data: impl Into<Payload>) -> Self {
        Self {
            function_id: function_id.into(),
            data: data.into(),
            ..Self::default()
        }
    }

    /// Whether no result is expected.
    pub fn is_void(&self) -> bool {
        matches!(self.action, Some(Action::Void))
    }
}

impl InvocationResult {
    /// A result or an error, without the id of a call.
    pub(crate) fn of(outcome: Result<Option<Payload>, ErrorBody>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (result, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            error,
            result,
            ..Self::default()
        }
    }
}
