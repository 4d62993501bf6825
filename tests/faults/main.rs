//! Faults of the machine and of other programs, on real processes: nothing acknowledged is lost, and
//! everything works again when the fault is over.
//!
//! What takes longer than a few seconds is ignored by `cargo test` and run by `just campaign`.
//! `SKILLS_BIN` names another binary to test.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

mod clock;
mod damage;
mod hostile_engine;
mod kill;
mod leases;
mod log;
mod reconnect;
mod support;
mod takeover;
mod two_processes;
mod versions;

// These use `/proc` and set the limits of a running process.
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod handles;
#[cfg(target_os = "linux")]
mod read_only;
