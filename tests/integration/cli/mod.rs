//! The command line: stdout, stderr and exit code of the real program.
//!
//! Each transcript is compared with a file in `snapshots/`. After an intended change,
//! `SNAPSHOTS=overwrite cargo test --test integration cli` updates them; read the difference.

mod backup;
mod batch;
mod collisions;
mod completions;
mod disk;
mod engine;
mod folders;
mod help;
mod history;
mod leases;
mod lint;
mod mistakes;
mod pipes;
mod readme;
mod search;
#[cfg(target_os = "linux")]
mod terminal;
mod transcript;
mod verbs;
mod watch;
