//! The SDK's transport over lines of bytes.
//!
//! Reads a line only while the client's load is within its limits, and responds itself to lines
//! that are not valid messages. After the end of the input it waits for responses that are due.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::pending::{Batch, Line, Load, Pending};
use super::{DRAIN_STEPS, Limits};
use crate::client_message::{self, Decoded, Incoming};
use crate::jsonrpc::{self, ErrorResponse};
use crate::lines::{self, Lines};

/// How much is read at once.
const READ_BUFFER: usize = 64 << 10;

/// The client's end of the output.
pub struct Output<W> {
    writer: Mutex<W>,
    /// Cancelled when the client does not read any more.
    closed: CancellationToken,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            writer: Mutex::new(writer),
            closed: CancellationToken::new(),
        }
    }

    async fn write(self: Arc<Self>, mut line: Line) {
        line.text.push('\n');
        let mut writer = self.writer.lock().await;
        let written = async {
            writer.write_all(line.text.as_bytes()).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            // The client closed its end, which is one way to end a connection.
            tracing::debug!(%error, "cannot write to the client");
            self.closed.cancel();
        }
    }

    /// Closes the output once everything is written.
    pub async fn shutdown(&self) {
        let _ = self.writer.lock().await.shutdown().await;
    }
}

/// What ends a connection, and that it ended.
pub struct Signals {
    /// Cancelled to end it.
    pub stop: CancellationToken,
    /// Cancelled when the client can send nothing more than what waits to be read.
    pub hung_up: CancellationToken,
    /// Cancelled by the transport when the connection is over.
    pub ended: CancellationToken,
}

/// One connection, as the SDK sees it.
pub struct StdioTransport<R, W> {
    input: BufReader<R>,
    lines: Lines,
    output: Arc<Output<W>>,
    pending: Pending,
    /// Called with each request, in the order of arrival.
    on_request: Box<dyn Fn(&mut ClientRequest) + Send + Sync>,
    signals: Signals,
    is_input_closed: bool,
    /// Steps of the drain time-out in which nothing happened.
    silent_steps: u32,
    /// The version that `initialize` agreed on has batches.
    has_batches: bool,
    /// Messages for the SDK.
    decoded: VecDeque<ClientJsonRpcMessage>,
    /// Error responses that are being written.
    writes: JoinSet<()>,
}

impl<R, W> StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Reads `input` until it ends or a signal ends it.
    pub fn new(
        input: R,
        output: Arc<Output<W>>,
        limits: Limits,
        on_request: impl Fn(&mut ClientRequest) + Send + Sync + 'static,
        signals: Signals,
    ) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BUFFER, input),
            lines: Lines::new(limits.line),
            output,
            pending: Pending::new(limits),
            on_request: Box::new(on_request),
            signals,
            is_input_closed: false,
            silent_steps: 0,
            has_batches: false,
            decoded: VecDeque::new(),
            writes: JoinSet::new(),
        }
    }

    fn read_line(&mut self, line: lines::Line<'_>) {
        let bytes = match line {
            lines::Line::Whole(bytes) => bytes,
            lines::Line::TooLong => return self.refuse(&jsonrpc::line_too_long(), None),
        };
        match client_message::decode(&bytes) {
            Incoming::One(decoded) => self.accept(decoded, bytes.len(), None),
            Incoming::Batch(_) if !self.has_batches => {
                let problem = "this protocol version has no batches; send one message per line";
                let error = jsonrpc::invalid_request(problem);
                self.refuse(&ErrorResponse::without_id(error), None);
            }
            Incoming::Batch(messages) => {
                let has_response = |message: &&Decoded| match message {
                    Ok(message) => matches!(message.as_deref(), Some(JsonRpcMessage::Request(_))),
                    Err(_) => true,
                };
                let responses = messages.iter().filter(has_response).count();
                let batch = self.pending.add_batch(responses, bytes.len());
                for message in messages {
                    self.accept(message, 0, Some(&batch));
                }
            }
        }
    }

    fn accept(&mut self, decoded: Decoded, bytes: usize, batch: Option<&Arc<Batch>>) {
        let mut message = match decoded {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(error) => return self.refuse(&error, batch),
        };
        match &mut *message {
            JsonRpcMessage::Request(request) => {
                let is_subscription = matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                );
                let added = self.pending.add(&request.id, is_subscription, bytes, batch);
                if let Err(error) = added {
                    return self.refuse(&error, batch);
                }
                (self.on_request)(&mut request.request);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let line = self.pending.cancel(id);
                    self.write(line);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        self.decoded.push_back(*message);
    }

    fn refuse(&mut self, error: &ErrorResponse, batch: Option<&Arc<Batch>>) {
        let line = self.pending.refuse(error, batch);
        self.write(line);
    }

    fn write(&mut self, line: Option<Line>) {
        while self.writes.try_join_next().is_some() {}
        if let Some(line) = line {
            self.writes.spawn(Arc::clone(&self.output).write(line));
        }
    }
}

impl<R, W> Transport<RoleServer> for StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.has_batches = result.protocol_version <= ProtocolVersion::V_2025_03_26;
        }
        let text = jsonrpc::to_json(&message);
        let line = match message {
            JsonRpcMessage::Response(response) => self.pending.respond(&response.id, text),
            JsonRpcMessage::Error(error) => error.id.and_then(|id| self.pending.respond(&id, text)),
            JsonRpcMessage::Notification(_) | JsonRpcMessage::Request(_) => {
                Some(self.pending.line(text))
            }
        };
        let output = Arc::clone(&self.output);
        async move {
            if let Some(line) = line {
                output.write(line).await;
            }
            Ok(())
        }
    }

    // The SDK drops this future at any await; everything that was read is kept in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut load = self.pending.load();
        loop {
            if let Some(message) = self.decoded.pop_front() {
                return Some(message);
            }
            if self.is_input_closed {
                break;
            }
            let line = async {
                if has_room(&self.pending, &mut load, &self.signals.hung_up).await {
                    self.lines.next(&mut self.input).await
                } else {
                    Ok(None)
                }
            };
            tokio::select! {
                line = line => match line {
                    Ok(Some(line)) => self.read_line(line),
                    Ok(None) => self.is_input_closed = true,
                    Err(error) => {
                        tracing::error!(%error, "cannot read from the client");
                        self.is_input_closed = true;
                    }
                },
                () = self.signals.stop.cancelled() => self.is_input_closed = true,
                () = self.output.closed.cancelled() => break,
            }
        }
        while *load.borrow_and_update() != Load::default() && self.silent_steps < DRAIN_STEPS {
            tokio::select! {
                changed = timeout(self.pending.limits.drain / DRAIN_STEPS, load.changed()) => {
                    self.silent_steps = if changed.is_ok() { 0 } else { self.silent_steps + 1 };
                }
                () = self.output.closed.cancelled() => break,
            }
        }
        self.signals.ended.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until another line may be read. False if the client is gone: it hung up and reads nothing.
async fn has_room(
    pending: &Pending,
    load: &mut watch::Receiver<Load>,
    hung_up: &CancellationToken,
) -> bool {
    loop {
        if pending.has_room(&load.borrow_and_update()) {
            return true;
        }
        let gone = async {
            hung_up.cancelled().await;
            sleep(pending.limits.drain).await;
        };
        tokio::select! {
            changed = load.changed() => if changed.is_err() { return true },
            () = gone => return false,
        }
    }
}
