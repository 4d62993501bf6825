//! Cutting a large message into WebSocket frames.
//!
//! Engines close the socket on a frame above 16 MiB but take any number of
//! fragments; small frames also let the writer see that a large message moves.

use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Bytes, Message as Frames};

/// The largest frame that leaves.
pub(crate) const FRAGMENT: usize = 1 << 20;

/// What is left of a large message.
#[derive(Debug)]
pub(crate) struct Fragments {
    rest: Bytes,
    first: bool,
}

impl Fragments {
    pub(crate) fn new(text: String) -> Self {
        Self {
            rest: Bytes::from(text),
            first: true,
        }
    }

    /// The next frame, and whether it is the last.
    pub(crate) fn next(&mut self) -> (Frames, bool) {
        let mut cut = self.rest.len().min(FRAGMENT);
        // Between letters: some readers check each fragment by itself.
        while cut < self.rest.len() && self.rest[cut] & 0xC0 == 0x80 {
            cut -= 1;
        }
        let part = self.rest.split_to(cut);
        let kind = if std::mem::take(&mut self.first) {
            Data::Text
        } else {
            Data::Continue
        };
        let last = self.rest.is_empty();
        (
            Frames::Frame(Frame::message(part, OpCode::Data(kind), last)),
            last,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_end_between_letters_and_add_up() {
        let text = format!("a{}", "é".repeat(FRAGMENT));
        let mut fragments = Fragments::new(text.clone());
        let mut whole = String::new();
        for turn in 0.. {
            let (Frames::Frame(frame), last) = fragments.next() else {
                panic!("not a frame")
            };
            assert!(frame.payload().len() <= FRAGMENT);
            let kind = if turn == 0 {
                Data::Text
            } else {
                Data::Continue
            };
            assert_eq!(frame.header().opcode, OpCode::Data(kind));
            assert_eq!(frame.header().is_final, last);
            whole.push_str(std::str::from_utf8(frame.payload()).unwrap());
            if last {
                break;
            }
        }
        assert_eq!(whole, text);
    }
}
