//! Writes a [`Message`] as a frame.

use super::caller::{append_caller, without_caller};
use super::{Message, Raw};

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
            call.data = data;
            return Self::InvokeFunction(call).to_text();
        }
        let mut text = Vec::with_capacity(self.weight());
        serde_json::to_writer(&mut text, self).expect("messages have string keys only");
        let mut text = String::from_utf8(text).expect("JSON is UTF-8");
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
        let payload = match self {
            Self::InvokeFunction(call) => call.data.get().len() + len(&call.metadata),
            Self::InvocationResult(result) => {
                len(&result.result) + result.error.as_ref().map_or(0, |error| error.message.len())
            }
            Self::RegisterFunction(function) => {
                len(&function.request_format)
                    + len(&function.response_format)
                    + len(&function.metadata)
            }
            Self::RegisterTrigger(trigger) => trigger.config.get().len() + len(&trigger.metadata),
            Self::RegisterTriggerType(spec) => {
                len(&spec.trigger_request_format) + len(&spec.call_request_format)
            }
            Self::Unknown(unknown) => unknown.text.get().len(),
            _ => 0,
        };
        payload + ENVELOPE_BYTES
    }
}
