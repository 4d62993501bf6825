//! Messages over a WebSocket.
//!
//! The reader, the writer and the heartbeat are futures of one task. The writer flushes once for
//! all messages that are queued.
//!
//! The reader pauses while the other end leaves unread what it asked for: replies
//! ([`Protocol::must_pause`]) or pongs. So an end that reads slowly is served at its pace, and
//! what waits for it stays bounded. Calls that others make to it do not count: an end that only
//! answers is always read from. Two ends that pause for each other do not wait forever: a pause
//! ends when nothing was written for a quarter of the write timeout, and an end that reads nothing
//! for the whole write timeout is dropped.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncWriteExt, copy};
use tokio::select;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message as Frame};

use super::fragment::{MAX_FRAGMENT_BYTES, frames};
use super::heartbeat::{Activity, Heartbeat};
use super::monitored::Monitored;
use super::{Ended, Protocol};
use crate::message::{BadMessage, Message};
use crate::queue::{Next, Queue};

/// Frames that are read before the writer gets a turn.
const MAX_FRAMES_PER_TURN: usize = 128;
/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes that are collected before they are written.
const WRITE_BUFFER_BYTES: usize = 64 << 10;

type Socket = WebSocketStream<Monitored>;

/// Buffers for many small messages at once; an idle connection still takes little memory.
///
/// The library reserves the announced length of a frame, so the largest frame also bounds the
/// address space of a connection.
pub(crate) fn socket_config(max_message_bytes: usize, max_frame_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(32 << 10)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        // A fragment, what was collected before it, and pongs: few, because the reader pauses for
        // them.
        .max_write_buffer_size(MAX_FRAGMENT_BYTES + 2 * WRITE_BUFFER_BYTES)
        .max_message_size(Some(max_message_bytes))
        .max_frame_size(Some(max_frame_bytes))
}

/// Sends the queued messages and receives the other end's until the connection ends.
pub(crate) async fn run_socket(
    socket: Socket,
    queue: Queue,
    heartbeat: Heartbeat,
    protocol: &mut impl Protocol,
) -> Ended {
    let activity = socket.get_ref().activity();
    let (mut sink, mut stream) = socket.split();
    let aborted = queue.aborted();
    let ended = select! {
        biased;
        ended = read(&mut stream, protocol, &activity, heartbeat.longest_pause()) => ended,
        ended = write(&mut sink, queue, &activity) => ended,
        ended = activity.monitor(heartbeat) => ended,
        reason = aborted => Ended::Aborted(reason),
    };
    let _ = match &ended {
        Ended::ClosedHere | Ended::ClosedThere => timeout(CLOSE_TIMEOUT, close(sink, stream)).await,
        Ended::Broken(Error::Capacity(too_large)) => {
            timeout(CLOSE_TIMEOUT, refuse(sink, stream, too_large)).await
        }
        _ => return ended,
    };
    ended
}

async fn close(
    mut sink: SplitSink<Socket, Frame>,
    mut stream: SplitStream<Socket>,
) -> Result<(), Error> {
    sink.close().await?;
    // Closing the socket before the other end's close frame arrives could discard messages that
    // it has not read yet.
    while let Some(frame) = stream.next().await {
        frame?;
    }
    Ok(())
}

/// Tells the other end that its frame or message is too large.
async fn refuse(
    mut sink: SplitSink<Socket, Frame>,
    stream: SplitStream<Socket>,
    too_large: &CapacityError,
) -> Result<(), Error> {
    let reason = match too_large {
        CapacityError::MessageTooLong { size, max_size } => {
            format!("a frame or message has {size} bytes, at most {max_size}; send fragments")
        }
        CapacityError::TooManyHeaders => too_large.to_string(),
    };
    let close = CloseFrame {
        code: CloseCode::Size,
        reason: reason.into(),
    };
    sink.send(Frame::Close(Some(close))).await?;
    let Ok(socket) = sink.reunite(stream) else {
        return Ok(());
    };
    let mut stream = socket.into_inner();
    stream.shutdown().await?;
    // Closing a socket with unread data may discard the close frame.
    copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}

async fn read(
    stream: &mut SplitStream<Socket>,
    protocol: &mut impl Protocol,
    activity: &Activity,
    longest_pause: Duration,
) -> Ended {
    // Whether the last pause ended although there is reason for it.
    let mut stalled = false;
    loop {
        for _ in 0..MAX_FRAMES_PER_TURN {
            let frame = match stream.next().await {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return error.into(),
                None => return Ended::ClosedThere,
            };
            let parsed = match &frame {
                Frame::Text(text) => Message::parse(text),
                Frame::Binary(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => Message::parse(text),
                    Err(_) => Err(BadMessage::NotText),
                },
                Frame::Ping(_) => {
                    // The library has queued the pong; the writer must flush it.
                    activity.wake_writer();
                    if activity.is_blocked() {
                        let is_blocked = || activity.is_blocked();
                        activity.pause(longest_pause, is_blocked).await;
                    }
                    continue;
                }
                Frame::Pong(_) | Frame::Frame(_) => continue,
                Frame::Close(_) => return Ended::ClosedThere,
            };
            match parsed {
                Ok(message) => protocol.receive(message),
                Err(problem) => protocol.receive_invalid(&problem),
            }
            protocol.ready().await;
            if !stalled && protocol.must_pause() {
                break;
            }
        }
        if protocol.must_pause() {
            let must_pause = || protocol.must_pause();
            stalled = activity.pause(longest_pause, must_pause).await;
            if stalled {
                protocol.pause_stalled();
            }
        } else {
            stalled = false;
            tokio::task::yield_now().await;
        }
    }
}

async fn write(
    sink: &mut SplitSink<Socket, Frame>,
    mut queue: Queue,
    activity: &Activity,
) -> Ended {
    loop {
        let mut next = select! {
            biased;
            next = queue.recv() => Some(next),
            ping = activity.writer_woken() => {
                if ping && let Err(error) = sink.feed(Frame::Ping(Bytes::new())).await {
                    return error.into();
                }
                None
            }
        };
        while let Some(received) = next {
            let message = match received {
                Next::Message(message) => message,
                Next::Finished => return Ended::ClosedHere,
                Next::Aborted(reason) => return Ended::Aborted(reason),
            };
            for frame in frames(message) {
                if let Err(error) = sink.feed(frame).await {
                    return error.into();
                }
            }
            next = queue.try_recv();
        }
        if let Err(error) = sink.flush().await {
            return error.into();
        }
        activity.wake_paused_reader();
    }
}
