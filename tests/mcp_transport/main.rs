//! The transports of MCP, on a handler of the tests' own: what matters here is the wire.

#![expect(clippy::unwrap_used, reason = "a panic is how a test says no")]

mod flow;
mod handler;
mod http;
mod in_session;
mod lines;
mod pipe;
mod process;
mod random;
mod web;
