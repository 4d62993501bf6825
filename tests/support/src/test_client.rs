//! An MCP client that writes and reads lines of JSON, and keeps messages until a test wants them.

use std::collections::VecDeque;

use rmcp::ServerHandler;
use serde_json::{Value, json};
use skills_mcp::stdio::{Limits, serve_on};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::TIMEOUT;

type Input = Box<dyn AsyncWrite + Send + Unpin>;
type Output = Box<dyn AsyncRead + Send + Unpin>;

/// The client's side of one session.
pub struct TestClient {
    input: Input,
    lines: Lines<BufReader<Output>>,
    last_id: i64,
    /// Messages that arrived while another one was awaited.
    unclaimed: VecDeque<Value>,
    serving: Option<JoinHandle<()>>,
}

impl TestClient {
    /// A client of a handler in this process.
    pub fn serve(handler: impl ServerHandler + Clone, stop: CancellationToken) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (output, input) = tokio::io::split(near);
        let (server_input, server_output) = tokio::io::split(far);
        let serving = serve_on(
            handler,
            server_input,
            server_output,
            Limits::default(),
            stop,
        );
        let mut client = Self::over(Box::new(input), Box::new(output));
        client.serving = Some(tokio::spawn(serving));
        client
    }

    /// A client of a server with these streams.
    pub fn over(input: Input, output: Output) -> Self {
        Self {
            input,
            lines: BufReader::new(output).lines(),
            last_id: 0,
            unclaimed: VecDeque::new(),
            serving: None,
        }
    }

    /// Initializes the session; returns the server's result.
    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let result = self.request("initialize", params).await.unwrap();
        self.notify("notifications/initialized", json!({})).await;
        result
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.write(&message).await;
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// Sends a request; returns its id.
    pub async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request).await;
        id
    }

    /// Sends a request and waits for its result or its error.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    /// Sends a request as [`stateless`] has it.
    pub async fn request_stateless(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.request(method, stateless(params)).await
    }

    /// Waits for the response to a request.
    pub async fn response(&mut self, id: i64) -> Result<Value, Value> {
        let mut message = self.wait_for(|message| message["id"] == id).await;
        if message["error"].is_null() {
            Ok(message["result"].take())
        } else {
            Err(message["error"].take())
        }
    }

    /// Waits for the next notification with this method; returns its params.
    pub async fn notification(&mut self, method: &str) -> Value {
        let message = self.wait_for(|message| message["method"] == method);
        message.await["params"].take()
    }

    /// Whether a notification with this method has arrived. A ping makes sure that everything sent
    /// before it has been read.
    pub async fn has_notification(&mut self, method: &str) -> bool {
        self.request("ping", json!({})).await.unwrap();
        let mut unclaimed = self.unclaimed.iter();
        unclaimed.any(|message| message["method"] == method)
    }

    async fn wait_for(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unclaimed.iter().position(&matches) {
            return self.unclaimed.remove(at).unwrap();
        }
        loop {
            let line = timeout(TIMEOUT, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("timed out; read: {:?}", self.unclaimed));
            let line = line.unwrap().expect("the server closed its output");
            let message: Value = serde_json::from_str(&line).unwrap();
            if matches(&message) {
                return message;
            }
            self.unclaimed.push_back(message);
        }
    }

    /// Closes the streams and waits until the server has ended.
    pub async fn close(self) {
        drop(self.input);
        drop(self.lines);
        if let Some(serving) = self.serving {
            timeout(TIMEOUT, serving).await.unwrap().unwrap();
        }
    }
}

/// Params with the `_meta` that protocol version 2026-07-28 wants in every request.
pub fn stateless(mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}
