//! A client that behaves, and the time that its calls take.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::engine::Peer;
use crate::process::Addresses;

/// A call without an answer for this long counts as unanswered.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The kinds of calls that a good client makes.
pub const KINDS: [&str; 3] = ["read", "write", "http"];

/// A worker that reads and writes, and an HTTP client.
pub struct GoodClient {
    peer: Peer,
    http: SocketAddr,
    writes: u64,
}

/// The times of the calls of each kind, and the calls without an answer.
#[derive(Default)]
pub struct Times {
    answered: [Vec<Duration>; KINDS.len()],
    /// Errors and time-outs.
    pub failures: Vec<String>,
}

impl GoodClient {
    /// Connects, and registers the skill that is read.
    pub async fn connect(addresses: &Addresses) -> Self {
        let peer = Peer::connect(&addresses.url, "good").await;
        peer.register_skill("good", "# Good\n\nA skill to read.\n")
            .await;
        Self {
            peer,
            http: addresses.http,
            writes: 0,
        }
    }

    /// Makes calls of every kind, one after the other, for this long.
    pub async fn run(&mut self, duration: Duration) -> Times {
        let mut times = Times::default();
        let end = Instant::now() + duration;
        while Instant::now() < end {
            for (kind, name) in KINDS.iter().enumerate() {
                let start = Instant::now();
                let answer = timeout(ANSWER_TIMEOUT, self.call(kind)).await;
                match answer.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
                    Ok(()) => times.answered[kind].push(start.elapsed()),
                    Err(error) => times.failures.push(format!("{name}: {error}")),
                }
            }
        }
        times
    }

    async fn call(&mut self, kind: usize) -> Result<(), String> {
        match kind {
            0 => self.peer.read("iii://good").await.map(drop),
            1 => {
                self.writes += 1;
                // A few skills, each written again and again.
                let id = format!("written/{}", self.writes % 16);
                let skill = json!({ "id": id, "skill": format!("# Write {}", self.writes) });
                self.peer.call("skills::register", skill).await.map(drop)
            }
            _ => self.list_tools().await,
        }
    }

    /// One MCP request on a connection of its own, without a session.
    async fn list_tools(&self) -> Result<(), String> {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "good", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} } } })
            .to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/list\r\nContent-Length: {}\r\n\r\n{body}",
            self.http,
            body.len()
        );
        let exchange = async {
            let mut stream = TcpStream::connect(self.http).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut response = Vec::new();
            stream.read_to_end(&mut response).await?;
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&response).into_owned())
        };
        let response = exchange.await.map_err(|error| error.to_string())?;
        if response.starts_with("HTTP/1.1 200") && response.contains("\"tools\":") {
            Ok(())
        } else {
            Err(response.chars().take(300).collect())
        }
    }
}

impl Times {
    /// How many calls were answered.
    pub fn answers(&self) -> usize {
        self.answered.iter().map(Vec::len).sum()
    }

    /// The median of one kind, if there was an answer.
    pub fn median(&self, kind: usize) -> Option<Duration> {
        let mut times = self.answered[kind].clone();
        times.sort();
        times.get(times.len() / 2).copied()
    }
}
