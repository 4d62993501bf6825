//! Messages over a WebSocket.
//!
//! The reader, the writer and the heartbeat are futures of one task. Reading never waits for
//! writing: two ends that both send much would otherwise wait for each other. The writer flushes
//! once for all messages that are queued.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::select;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message as Frame};

use super::fragment::fragments;
use super::heartbeat::{Activity, Heartbeat};
use super::{Ended, Protocol};
use crate::message::{BadMessage, Message};
use crate::queue::{Next, Queue};

/// Frames that are read before the writer gets a turn.
const MAX_FRAMES_PER_TURN: usize = 128;
/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TcpStream>;

/// Buffers for many small messages at once; an idle connection still takes little memory.
pub(crate) fn socket_config(max_message_bytes: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(32 << 10)
        .write_buffer_size(64 << 10)
        .max_message_size(Some(max_message_bytes))
        .max_frame_size(Some(max_message_bytes))
}

/// Sends the queued messages and receives the other end's until the connection ends.
pub(crate) async fn run_socket(
    socket: Socket,
    queue: Queue,
    heartbeat: Heartbeat,
    protocol: &mut impl Protocol,
) -> Ended {
    let (mut sink, mut stream) = socket.split();
    let activity = Activity::default();
    let aborted = queue.aborted();
    let ended = select! {
        biased;
        ended = read(&mut stream, protocol, &activity) => ended,
        ended = write(&mut sink, queue, &activity) => ended,
        ended = activity.monitor(heartbeat) => ended,
        reason = aborted => Ended::Aborted(reason),
    };
    if matches!(ended, Ended::ClosedHere | Ended::ClosedThere) {
        let close = async {
            sink.close().await?;
            // Closing the socket before the other end's close frame arrives could discard
            // messages that it has not read yet.
            while let Some(frame) = stream.next().await {
                frame?;
            }
            Ok::<_, Error>(())
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, close).await;
    }
    ended
}

async fn read(
    stream: &mut SplitStream<Socket>,
    protocol: &mut impl Protocol,
    activity: &Activity,
) -> Ended {
    loop {
        for _ in 0..MAX_FRAMES_PER_TURN {
            let frame = match stream.next().await {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return error.into(),
                None => return Ended::ClosedThere,
            };
            activity.received();
            let parsed = match &frame {
                Frame::Text(text) => Message::parse(text),
                Frame::Binary(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => Message::parse(text),
                    Err(_) => Err(BadMessage::NotText),
                },
                Frame::Ping(_) => {
                    // The library has queued the pong; the writer must flush it.
                    activity.wake_writer();
                    continue;
                }
                Frame::Pong(_) | Frame::Frame(_) => continue,
                Frame::Close(_) => return Ended::ClosedThere,
            };
            match parsed {
                Ok(message) => protocol.receive(message),
                Err(problem) => protocol.receive_invalid(&problem),
            }
        }
        tokio::task::yield_now().await;
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
                if ping && let Err(error) = feed(sink, Frame::Ping(Bytes::new()), activity).await {
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
            for frame in fragments(message.to_text()) {
                if let Err(error) = feed(sink, frame, activity).await {
                    return error.into();
                }
            }
            next = queue.try_recv();
        }
        activity.write_started();
        let flushed = sink.flush().await;
        activity.write_completed();
        if let Err(error) = flushed {
            return error.into();
        }
    }
}

async fn feed(
    sink: &mut SplitSink<Socket, Frame>,
    frame: Frame,
    activity: &Activity,
) -> Result<(), Error> {
    activity.write_started();
    let fed = sink.feed(frame).await;
    activity.write_completed();
    fed
}
