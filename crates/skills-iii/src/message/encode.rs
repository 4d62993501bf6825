//! Writes a [`Message`] as a frame.

use super::caller::{append_caller, without_caller};
use super::{Extra, Message, Raw};

/// Bytes of a message besides its payload, about.
const ENVELOPE_BYTES: usize = 256;

impl Message {
    /// The frame of this message.
    pub fn to_text(&self) -> String {
        if let Self::Unknown(unknown) = self {
            return unknown.text.get().to_owned();
        }
        if let Self::InvokeFunction(call) = self
            && let Some(data) = call
                .caller
                .as_ref()
                .and_then(|_| without_caller(&call.data))
        {
            let mut call = call.clone();
            call.data = data.into();
            return Self::InvokeFunction(call).to_text();
        }
        let mut text = serde_json::to_string(self).expect("messages have string keys only");
        if let Self::InvokeFunction(call) = self
            && let Some(caller) = &call.caller
            && call.data.get().starts_with('{')
        {
            // The payload is the last field: only the end of the message follows it.
            text.pop();
            append_caller(&mut text, caller);
            text.push('}');
        }
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
                len(&result.result)
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
