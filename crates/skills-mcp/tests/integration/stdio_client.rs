//! A client of the stdio transport over in-memory pipes, for lines that are not valid messages too.

use serde_json::Value;
use skills_mcp::stdio::{self, Limits};
use skills_test_support::TIMEOUT;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::fake_handler::FakeHandler;

/// The default limits, with deadlines that no test reaches.
pub fn limits() -> Limits {
    Limits {
        drain: TIMEOUT,
        order: TIMEOUT,
        ..Limits::default()
    }
}

pub struct StdioClient {
    to: Option<DuplexStream>,
    from: Lines<BufReader<DuplexStream>>,
    pub stop: CancellationToken,
    server: JoinHandle<()>,
}

impl StdioClient {
    pub fn new(handler: &FakeHandler, limits: Limits) -> Self {
        Self::with_buffer(handler, limits, 1 << 20)
    }

    pub fn with_buffer(handler: &FakeHandler, limits: Limits, buffer: usize) -> Self {
        let (to, input) = tokio::io::duplex(buffer);
        let (output, from) = tokio::io::duplex(buffer);
        let stop = CancellationToken::new();
        let server = stdio::serve_on(handler.clone(), input, output, limits, stop.clone());
        Self {
            to: Some(to),
            from: BufReader::new(from).lines(),
            stop,
            server: tokio::spawn(server),
        }
    }

    pub async fn send(&mut self, line: impl AsRef<[u8]>) {
        let mut bytes = line.as_ref().to_vec();
        bytes.push(b'\n');
        self.send_raw(&bytes).await;
    }

    pub async fn send_raw(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        timeout(TIMEOUT, to.write_all(bytes))
            .await
            .unwrap()
            .unwrap();
    }

    /// Takes the client's output, to write from another task.
    pub fn take_input(&mut self) -> DuplexStream {
        self.to.take().unwrap()
    }

    /// The next line, unparsed.
    pub async fn line(&mut self) -> Option<String> {
        timeout(TIMEOUT, self.from.next_line())
            .await
            .unwrap()
            .unwrap()
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await.unwrap()).unwrap()
    }

    /// Closes the input; returns the remaining lines, and checks that the server ends.
    pub async fn close(mut self) -> Vec<String> {
        drop(self.to.take());
        let mut rest = Vec::new();
        while let Some(line) = self.line().await {
            rest.push(line);
        }
        self.wait().await;
        rest
    }

    /// Waits for the end of the server.
    pub async fn wait(self) {
        timeout(TIMEOUT, self.server).await.unwrap().unwrap();
    }

    /// Closes the output of the server.
    pub fn stop_reading(self) -> (Option<DuplexStream>, JoinHandle<()>) {
        (self.to, self.server)
    }
}
