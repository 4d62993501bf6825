//! The iii wire: messages, a worker's connection, and an embedded engine.
//!
//! [`message`] is what is said; [`client`] is a worker's end, [`hub`] the
//! engine's, and [`state`] keeps its rows. Nothing here knows what the functions
//! are for.

pub mod client;
pub mod hub;
pub mod message;
pub mod state;

mod call_id;
mod link;
mod lock;
mod queue;
mod state_functions;

pub use client::{CallError, Client, ClientOptions, Event};
pub use hub::{Hub, HubOptions};
pub use link::Heartbeat;
pub use message::{BadMessage, ErrorBody, Message, Raw};
pub use queue::QueueLimits;
pub use state::{MemoryState, StateStore};
pub use state_functions::call_state;
