//! Sessions about one agent.3md document: a line in, a line out.

mod check;
mod newer_versions;
mod refusals;
mod session;
