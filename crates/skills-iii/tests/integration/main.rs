//! Integration tests of the iii wire, in one binary: workers on a hub, faults, load, the official
//! SDK, and durable state across crashes and processes.

#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

mod abuse;
mod calls;
mod common;
mod faults;
mod frames;
mod limits;
mod load;
mod official_sdk;
mod replies;
mod rules;
mod state_crash;
mod state_processes;
mod triggers;
