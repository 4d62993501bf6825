//! The SDK's transport over lines of bytes.

use std::collections::VecDeque;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::STEPS;
use super::books::Turn;
use super::desk::Desk;
use super::outbox::Outgoing;
use crate::lines::{Line, Lines};
use crate::message::{self, INVALID_REQUEST, Incoming, PARSE_ERROR, Refusal};

/// One conversation, seen from the SDK.
pub struct Wire<R> {
    input: BufReader<R>,
    lines: Lines,
    line_max: usize,
    outbox: Sender<Outgoing>,
    desk: Desk,
    stop: CancellationToken,
    /// Whether a tool changes nothing.
    only_reads: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Cancelled for the handlers when the conversation is over.
    work: CancellationToken,
    /// Cancelled for whoever runs the conversation when it is over.
    ended: CancellationToken,
    /// Whether there is nothing more to read.
    closed: bool,
    /// Steps of the grace, after that, in which nothing happened.
    silent: u32,
    /// For the handler, in order.
    ready: VecDeque<ClientJsonRpcMessage>,
    /// For the client: what was answered here.
    refused: VecDeque<Outgoing>,
}

impl<R: AsyncRead + Send + Unpin> Wire<R> {
    /// Reads `input` and answers into `outbox`.
    pub fn new(input: R, outbox: Sender<Outgoing>, desk: Desk, stop: CancellationToken) -> Self {
        let line_max = desk.limits().line;
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            lines: Lines::new(line_max),
            line_max,
            outbox,
            desk,
            stop,
            only_reads: Box::new(|_| false),
            work: CancellationToken::new(),
            ended: CancellationToken::new(),
            closed: false,
            silent: 0,
            ready: VecDeque::new(),
            refused: VecDeque::new(),
        }
    }

    /// Which tools change nothing.
    pub fn reads_with(mut self, only_reads: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.only_reads = Box::new(only_reads);
        self
    }

    /// Who is told when the conversation is over: the handlers, and whoever runs it.
    pub fn ends(mut self, work: CancellationToken, ended: CancellationToken) -> Self {
        (self.work, self.ended) = (work, ended);
        self
    }

    fn line(&mut self, line: Line<'_>) {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong => {
                let message = format!("Parse error: a line is longer than {} bytes", self.line_max);
                return self.refuse(&Refusal::nameless(PARSE_ERROR, message), None);
            }
        };
        match message::read(&bytes) {
            Incoming::Batch(items) => self.batch(items, bytes.len()),
            incoming => self.incoming(incoming, bytes.len(), None),
        }
    }

    fn batch(&mut self, items: Vec<Incoming>, bytes: usize) {
        if !self.desk.takes_batches() {
            let message = "Invalid Request: this version of the protocol has no batches; send one message a line";
            return self.refuse(&Refusal::nameless(INVALID_REQUEST, message), None);
        }
        let answered =
            |item: &&Incoming| matches!(item, Incoming::Request(_) | Incoming::Refused(_));
        let answers = items.iter().filter(answered).count();
        let each = bytes / items.len().max(1);
        let batch = (answers > 0).then(|| self.desk.open_batch(answers));
        for item in items {
            self.incoming(item, each, batch);
        }
    }

    fn incoming(&mut self, incoming: Incoming, bytes: usize, batch: Option<u64>) {
        match incoming {
            Incoming::Request(request) => {
                let turn = self.turn(&request.request);
                if let Err(refusal) = self.desk.take(*request, turn, bytes, batch) {
                    self.refuse(&refusal, batch);
                }
            }
            Incoming::Notification(notification) => {
                let message = ClientJsonRpcMessage::notification(notification);
                self.ready.push_back(message);
            }
            Incoming::Cancelled(cancelled) => {
                let (tell, answers) = self.desk.cancel(&cancelled);
                self.ready.extend(tell);
                self.refused.extend(answers);
            }
            Incoming::Refused(refusal) => self.refuse(&refusal, batch),
            Incoming::Nothing | Incoming::Batch(_) => {}
        }
    }

    fn refuse(&mut self, refusal: &Refusal, batch: Option<u64>) {
        self.refused.extend(self.desk.refuse(refusal, batch));
    }

    fn turn(&self, request: &ClientRequest) -> Turn {
        match request {
            ClientRequest::SubscriptionsListenRequest(_) => Turn::Listen,
            ClientRequest::CallToolRequest(call) if (self.only_reads)(&call.params.name) => {
                Turn::Read
            }
            // What follows it is answered in the version that it agrees on.
            ClientRequest::InitializeRequest(_) | ClientRequest::CallToolRequest(_) => Turn::Write,
            ClientRequest::CompleteRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::ListToolsRequest(_) => Turn::Read,
            ClientRequest::CustomRequest(custom) if custom.method.contains('/') => Turn::Read,
            _ => Turn::Any,
        }
    }

    /// The conversation is over: nobody need work any more.
    fn end(&mut self) -> Option<ClientJsonRpcMessage> {
        self.work.cancel();
        self.ended.cancel();
        None
    }
}

/// What a conversation waits for.
enum Event {
    Line(io::Result<Option<Line<'static>>>),
    /// There is nothing more to read.
    Closed,
    /// There is nobody to answer, or nothing that will be answered soon.
    Gone,
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Wire<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.desk.answer(message);
        let outbox = self.outbox.clone();
        async move {
            let Some(outgoing) = outgoing else {
                return Ok(());
            };
            let sent = outbox.send(outgoing).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    // Dropped at any await without loss: whatever was read is kept in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.desk.is_client_gone() {
                return self.end();
            }
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let mut look_again = match self.desk.next() {
                Ok(message) => {
                    self.silent = 0;
                    return Some(message);
                }
                Err(when) => when.map(Instant::from_std),
            };
            if self.closed && self.refused.is_empty() && !self.desk.is_busy() {
                return self.end();
            }
            let deadline = Instant::now() + self.desk.limits().grace / STEPS;
            let gives_up = self.closed && look_again.is_none_or(|when| deadline < when);
            if gives_up {
                look_again = Some(deadline);
            }
            let reads = !self.closed && self.desk.has_room();
            let wake = look_again.unwrap_or(deadline);
            let event = tokio::select! {
                line = self.lines.next(&mut self.input), if reads => Event::Line(line),
                room = self.outbox.reserve(), if !self.refused.is_empty() => {
                    if let (Ok(room), Some(refused)) = (room, self.refused.pop_front()) {
                        room.send(refused);
                        continue;
                    }
                    Event::Gone
                }
                () = self.desk.changed() => {
                    self.silent = 0;
                    continue;
                }
                () = self.stop.cancelled(), if !self.closed => Event::Closed,
                () = sleep_until(wake), if look_again.is_some() => {
                    self.silent += u32::from(gives_up);
                    if self.silent < STEPS {
                        continue;
                    }
                    Event::Gone
                }
            };
            match event {
                Event::Line(Ok(Some(line))) => self.line(line),
                Event::Line(Ok(None)) | Event::Closed => self.closed = true,
                Event::Line(Err(error)) => {
                    self.desk.reading_fails(error);
                    self.closed = true;
                }
                Event::Gone => return self.end(),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
