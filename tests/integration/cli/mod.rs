//! What a person or a script sees: stdout, stderr and exit code of real runs.
//!
//! Each session is compared with a file in `snapshots/`. After a wanted change,
//! `SNAPSHOTS=overwrite cargo test --test integration cli` writes them anew; read the difference.

mod bad;
mod disk;
mod engine;
mod happy;
mod help;
mod hub;
mod many;
mod pipes;
mod readme;
mod session;
#[cfg(target_os = "linux")]
mod terminal;
mod watch;
