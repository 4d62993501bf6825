//! A server for one agent.3md document: four tools that list, route to, get and resolve its skills.
//!
//! [`Session`] turns a line into at most one response and knows no transport; [`Server`] moves bytes
//! and knows no methods. There is no async runtime: one thread reads, responds and writes, so
//! responses come in the order of the requests, and a client that does not read blocks the server
//! instead of growing its memory. Knows neither the registry nor where the document is stored.

mod call_tool;
mod served_agent;
mod server;
mod session;
mod tools;
mod version;

pub use served_agent::ServedAgent;
pub use server::Server;
pub use session::Session;

pub use super::limits::LINE_MAX;
