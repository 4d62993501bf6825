//! A client over HTTP that can be as rude as a test needs.

use std::net::SocketAddr;
use std::time::Duration;

use rmcp::ServerHandler;
use serde_json::Value;
use skills_mcp::http::{self, HttpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Nothing here takes as long.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A server on a free port.
pub struct Server {
    pub address: SocketAddr,
    pub stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(handler: impl ServerHandler + Clone, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let router = http::router(handler, options, stop.clone());
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            let server = axum::serve(listener, router).with_graceful_shutdown(stopped);
            server.await.unwrap();
        });
        Self {
            address,
            stop,
            task,
        }
    }

    /// Asks it to stop, and waits until it has.
    pub async fn end(self) {
        self.stop.cancel();
        timeout(TIMEOUT, self.task).await.unwrap().unwrap();
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Begins a request and leaves the connection open.
    pub async fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let text = request(self.address, method, headers, body);
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut headers = headers.to_vec();
        headers.push(("Connection", "close"));
        let mut stream = self.open(method, &headers, body).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        timeout(TIMEOUT, read).await.unwrap().unwrap();
        Answer::parse(&String::from_utf8_lossy(&bytes))
    }

    pub async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.ask("POST", headers, body).await
    }
}

fn request(address: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> String {
    use std::fmt::Write;
    let mut text = format!("{method} /mcp HTTP/1.1\r\n");
    for (name, value) in [
        ("Host", address.to_string().as_str()),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("Content-Length", body.len().to_string().as_str()),
    ] {
        if !headers.iter().any(|(given, _)| *given == name) {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    text + "\r\n" + body
}

pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The message in it: plain JSON, or the last event that has one.
    pub fn message(&self) -> Value {
        let lines = self.body.lines().rev();
        let mut texts = lines.map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let text = texts.find(|text| text.starts_with('{'));
        let text = text.unwrap_or_else(|| panic!("no message in {:?}", self.body));
        serde_json::from_str(text).unwrap()
    }
}
