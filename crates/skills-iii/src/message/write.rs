//! From a message to text.

use std::fmt::Write as _;

use super::caller::push_with_caller;
use super::{Action, ErrorBody, Extra, InvocationResult, InvokeFunction, Message, Raw};

/// Room for the names around a payload.
const ENVELOPE: usize = 256;

impl Message {
    /// The frame this message is.
    pub fn to_text(&self) -> String {
        match self {
            Self::InvokeFunction(call) => invoke(call),
            Self::InvocationResult(answer) => result(answer),
            Self::WorkerRegistered(hello) => Object::of("workerregistered")
                .text("worker_id", &hello.worker_id)
                .text_if("reattach_token", hello.reattach_token.as_deref())
                .raw_if("features", hello.features.as_ref())
                .end(),
            Self::RegisterFunction(function) => Object::of("registerfunction")
                .text("id", &function.id)
                .text_if("description", function.description.as_deref())
                .raw_if("request_format", function.request_format.as_ref())
                .raw_if("response_format", function.response_format.as_ref())
                .raw_if("metadata", function.metadata.as_ref())
                .raw_if("invocation", function.invocation.as_ref())
                .extra(&function.extra)
                .end(),
            Self::UnregisterFunction { id } => {
                Object::of("unregisterfunction").text("id", id).end()
            }
            Self::RegisterTriggerType(kind) => Object::of("registertriggertype")
                .text("id", &kind.id)
                .text("description", &kind.description)
                .raw_if(
                    "trigger_request_format",
                    kind.trigger_request_format.as_ref(),
                )
                .raw_if("call_request_format", kind.call_request_format.as_ref())
                .text_if("namespace", kind.namespace.as_deref())
                .extra(&kind.extra)
                .end(),
            Self::UnregisterTriggerType { id } => {
                Object::of("unregistertriggertype").text("id", id).end()
            }
            Self::RegisterTrigger(trigger) => Object::of("registertrigger")
                .text("id", &trigger.id)
                .text("trigger_type", &trigger.trigger_type)
                .text("function_id", &trigger.function_id)
                .raw("config", trigger.config.get())
                .raw_if("metadata", trigger.metadata.as_ref())
                .text_if("namespace", trigger.namespace.as_deref())
                .text_if("trigger_namespace", trigger.trigger_namespace.as_deref())
                .extra(&trigger.extra)
                .end(),
            Self::TriggerRegistrationResult(answer) => Object::of("triggerregistrationresult")
                .text("id", &answer.id)
                .text("trigger_type", &answer.trigger_type)
                .text("function_id", &answer.function_id)
                .error(answer.error.as_ref())
                .extra(&answer.extra)
                .end(),
            Self::UnregisterTrigger { id, trigger_type } => Object::of("unregistertrigger")
                .text("id", id)
                .text_if("trigger_type", trigger_type.as_deref())
                .end(),
            Self::RegisterService(service) => Object::of("registerservice")
                .text("id", &service.id)
                .text("name", &service.name)
                .text_if("description", service.description.as_deref())
                .text_if("parent_service_id", service.parent_service_id.as_deref())
                .end(),
            Self::Ping => Object::of("ping").end(),
            Self::Pong => Object::of("pong").end(),
            Self::Reattach {
                previous_worker_id,
                reattach_token,
            } => Object::of("reattach")
                .text("previous_worker_id", previous_worker_id)
                .text("reattach_token", reattach_token)
                .end(),
            Self::RegistrationRejected(refusal) => Object::of("registrationrejected")
                .text("code", &refusal.code)
                .text("namespace", &refusal.namespace)
                .text_if("worker_name", refusal.worker_name.as_deref())
                .text_if("function_id", refusal.function_id.as_deref())
                .text_if("owner_worker_id", refusal.owner_worker_id.as_deref())
                .end(),
            Self::Unknown(unknown) => unknown.text.get().to_owned(),
        }
    }

    /// About how many bytes this message keeps in memory.
    pub(crate) fn weight(&self) -> usize {
        let len = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.get().len());
        let payload = match self {
            Self::InvokeFunction(call) => call.data.get().len() + len(&call.metadata),
            Self::InvocationResult(answer) => {
                len(&answer.result) + answer.error.as_ref().map_or(0, |error| error.message.len())
            }
            Self::RegisterFunction(function) => {
                len(&function.request_format)
                    + len(&function.response_format)
                    + len(&function.metadata)
            }
            Self::RegisterTrigger(trigger) => trigger.config.get().len() + len(&trigger.metadata),
            Self::RegisterTriggerType(kind) => {
                len(&kind.trigger_request_format) + len(&kind.call_request_format)
            }
            Self::Unknown(unknown) => unknown.text.get().len(),
            _ => 0,
        };
        payload + ENVELOPE
    }
}

fn invoke(call: &InvokeFunction) -> String {
    let room = ENVELOPE + call.data.get().len() + call.function_id.len();
    let mut object = Object::with_room("invokefunction", room);
    match call.invocation_id {
        Some(id) => object = object.id("invocation_id", id),
        None => object = object.raw("invocation_id", "null"),
    }
    object = object.text("function_id", &call.function_id);
    object.key("data");
    match &call.caller {
        Some(caller) => push_with_caller(&mut object.0, call.data.get(), caller),
        None => object.0.push_str(call.data.get()),
    }
    object = match &call.action {
        None => object,
        Some(Action::Void) => object.raw("action", r#"{"type":"void"}"#),
        Some(Action::Enqueue { queue }) => {
            let action = Object::of("enqueue").text("queue", queue).end();
            object.raw("action", &action)
        }
        Some(Action::Other(raw)) => object.raw("action", raw.get()),
    };
    object
        .raw_if("metadata", call.metadata.as_ref())
        .text_if("namespace", call.namespace.as_deref())
        .text_if("traceparent", call.traceparent.as_deref())
        .text_if("baggage", call.baggage.as_deref())
        .extra(&call.extra)
        .end()
}

fn result(answer: &InvocationResult) -> String {
    let payload = answer.result.as_ref().map_or(0, |raw| raw.get().len());
    Object::with_room(
        "invocationresult",
        ENVELOPE + payload + answer.function_id.len(),
    )
    .id("invocation_id", answer.invocation_id)
    .text("function_id", &answer.function_id)
    .raw_if("result", answer.result.as_ref())
    .error(answer.error.as_ref())
    .text_if("traceparent", answer.traceparent.as_deref())
    .text_if("baggage", answer.baggage.as_deref())
    .extra(&answer.extra)
    .end()
}

/// A JSON object under construction.
pub(crate) struct Object(String);

impl Object {
    /// An object without a `type`.
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    fn of(kind: &str) -> Self {
        Self::with_room(kind, ENVELOPE)
    }

    fn with_room(kind: &str, room: usize) -> Self {
        let mut text = String::with_capacity(room);
        text.push('{');
        Self(text).text("type", kind)
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(&mut self.0, key);
        self.0.push(':');
    }

    /// A string.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        quote(&mut self.0, value);
        self
    }

    /// A string, or no field at all.
    pub(crate) fn text_if(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// JSON as it is.
    pub(crate) fn raw(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.0.push_str(value);
        self
    }

    /// JSON as it is, or no field at all.
    pub(crate) fn raw_if(self, key: &str, value: Option<&Raw>) -> Self {
        match value {
            Some(value) => self.raw(key, value.get()),
            None => self,
        }
    }

    fn id(mut self, key: &str, id: uuid::Uuid) -> Self {
        self.key(key);
        let mut buffer = uuid::Uuid::encode_buffer();
        self.0.push('"');
        self.0.push_str(id.hyphenated().encode_lower(&mut buffer));
        self.0.push('"');
        self
    }

    fn error(self, error: Option<&ErrorBody>) -> Self {
        let Some(error) = error else { return self };
        let body = Self::new()
            .text("code", &error.code)
            .text("message", &error.message)
            .text_if("stacktrace", error.stacktrace.as_deref())
            .end();
        self.raw("error", &body)
    }

    fn extra(mut self, extra: &Extra) -> Self {
        for (key, raw) in extra {
            self = self.raw(key, raw.get());
        }
        self
    }

    /// The finished object.
    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Appends `text` as a JSON string.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    // Ids and names hardly ever need escapes.
    if text
        .bytes()
        .all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
    {
        out.push_str(text);
    } else {
        for letter in text.chars() {
            match letter {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                letter if letter < ' ' => {
                    write!(out, "\\u{:04x}", letter as u32).expect("a String takes everything");
                }
                letter => out.push(letter),
            }
        }
    }
    out.push('"');
}
