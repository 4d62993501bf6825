//! Sessions about one agent.3md document, without a transport.

mod check;
mod newer_versions;
mod refusals;
mod session;
