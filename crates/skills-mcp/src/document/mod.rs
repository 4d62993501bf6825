//! One agent.3md document over MCP: four tools that list, route to, get and resolve its skills.
//!
//! [`Session`] turns a line into at most one answer and knows no transport; [`Server`] moves
//! bytes and knows no methods. There is no runtime here: one thread reads, answers and writes,
//! so answers come in the order of the requests, and a client that does not read makes the
//! server wait instead of grow. Knows neither the registry nor where the document is kept.

mod call;
mod serve;
mod served;
mod session;
mod tools;
mod version;
mod wire;

pub use serve::Server;
pub use served::Served;
pub use session::Session;

pub use super::lines::LINE_MAX;
