//! Splits a message into WebSocket frames.
//!
//! Engines close the socket on a frame above 16 MiB but accept any number of fragments.

use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// The largest frame that is sent.
pub(super) const MAX_FRAGMENT_BYTES: usize = 1 << 20;

/// The frames of a message: one, unless it is large.
pub(super) fn fragments(text: String) -> impl Iterator<Item = Message> + Send {
    let mut rest = Bytes::from(text);
    let mut kind = Data::Text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut cut = rest.len().min(MAX_FRAGMENT_BYTES);
        // Not inside a character: some readers check each fragment by itself.
        while cut < rest.len() && rest[cut] & 0xC0 == 0x80 {
            cut -= 1;
        }
        let part = rest.split_to(cut);
        let opcode = OpCode::Data(std::mem::replace(&mut kind, Data::Continue));
        Some(Message::Frame(Frame::message(
            part,
            opcode,
            rest.is_empty(),
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_end_between_characters_and_add_up() {
        let text = format!("a{}", "é".repeat(MAX_FRAGMENT_BYTES));
        let frames: Vec<_> = fragments(text.clone()).collect();
        let mut whole = String::new();
        for (number, frame) in frames.iter().enumerate() {
            let Message::Frame(frame) = frame else {
                panic!("not a frame")
            };
            assert!(frame.payload().len() <= MAX_FRAGMENT_BYTES);
            let kind = if number == 0 {
                Data::Text
            } else {
                Data::Continue
            };
            assert_eq!(frame.header().opcode, OpCode::Data(kind));
            assert_eq!(frame.header().is_final, number + 1 == frames.len());
            whole.push_str(std::str::from_utf8(frame.payload()).unwrap());
        }
        assert_eq!(whole, text);
    }
}
