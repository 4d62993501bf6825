//! Helpers shared by the integration tests and benches of every crate in the workspace.
//!
//! - [`process`]: a `skills` process, and waiting for its log lines
//! - [`engine`]: an iii engine in the test's process, and peers connected to it
//! - [`handler`]: functions for a peer to register
//! - [`test_client`]: an MCP client that writes and reads lines of JSON
//! - [`http_server`]: an MCP server over HTTP, and raw requests to it
//! - [`raw_request`]: requests as text, to either port
//! - [`memory_source`]: skills and prompts in memory, as a folder of files has them
//! - [`document`]: an agent.3md document to serve
//! - [`files`]: writing files for a test
//! - [`raw_socket`]: a worker's socket that sends bytes as they are
//! - [`abuse`]: clients that use a server as no client should
//! - [`good_client`]: a client that behaves, and the time that its calls take
//! - [`usage`]: memory, file handles and threads of a process
//!
//! Deliberately absent: assertions about one feature, which belong to its tests, and the `skills`
//! library itself, so that every crate below it can use this one.

#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

use std::time::Duration;

pub mod abuse;
pub mod document;
pub mod engine;
pub mod files;
pub mod good_client;
pub mod handler;
pub mod http_server;
pub mod memory_source;
pub mod process;
pub mod raw_request;
pub mod raw_socket;
pub mod test_client;
#[cfg(target_os = "linux")]
pub mod usage;

/// The longest a test waits for an event. Reached only when the test fails, so it is far longer
/// than anything takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_mins(3);

/// An address without an engine: port 1 is reserved, so no other test can be given it.
pub const NO_ENGINE: &str = "ws://127.0.0.1:1";
