//! Splits a message into WebSocket frames.
//!
//! Engines close the socket on a frame above 16 MiB but accept any number of fragments.

use tokio_tungstenite::tungstenite::protocol::frame::Frame as WebSocketFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Bytes, Message as Frame};

use crate::message::{Encoded, LargePayload, Message};

/// The largest frame that is sent.
pub(super) const MAX_FRAGMENT_BYTES: usize = 1 << 20;

/// The largest payload that is copied into the frame of its envelope.
const MAX_COPIED_BYTES: usize = MAX_FRAGMENT_BYTES - (64 << 10);

/// The frames of a message: one, unless it is large.
pub(super) fn frames(message: Message) -> impl Iterator<Item = Frame> + Send {
    let Encoded { text, large } = message.encode(MAX_COPIED_BYTES);
    let mut parts = vec![Bytes::from(text)];
    if let Some(LargePayload { payload, len, end }) = large {
        parts.push(Bytes::from_owner(payload).slice(..len));
        parts.push(Bytes::from(end));
    }
    fragments(parts)
}

fn fragments(parts: Vec<Bytes>) -> impl Iterator<Item = Frame> + Send {
    let mut parts = parts.into_iter().peekable();
    let mut kind = Data::Text;
    std::iter::from_fn(move || {
        let rest = parts.peek_mut()?;
        let mut cut = rest.len().min(MAX_FRAGMENT_BYTES);
        // Not inside a character: some readers check each fragment by itself.
        while cut < rest.len() && rest[cut] & 0xC0 == 0x80 {
            cut -= 1;
        }
        let part = rest.split_to(cut);
        if rest.is_empty() {
            parts.next();
        }
        let opcode = OpCode::Data(std::mem::replace(&mut kind, Data::Continue));
        let is_final = parts.peek().is_none();
        Some(Frame::Frame(WebSocketFrame::message(
            part, opcode, is_final,
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{InvokeFunction, Raw};

    /// The payloads of the frames, joined.
    #[track_caller]
    fn join(frames: Vec<Frame>) -> String {
        let mut whole = String::new();
        let count = frames.len();
        for (number, frame) in frames.into_iter().enumerate() {
            let Frame::Frame(frame) = frame else {
                panic!("not a frame")
            };
            assert!(frame.payload().len() <= MAX_FRAGMENT_BYTES);
            let kind = if number == 0 {
                Data::Text
            } else {
                Data::Continue
            };
            assert_eq!(frame.header().opcode, OpCode::Data(kind));
            assert_eq!(frame.header().is_final, number + 1 == count);
            whole.push_str(std::str::from_utf8(frame.payload()).unwrap());
        }
        whole
    }

    #[test]
    fn fragments_end_between_characters_and_add_up() {
        let text = format!("a{}", "é".repeat(MAX_FRAGMENT_BYTES));
        let parts = vec![Bytes::from(text.clone()), Bytes::from("end")];
        assert_eq!(join(fragments(parts).collect()), text + "end");
    }

    #[test]
    fn a_message_is_one_frame_unless_its_payload_is_large() {
        for (bytes, count) in [
            (20, 1),
            // The caller's field takes the place of the brace.
            (MAX_COPIED_BYTES + 1, 1),
            (MAX_COPIED_BYTES + 2, 3),
            (2 * MAX_FRAGMENT_BYTES, 4),
        ] {
            let data = format!(
                r#"{{"text":"{}"}}"#,
                "x".repeat(bytes - r#"{"text":""}"#.len())
            );
            let raw: Raw = serde_json::from_str(&data).unwrap();
            let mut call = InvokeFunction::new("a::b", raw);
            call.caller = Some("w".into());
            let frames: Vec<_> = frames(Message::InvokeFunction(Box::new(call))).collect();
            assert_eq!(frames.len(), count, "{bytes}");
            let whole: serde_json::Value = serde_json::from_str(&join(frames)).unwrap();
            assert_eq!(
                whole["data"]["text"].as_str().unwrap().len(),
                data.len() - 11
            );
            assert_eq!(whole["data"]["_caller_worker_id"], "w");
        }
    }
}
