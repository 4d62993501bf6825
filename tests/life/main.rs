//! The program among processes: engines that come late, restart and die, instances
//! that are killed, handlers that misbehave. Real processes, real sockets.

#![expect(clippy::unwrap_used, reason = "a panic is how a test says no")]

mod agents;
mod engine;
mod files;
mod handlers;
mod process;
mod serve;
mod worker;
