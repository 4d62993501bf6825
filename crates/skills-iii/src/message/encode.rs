//! Writes a [`Message`] as text.
//!
//! The payload is the last field of its message, so the text is an envelope, the payload and a
//! closing brace. A large payload is not copied: it is sent from where it is, and several messages
//! can share it.

use std::mem::take;
use std::sync::Arc;

use super::caller::{push_caller, without_caller};
use super::{Extra, Message, Payload, Raw};

/// Bytes of a message besides its payload, about.
const ENVELOPE_BYTES: usize = 256;

/// What stands for the payload in an envelope, and the end of the envelope.
const NULL_AND_END: &str = "null}";

/// The text of a message.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// All of it, or the part before a large payload.
    pub(crate) text: Vec<u8>,
    pub(crate) large: Option<LargePayload>,
}

/// A payload that was not copied.
#[derive(Debug)]
pub(crate) struct LargePayload {
    pub(crate) payload: Payload,
    /// The bytes of the payload that belong to the text.
    pub(crate) len: usize,
    /// The text after it.
    pub(crate) end: String,
}

impl Message {
    /// The text of this message. A payload of more than `max_copied` bytes is not copied.
    pub(crate) fn encode(mut self, max_copied: usize) -> Encoded {
        let (payload, caller) = match &mut self {
            Self::Unknown(unknown) => {
                let text = Box::<str>::from(take(&mut unknown.text));
                return Encoded {
                    text: text.into_boxed_bytes().into_vec(),
                    large: None,
                };
            }
            Self::InvokeFunction(call) => (Some(take(&mut call.data)), call.caller.take()),
            Self::InvocationResult(result) => (result.result.as_mut().map(take), None),
            _ => (None, None),
        };
        let Some(mut payload) = payload else {
            return Encoded {
                text: self.to_vec(0),
                large: None,
            };
        };
        let (mut len, mut end) = (payload.get().len(), String::new());
        if let Some(caller) = caller {
            if let Some(cleaned) = without_caller(&payload) {
                payload = cleaned.into();
                len = payload.get().len();
            }
            if payload.get().starts_with('{') {
                // The field and its brace end the payload.
                len -= 1;
                push_caller(&mut end, payload.get(), &caller);
            }
        }
        end.push('}');
        let copied = if len <= max_copied { len } else { 0 };
        let mut text = self.to_vec(copied + end.len());
        text.truncate(text.len() - NULL_AND_END.len());
        let large = if len <= max_copied {
            text.extend_from_slice(&payload.get().as_bytes()[..len]);
            text.extend_from_slice(end.as_bytes());
            None
        } else {
            Some(LargePayload { payload, len, end })
        };
        Encoded { text, large }
    }

    /// The message as serde writes it, with capacity for more.
    fn to_vec(&self, more: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(ENVELOPE_BYTES + more);
        serde_json::to_writer(&mut text, self).expect("messages have string keys only");
        text
    }
    /// About how many bytes this message occupies in memory.
    pub(crate) fn weight(&self) -> usize {
        let len = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.get().len());
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let fields = |extra: &Extra| -> usize {
            let fields = extra.iter();
            fields
                .map(|(key, value)| key.len() + value.get().len())
                .sum()
        };
        let payload = match self {
            Self::InvokeFunction(call) => {
                call.data.weight()
                    + call.function_id.len()
                    + len(&call.metadata)
                    + text(&call.baggage)
                    + fields(&call.extra)
            }
            Self::InvocationResult(result) => {
                let error = result.error.as_ref();
                result.result.as_ref().map_or(0, Payload::weight)
                    + result.function_id.len()
                    + error.map_or(0, |error| error.message.len() + text(&error.stacktrace))
                    + text(&result.baggage)
                    + fields(&result.extra)
            }
            Self::RegisterFunction(function) => {
                function.id.len()
                    + text(&function.description)
                    + len(&function.request_format)
                    + len(&function.response_format)
                    + len(&function.metadata)
                    + len(&function.invocation)
                    + fields(&function.extra)
            }
            Self::RegisterTrigger(trigger) => {
                trigger.config.get().len() + len(&trigger.metadata) + fields(&trigger.extra)
            }
            Self::RegisterTriggerType(spec) => {
                spec.description.len()
                    + len(&spec.trigger_request_format)
                    + len(&spec.call_request_format)
                    + fields(&spec.extra)
            }
            Self::Unknown(unknown) => unknown.text.get().len(),
            _ => 0,
        };
        payload + ENVELOPE_BYTES
    }

    /// The worker that made the call, if this is a call of a worker.
    pub(crate) fn caller(&self) -> Option<&Arc<str>> {
        match self {
            Self::InvokeFunction(call) => call.caller.as_ref(),
            _ => None,
        }
    }

    /// Whether it responds to a message of its recipient.
    pub(crate) fn is_reply(&self) -> bool {
        matches!(
            self,
            Self::InvocationResult(_)
                | Self::TriggerRegistrationResult(_)
                | Self::RegistrationRejected(_)
                | Self::Pong
        )
    }
}
