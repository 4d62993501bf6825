//! A client that speaks lines of JSON and keeps what it was not waiting for.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use skills_mcp::RegistryServer;
use skills_mcp::stdio::{Limits, serve_on};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_mins(1);

type Input = Box<dyn AsyncWrite + Send + Unpin>;
type Output = Box<dyn AsyncRead + Send + Unpin>;

/// One client's end of a conversation.
pub struct TestClient {
    input: Input,
    lines: Lines<BufReader<Output>>,
    last_id: i64,
    /// Notices and answers that came while something else was waited for.
    kept: VecDeque<Value>,
    serving: Option<JoinHandle<std::io::Result<()>>>,
}

impl TestClient {
    /// With a handler in this process.
    pub fn with(handler: RegistryServer, stop: CancellationToken) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (output, input) = tokio::io::split(ours);
        let (their_input, their_output) = tokio::io::split(theirs);
        let serving = serve_on(handler, their_input, their_output, Limits::default(), stop);
        let mut client = Self::over(Box::new(input), Box::new(output));
        client.serving = Some(tokio::spawn(serving));
        client
    }

    /// Over somebody's input and output.
    pub fn over(input: Input, output: Output) -> Self {
        Self {
            input,
            lines: BufReader::new(output).lines(),
            last_id: 0,
            kept: VecDeque::new(),
            serving: None,
        }
    }

    pub async fn initialize(&mut self, version: &str) -> Value {
        let hello = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask("initialize", hello).await.unwrap();
        self.notify("notifications/initialized", json!({})).await;
        answer
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    async fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// Sends a request; answers its id.
    pub async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&request).await;
        id
    }

    /// Sends a request and waits for its result, or its error.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// The same with what a client of 2026-07-28 says with every request.
    pub async fn ask_modern(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.ask(method, modern(params)).await
    }

    pub async fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mut message = self.wait_for(|message| message["id"] == id).await;
        if message["error"].is_null() {
            Ok(message["result"].take())
        } else {
            Err(message["error"].take())
        }
    }

    /// The next notice of a method.
    pub async fn notice(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method).await["params"].take()
    }

    /// Whether such a notice came so far; a ping makes sure that all that was sent before
    /// has been read.
    pub async fn heard(&mut self, method: &str) -> bool {
        self.ask("ping", json!({})).await.unwrap();
        self.kept.iter().any(|message| message["method"] == method)
    }

    async fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let line = timeout(TIMEOUT, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("nothing came; kept: {:?}", self.kept));
            let line = line.unwrap().expect("the server is still there");
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// Closes the input and waits until the server is done.
    pub async fn end(self) {
        drop(self.input);
        drop(self.lines);
        if let Some(serving) = self.serving {
            timeout(TIMEOUT, serving).await.unwrap().unwrap().unwrap();
        }
    }
}

/// Parameters as a client of 2026-07-28 sends them.
pub fn modern(mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}
