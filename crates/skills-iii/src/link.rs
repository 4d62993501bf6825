//! A connection between a worker and an engine, seen from one end.
//!
//! Either a WebSocket or a pair of queues inside one process. [`run`] carries
//! messages both ways until one side ends; what they mean is the [`Side`]'s
//! business.

mod fragment;
mod pulse;
mod socket;

use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;

pub use pulse::Heartbeat;
pub(crate) use socket::{Socket, socket_config};

use crate::message::{BadMessage, Message};
use crate::queue::{Next, Outbox, Queue, QueueLimits, queue};

/// One end's understanding of the messages.
pub(crate) trait Side {
    /// Takes a message from the other end. Must not block.
    fn receive(&mut self, message: Message);

    /// Hears that a frame was not a message.
    fn refuse(&mut self, bad: &BadMessage);

    /// Gets on with work of its own; called whenever the link wakes.
    fn poll(&mut self, context: &mut Context<'_>);
}

/// A connection that [`run`] can carry.
pub(crate) enum Link {
    Socket(Box<Socket>),
    Local(Local),
}

impl Link {
    pub(crate) fn socket(
        stream: WebSocketStream<TcpStream>,
        queue: Queue,
        heartbeat: Heartbeat,
    ) -> Self {
        Self::Socket(Box::new(Socket::new(stream, queue, heartbeat)))
    }

    /// Both ends of a link inside this process, each with its outbox.
    pub(crate) fn pair(limits: QueueLimits) -> [(Outbox, Self); 2] {
        let (one, of_one) = queue(limits);
        let (other, of_other) = queue(limits);
        [
            (
                one.clone(),
                Self::Local(Local {
                    inbox: of_other,
                    outbox: one,
                }),
            ),
            (
                other.clone(),
                Self::Local(Local {
                    inbox: of_one,
                    outbox: other,
                }),
            ),
        ]
    }
}

/// Why a link ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("closed here")]
    Here,
    #[error("closed by the other end")]
    There,
    #[error("{0}")]
    Aborted(&'static str),
    #[error("the other end went silent")]
    Silent,
    #[error("the other end stopped reading")]
    Stalled,
    #[error(transparent)]
    Broken(#[from] tokio_tungstenite::tungstenite::Error),
}

/// Carries messages until the link ends.
pub(crate) async fn run(link: Link, side: &mut impl Side) -> Ended {
    match link {
        Link::Socket(mut socket) => {
            let ended = poll_fn(|context| socket.poll(context, side)).await;
            socket.close(&ended).await;
            ended
        }
        Link::Local(local) => {
            let ended = poll_fn(|context| local.poll(context, side)).await;
            local.outbox.finish();
            ended
        }
    }
}

/// One end of a link inside this process.
pub(crate) struct Local {
    inbox: Queue,
    outbox: Outbox,
}

impl Local {
    fn poll(&self, context: &mut Context<'_>, side: &mut impl Side) -> Poll<Ended> {
        side.poll(context);
        // So many at a time, then others get their turn.
        for _ in 0..TURN {
            match self.inbox.poll_next(context) {
                Poll::Ready(Next::Message(message)) => side.receive(message),
                Poll::Ready(Next::Finished) => return Poll::Ready(Ended::There),
                Poll::Ready(Next::Aborted(reason)) => return Poll::Ready(Ended::Aborted(reason)),
                Poll::Pending => {
                    side.poll(context);
                    return if self.outbox.is_closed() {
                        Poll::Ready(Ended::Here)
                    } else {
                        Poll::Pending
                    };
                }
            }
        }
        side.poll(context);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Messages taken before anything else gets its turn.
const TURN: usize = 128;
