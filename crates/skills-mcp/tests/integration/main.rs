//! Integration tests of the MCP surface, in one binary: the transports on a handler of the tests'
//! own, and sessions about one document.

#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

mod document;
mod flow;
mod handler;
mod http;
mod in_session;
mod lines;
mod pipe;
mod random;
mod web;
