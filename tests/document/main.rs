//! agent.3md documents as a client and a person meet them: lines in, lines out.

#![expect(clippy::unwrap_used, reason = "a panic is how a test says no")]

mod agent;
mod check;
mod documents;
mod newer;
mod process;
mod refusals;
mod reload;
mod sample;
mod selftest;
mod session;
