//! From text to a message.

use std::borrow::Cow;

use serde_json::value::RawValue;
use thiserror::Error;
use uuid::Uuid;

use super::fields::{Fields, string};
use super::{
    Action, ErrorBody, Extra, InvocationResult, InvokeFunction, Message, Raw, RegisterFunction,
    RegisterService, RegisterTrigger, RegisterTriggerType, RegistrationRejected,
    TriggerRegistrationResult, Unknown, WorkerRegistered,
};

/// Why a frame is not a message.
#[derive(Debug, Error)]
pub enum BadMessage {
    /// Not JSON, or not an object.
    #[error("not a JSON object: {0}")]
    NotAnObject(#[from] serde_json::Error),
    /// Binary that is not text.
    #[error("not UTF-8")]
    NotText,
    /// A field that must be there is not.
    #[error("`{kind}` has no `{field}`")]
    Missing {
        /// The message's type.
        kind: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field holds something it cannot hold.
    #[error("`{field}` of `{kind}` cannot be {found}")]
    Wrong {
        /// The message's type.
        kind: &'static str,
        /// The field.
        field: &'static str,
        /// The start of what it holds.
        found: String,
    },
}

impl Message {
    /// Reads one frame.
    pub fn parse(text: &str) -> Result<Self, BadMessage> {
        let fields: Fields<'_> = serde_json::from_str(text)?;
        let mut reader = Reader {
            kind: "message",
            fields,
        };
        let kind = reader.text("type")?;
        reader.kind = match kind.as_str() {
            "workerregistered" => "workerregistered",
            "registerfunction" => "registerfunction",
            "unregisterfunction" => "unregisterfunction",
            "registertriggertype" => "registertriggertype",
            "unregistertriggertype" => "unregistertriggertype",
            "registertrigger" => "registertrigger",
            "triggerregistrationresult" => "triggerregistrationresult",
            "unregistertrigger" => "unregistertrigger",
            "invokefunction" => "invokefunction",
            "invocationresult" => "invocationresult",
            "registerservice" => "registerservice",
            "ping" => return Ok(Self::Ping),
            "pong" => return Ok(Self::Pong),
            "reattach" => "reattach",
            "registrationrejected" => "registrationrejected",
            _ => {
                return Ok(Self::Unknown(Unknown {
                    kind,
                    text: RawValue::from_string(text.to_owned())?,
                }));
            }
        };
        reader.message()
    }
}

/// Takes fields out of a message and says which one is at fault.
struct Reader<'a> {
    kind: &'static str,
    fields: Fields<'a>,
}

impl Reader<'_> {
    fn message(mut self) -> Result<Message, BadMessage> {
        Ok(match self.kind {
            "invokefunction" => Message::InvokeFunction(Box::new(InvokeFunction {
                invocation_id: self.id_or_none("invocation_id")?,
                function_id: self.text("function_id")?,
                data: self.raw("data").ok_or_else(|| self.missing("data"))?,
                action: self.action()?,
                metadata: self.given("metadata"),
                namespace: self.text_or_none("namespace")?,
                traceparent: self.text_or_none("traceparent")?,
                baggage: self.text_or_none("baggage")?,
                caller: None,
                extra: self.rest(),
            })),
            "invocationresult" => Message::InvocationResult(Box::new(InvocationResult {
                invocation_id: self
                    .id_or_none("invocation_id")?
                    .ok_or_else(|| self.missing("invocation_id"))?,
                function_id: self.text_or_none("function_id")?.unwrap_or_default(),
                result: self.raw("result"),
                error: self.error()?,
                traceparent: self.text_or_none("traceparent")?,
                baggage: self.text_or_none("baggage")?,
                extra: self.rest(),
            })),
            "registerfunction" => Message::RegisterFunction(Box::new(RegisterFunction {
                id: self.text("id")?,
                description: self.text_or_none("description")?,
                request_format: self.given("request_format"),
                response_format: self.given("response_format"),
                metadata: self.given("metadata"),
                invocation: self.given("invocation"),
                extra: self.rest(),
            })),
            "registertriggertype" => Message::RegisterTriggerType(Box::new(RegisterTriggerType {
                id: self.text("id")?,
                description: self.text_or_none("description")?.unwrap_or_default(),
                trigger_request_format: self.given("trigger_request_format"),
                call_request_format: self.given("call_request_format"),
                namespace: self.text_or_none("namespace")?,
                extra: self.rest(),
            })),
            "registertrigger" => Message::RegisterTrigger(Box::new(RegisterTrigger {
                id: self.text("id")?,
                trigger_type: self.text("trigger_type")?,
                function_id: self.text("function_id")?,
                config: self
                    .raw("config")
                    .unwrap_or_else(|| RawValue::NULL.to_owned()),
                metadata: self.given("metadata"),
                namespace: self.text_or_none("namespace")?,
                trigger_namespace: self.text_or_none("trigger_namespace")?,
                extra: self.rest(),
            })),
            "triggerregistrationresult" => {
                Message::TriggerRegistrationResult(Box::new(TriggerRegistrationResult {
                    id: self.text("id")?,
                    trigger_type: self.text_or_none("trigger_type")?.unwrap_or_default(),
                    function_id: self.text_or_none("function_id")?.unwrap_or_default(),
                    error: self.error()?,
                    extra: self.rest(),
                }))
            }
            "unregisterfunction" => Message::UnregisterFunction {
                id: self.text("id")?,
            },
            "unregistertriggertype" => Message::UnregisterTriggerType {
                id: self.text("id")?,
            },
            "unregistertrigger" => Message::UnregisterTrigger {
                id: self.text("id")?,
                trigger_type: self.text_or_none("trigger_type")?,
            },
            "workerregistered" => Message::WorkerRegistered(Box::new(WorkerRegistered {
                worker_id: self.text("worker_id")?,
                reattach_token: self.text_or_none("reattach_token")?,
                features: self.given("features"),
            })),
            "reattach" => Message::Reattach {
                previous_worker_id: self.text("previous_worker_id")?,
                reattach_token: self.text_or_none("reattach_token")?.unwrap_or_default(),
            },
            "registrationrejected" => {
                Message::RegistrationRejected(Box::new(RegistrationRejected {
                    code: self.text("code")?,
                    namespace: self.text_or_none("namespace")?.unwrap_or_default(),
                    worker_name: self.text_or_none("worker_name")?,
                    function_id: self.text_or_none("function_id")?,
                    owner_worker_id: self.text_or_none("owner_worker_id")?,
                }))
            }
            _ => Message::RegisterService(Box::new(RegisterService {
                id: self.text("id")?,
                name: self.text_or_none("name")?.unwrap_or_default(),
                description: self.text_or_none("description")?,
                parent_service_id: self.text_or_none("parent_service_id")?,
            })),
        })
    }

    fn raw(&mut self, field: &str) -> Option<Raw> {
        self.fields.take(field).map(ToOwned::to_owned)
    }

    /// A field where `null` says the same as nothing.
    fn given(&mut self, field: &str) -> Option<Raw> {
        self.fields
            .take(field)
            .filter(|raw| raw.get() != "null")
            .map(ToOwned::to_owned)
    }

    fn text(&mut self, field: &'static str) -> Result<String, BadMessage> {
        self.text_or_none(field)?.ok_or_else(|| self.missing(field))
    }

    fn text_or_none(&mut self, field: &'static str) -> Result<Option<String>, BadMessage> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(raw) if raw.get() == "null" => Ok(None),
            Some(raw) => match string(raw) {
                Some(text) => Ok(Some(text.into_owned())),
                None => Err(self.wrong(field, raw)),
            },
        }
    }

    fn id_or_none(&mut self, field: &'static str) -> Result<Option<Uuid>, BadMessage> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(raw) if raw.get() == "null" => Ok(None),
            Some(raw) => match string(raw).and_then(|text| Uuid::try_parse(&text).ok()) {
                Some(id) => Ok(Some(id)),
                None => Err(self.wrong(field, raw)),
            },
        }
    }

    fn action(&mut self) -> Result<Option<Action>, BadMessage> {
        let Some(raw) = self.fields.take("action") else {
            return Ok(None);
        };
        if raw.get() == "null" {
            return Ok(None);
        }
        let Ok(mut inner) = serde_json::from_str::<Fields<'_>>(raw.get()) else {
            return Err(self.wrong("action", raw));
        };
        let kind = inner.take("type").and_then(string);
        Ok(Some(match kind.as_deref() {
            Some("void") => Action::Void,
            Some("enqueue") => Action::Enqueue {
                queue: inner
                    .take("queue")
                    .and_then(string)
                    .unwrap_or_default()
                    .into_owned(),
            },
            _ => Action::Other(raw.to_owned()),
        }))
    }

    fn error(&mut self) -> Result<Option<ErrorBody>, BadMessage> {
        let Some(raw) = self.fields.take("error") else {
            return Ok(None);
        };
        if raw.get() == "null" {
            return Ok(None);
        }
        // A bare string is not in the protocol, but it is still a failure and
        // must not read as a success.
        if let Some(message) = string(raw) {
            return Ok(Some(ErrorBody::new("error", message)));
        }
        let Ok(mut inner) = serde_json::from_str::<Fields<'_>>(raw.get()) else {
            return Err(self.wrong("error", raw));
        };
        let mut text = |name| inner.take(name).and_then(string).map(Cow::into_owned);
        Ok(Some(ErrorBody {
            code: text("code").unwrap_or_default(),
            message: text("message").unwrap_or_default(),
            stacktrace: text("stacktrace"),
        }))
    }

    fn rest(&mut self) -> Extra {
        let rest = std::mem::take(&mut self.fields.0);
        rest.into_iter()
            .map(|(key, raw)| (key.into_owned(), raw.to_owned()))
            .collect()
    }

    fn missing(&self, field: &'static str) -> BadMessage {
        BadMessage::Missing {
            kind: self.kind,
            field,
        }
    }

    fn wrong(&self, field: &'static str, raw: &RawValue) -> BadMessage {
        let found = raw.get().chars().take(60).collect();
        BadMessage::Wrong {
            kind: self.kind,
            field,
            found,
        }
    }
}
