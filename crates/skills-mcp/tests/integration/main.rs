//! Integration tests of `skills-mcp` in one binary: the transports with a fake handler, and sessions
//! about one document.

#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

mod document;
mod fake_handler;
mod http;
mod http_limits;
mod http_sessions;
mod stdio_client;
mod stdio_flow;
mod stdio_lines;
mod stdio_random;
