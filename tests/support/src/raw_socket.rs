//! A worker's socket that sends bytes as they are: valid frames, parts of frames, or anything else.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// A WebSocket after its handshake.
pub struct RawSocket {
    stream: TcpStream,
}

impl RawSocket {
    /// Connects a worker.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Self::connect_to(address, "/").await
    }

    /// Connects to a path.
    pub async fn connect_to(address: SocketAddr, path: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            let head = String::from_utf8_lossy(&head).into_owned();
            return Err(io::Error::other(head));
        }
        Ok(Self { stream })
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// The two directions. What is received has the framing of WebSocket.
    pub fn split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        self.stream.into_split()
    }

    /// The sending direction, while a task reads and discards what is received.
    pub fn discard_received(self) -> (OwnedWriteHalf, JoinHandle<()>) {
        let (mut receiver, sender) = self.split();
        let discard = async move { drop(copy(&mut receiver, &mut sink()).await) };
        (sender, tokio::spawn(discard))
    }
}

/// A text frame.
pub fn text_frame(text: &str) -> Vec<u8> {
    frame(0x81, text.as_bytes())
}

/// A text frame with a message.
pub fn json_frame(message: &Value) -> Vec<u8> {
    text_frame(&message.to_string())
}

/// A frame with a ping of 125 bytes.
pub fn ping_frame() -> Vec<u8> {
    frame(0x89, &[b'p'; 125])
}

/// A frame of a client. The mask is zero, which leaves the payload as it is.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = frame_header(first, payload.len() as u64);
    frame.extend_from_slice(payload);
    frame
}

/// The header of a frame that announces so many bytes.
pub fn frame_header(first: u8, length: u64) -> Vec<u8> {
    let mut header = vec![first];
    if let Ok(length @ 0..126) = u8::try_from(length) {
        header.push(0x80 | length);
    } else if let Ok(length) = u16::try_from(length) {
        header.push(0x80 | 0x7E);
        header.extend_from_slice(&length.to_be_bytes());
    } else {
        header.push(0x80 | 0x7F);
        header.extend_from_slice(&length.to_be_bytes());
    }
    header.extend_from_slice(&[0; 4]);
    header
}

/// A call that is answered.
pub fn call(function: &str, data: &Value) -> Vec<u8> {
    json_frame(
        &json!({ "type": "invokefunction", "function_id": function, "data": data,
        "invocation_id": Uuid::new_v4() }),
    )
}

/// A call without an answer.
pub fn void_call(function: &str, data: &Value) -> Vec<u8> {
    json_frame(
        &json!({ "type": "invokefunction", "function_id": function, "data": data,
        "invocation_id": null, "action": { "type": "void" } }),
    )
}

/// The introduction of a worker.
pub fn introduction(name: &str) -> Vec<u8> {
    void_call(
        "engine::workers::register",
        &json!({ "name": name, "runtime": "raw" }),
    )
}
