//! An MCP server over HTTP, and raw requests to it, valid or not.

use std::fmt::Write;
use std::net::SocketAddr;

use rmcp::ServerHandler;
use serde_json::Value;
use skills_access::Connections;
use skills_mcp::http::{self, HttpOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::TIMEOUT;

/// Headers of a request.
pub type Headers<'a> = [(&'a str, &'a str)];

/// A server on a free port.
pub struct HttpServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// Cancel it to begin the shutdown.
    pub shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// Serves a handler.
    pub async fn start(handler: impl ServerHandler + Clone, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let router = http::router(handler, options, shutdown.clone());
        let connections = Connections::new(1000);
        let task = tokio::spawn(http::serve(listener, router, connections, shutdown.clone()));
        Self {
            address,
            shutdown,
            task,
        }
    }

    /// Shuts it down and waits until every connection is closed.
    pub async fn stop(self) {
        self.shutdown.cancel();
        timeout(TIMEOUT, self.task).await.unwrap().unwrap();
    }

    /// Connects and sends nothing.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request and leaves the connection open.
    pub async fn open(&self, method: &str, headers: &Headers<'_>, body: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let text = request_text(self.address, method, headers, body);
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request on a connection of its own and reads the response.
    pub async fn request(&self, method: &str, headers: &Headers<'_>, body: &str) -> HttpResponse {
        let mut headers = headers.to_vec();
        headers.push(("Connection", "close"));
        let mut stream = self.open(method, &headers, body).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        timeout(TIMEOUT, read).await.unwrap().unwrap();
        HttpResponse::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Sends a POST.
    pub async fn post(&self, headers: &Headers<'_>, body: &str) -> HttpResponse {
        self.request("POST", headers, body).await
    }
}

/// The default headers come first, and only where `headers` does not name them.
fn request_text(address: SocketAddr, method: &str, headers: &Headers<'_>, body: &str) -> String {
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

/// A response as it was received.
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    head: String,
    /// The body, with the framing of chunks if there is any.
    pub body: String,
}

impl HttpResponse {
    fn parse(text: &str) -> Self {
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("not a response: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The JSON-RPC message in the body: plain JSON, or the last event that has one.
    pub fn message(&self) -> Value {
        let lines = self.body.lines().rev();
        let mut texts = lines.map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let text = texts.find(|text| text.starts_with('{'));
        let text = text.unwrap_or_else(|| panic!("no message in {:?}", self.body));
        serde_json::from_str(text).unwrap()
    }
}
