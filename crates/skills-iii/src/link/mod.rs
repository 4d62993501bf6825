//! A connection between a worker and an engine, seen from one end: a WebSocket ([`run_socket`])
//! or a pair of queues inside one process ([`run_local`]).
//!
//! Both move messages until one end closes. What a message means is up to the [`Protocol`].

mod fragment;
mod heartbeat;
mod local;
mod monitored;
mod problem;
mod socket;

pub use heartbeat::Heartbeat;
pub(crate) use local::run_local;
pub(crate) use monitored::Monitored;
pub(crate) use problem::{io_problem, problem};
pub(crate) use socket::{run_socket, socket_config};

use crate::message::{BadMessage, Message};

/// The header of a handshake response that lists what an engine is capable of.
pub(crate) const CAPABILITIES: &str = "x-iii-capabilities";
/// The engine sends small messages without delay.
pub(crate) const TCP_NODELAY: &str = "tcp-nodelay";

/// One end's handling of received messages.
pub(crate) trait Protocol {
    /// Handles a message of the other end. Must not block.
    fn receive(&mut self, message: Message);

    /// Handles a frame that is not a message.
    fn receive_invalid(&mut self, problem: &BadMessage);

    /// Whether nothing more should be read from the other end now.
    fn must_pause(&self) -> bool {
        false
    }

    /// Completes when this end can take the next message. Must not depend on the other end.
    fn ready(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// A pause ended without progress.
    fn pause_stalled(&mut self) {}
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("closed by this end")]
    ClosedHere,
    #[error("closed by the other end")]
    ClosedThere,
    #[error("{0}")]
    Aborted(&'static str),
    #[error("no sign of life from the other end")]
    Silent,
    #[error("the other end stopped reading")]
    Stalled,
    #[error("{}", problem(.0))]
    Broken(#[from] tokio_tungstenite::tungstenite::Error),
}
