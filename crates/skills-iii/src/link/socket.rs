//! Messages over a WebSocket, both ways in one task.
//!
//! Reading never waits for writing: two ends that both send much would
//! otherwise wait for each other. Everything that is ready goes out in one
//! flush.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Sink, Stream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message as Frames};

use super::fragment::{FRAGMENT, Fragments};
use super::pulse::{Heartbeat, Pulse, Sign};
use super::{Ended, Side, TURN};
use crate::message::{BadMessage, Message};
use crate::queue::{Next, Queue};

/// How long a polite goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// Buffers sized for many small messages at once; idle connections stay cheap.
pub(crate) fn socket_config(max_message_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(32 << 10)
        .write_buffer_size(64 << 10)
        .max_message_size(Some(max_message_bytes))
        .max_frame_size(Some(max_message_bytes))
}

pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    queue: Queue,
    pulse: Pulse,
    fragments: Option<Fragments>,
    question: bool,
    unflushed: bool,
}

impl Socket {
    pub(crate) fn new(
        stream: WebSocketStream<TcpStream>,
        queue: Queue,
        heartbeat: Heartbeat,
    ) -> Self {
        Self {
            stream,
            queue,
            pulse: Pulse::new(heartbeat),
            fragments: None,
            question: false,
            unflushed: false,
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>, side: &mut impl Side) -> Poll<Ended> {
        loop {
            let more = match self.poll_read(context, side) {
                Poll::Ready(Ok(())) => true,
                Poll::Ready(Err(ended)) => return Poll::Ready(ended),
                Poll::Pending => false,
            };
            side.poll(context);
            match self.poll_write(context) {
                Poll::Ready(Ok(())) => self.pulse.writing(false),
                Poll::Ready(Err(ended)) => return Poll::Ready(ended),
                Poll::Pending => self.pulse.writing(true),
            }
            if !more {
                break;
            }
        }
        match self.pulse.poll(context) {
            Poll::Ready(Sign::Silent) => return Poll::Ready(Ended::Silent),
            Poll::Ready(Sign::Stalled) => return Poll::Ready(Ended::Stalled),
            Poll::Ready(Sign::Ask) => {
                self.question = true;
                context.waker().wake_by_ref();
            }
            Poll::Pending => {}
        }
        Poll::Pending
    }

    /// Reads what is there, at most one turn; pending when there is no more.
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        side: &mut impl Side,
    ) -> Poll<Result<(), Ended>> {
        for _ in 0..TURN {
            let frame = match ready!(Pin::new(&mut self.stream).poll_next(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Err(error.into())),
                None => return Poll::Ready(Err(Ended::There)),
            };
            self.pulse.heard();
            let read = match &frame {
                Frames::Text(text) => Message::parse(text),
                Frames::Binary(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => Message::parse(text),
                    Err(_) => Err(BadMessage::NotText),
                },
                Frames::Ping(_) => {
                    // The library has the answer ready; it must be flushed.
                    self.unflushed = true;
                    continue;
                }
                Frames::Pong(_) | Frames::Frame(_) => continue,
                Frames::Close(_) => return Poll::Ready(Err(Ended::There)),
            };
            match read {
                Ok(message) => side.receive(message),
                Err(bad) => side.refuse(&bad),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what is waiting; pending when the other end does not take it.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        loop {
            let ready = Pin::new(&mut self.stream).poll_ready(context);
            if let Poll::Ready(Err(error)) = ready {
                return Poll::Ready(Err(error.into()));
            }
            if ready.is_pending() {
                // Blocked, but a reason to give up must still be heard.
                return match self.queue.poll_ended(context) {
                    Some(reason) => Poll::Ready(Err(Ended::Aborted(reason))),
                    None => Poll::Pending,
                };
            }
            let frame = match self.next_frame(context) {
                Poll::Ready(Ok(frame)) => frame,
                Poll::Ready(Err(ended)) => {
                    if matches!(ended, Ended::Here) && self.unflushed {
                        ready!(self.poll_flush(context))?;
                    }
                    return Poll::Ready(Err(ended));
                }
                Poll::Pending => break,
            };
            Pin::new(&mut self.stream)
                .start_send(frame)
                .map_err(Ended::from)?;
            self.pulse.writing(false);
            self.unflushed = true;
        }
        if self.unflushed {
            self.poll_flush(context)
        } else {
            Poll::Ready(Ok(()))
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context)).map_err(Ended::from)?;
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    fn next_frame(&mut self, context: &mut Context<'_>) -> Poll<Result<Frames, Ended>> {
        if let Some(fragments) = &mut self.fragments {
            let (frame, last) = fragments.next();
            if last {
                self.fragments = None;
            }
            return Poll::Ready(Ok(frame));
        }
        if std::mem::take(&mut self.question) {
            return Poll::Ready(Ok(Frames::Ping(Bytes::new())));
        }
        match ready!(self.queue.poll_next(context)) {
            Next::Message(message) => {
                let text = message.to_text();
                if text.len() <= FRAGMENT {
                    return Poll::Ready(Ok(Frames::text(text)));
                }
                let mut fragments = Fragments::new(text);
                let (frame, _) = fragments.next();
                self.fragments = Some(fragments);
                Poll::Ready(Ok(frame))
            }
            Next::Finished => Poll::Ready(Err(Ended::Here)),
            Next::Aborted(reason) => Poll::Ready(Err(Ended::Aborted(reason))),
        }
    }

    /// Says goodbye where there is somebody left to hear it.
    pub(crate) async fn close(&mut self, ended: &Ended) {
        let polite = matches!(ended, Ended::Here | Ended::There);
        if polite {
            let goodbye = async {
                self.stream.close(None).await?;
                // The other end's goodbye; without it, closing the socket could
                // cut off what it has not read yet.
                while let Some(frame) =
                    std::future::poll_fn(|context| Pin::new(&mut self.stream).poll_next(context))
                        .await
                {
                    frame?;
                }
                Ok::<_, Error>(())
            };
            let _late = tokio::time::timeout(GOODBYE, goodbye).await;
        }
    }
}
