//! The iii protocol: a worker's connection, an embedded engine, and durable state.
//!
//! Workers connect to an engine over WebSocket, offer functions and trigger types, and call each
//! other through it.
//!
//! - [`message`]: the messages, and their JSON form.
//! - [`client`]: a worker's end of a connection. Start at [`Client`].
//! - [`hub`]: the engine's end, for one machine. Start at [`Hub`].
//! - [`state`]: rows of JSON by scope and key, in SQLite. Start at [`SqliteState`]; [`call_state`]
//!   runs the `state::*` functions on a store without a hub.
//! - [`limits`]: every limit, and what happens beyond it.
//!
//! Inside, `link` moves messages over a socket or between two tasks, and `queue` holds the
//! outgoing messages of a connection. Every queue in this crate is bounded.
//!
//! Deliberately absent: skills and prompts (this crate does not know what the functions are for),
//! clustering, and the queues, streams, cron and HTTP triggers of other engines.

pub mod client;
mod hub;
pub mod limits;
pub mod message;
pub mod state;

mod call_id;
mod fair_queue;
mod link;
mod lock;
mod queue;
mod state_functions;

pub use client::{CallError, Client, ClientOptions, Event};
pub use hub::{Hub, HubOptions};
pub use link::Heartbeat;
pub use message::{BadMessage, ErrorBody, Message, Raw};
pub use queue::QueueLimits;
pub use state::SqliteState;
pub use state_functions::call_state;
