//! Requests as text, valid or not, to either port.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::TIMEOUT;

/// The headers of a WebSocket handshake, without a host.
pub const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Sends a request without a body and returns the connection with the status of the response;
/// `None` if there is no response.
pub async fn request(address: &str, head: &str) -> (TcpStream, Option<u16>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    let status = async {
        while !response.ends_with(b"\r\n\r\n") {
            response.push(stream.read_u8().await.ok()?);
        }
        let text = String::from_utf8_lossy(&response);
        text.split(' ').nth(1)?.parse().ok()
    };
    let status = timeout(TIMEOUT, status).await.unwrap();
    (stream, status)
}

/// Connects to the hub at `url` as a worker that has not introduced itself.
pub async fn connect_worker(url: &str) -> TcpStream {
    let address = url.strip_prefix("ws://").unwrap();
    let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}\r\n");
    let (stream, status) = request(address, &head).await;
    assert_eq!(status, Some(101));
    stream
}

/// Waits until everything that was sent before is processed: sends a ping and reads until the pong.
pub async fn wait_processed(stream: &mut TcpStream) {
    const PING: [u8; 6] = [0x89, 0x80, 0, 0, 0, 0];
    const PONG: [u8; 2] = [0x8a, 0];
    let pong = async {
        stream.write_all(&PING).await.unwrap();
        let mut last = [0; 2];
        while last != PONG {
            last = [last[1], stream.read_u8().await.unwrap()];
        }
    };
    timeout(TIMEOUT, pong).await.unwrap();
}
