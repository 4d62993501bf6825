//! What a person or a script sees: stdout, stderr and exit code of real runs.
//!
//! Each session is compared with a file in `snapshots/`. After a wanted change,
//! `SNAPSHOTS=overwrite cargo test --test integration cli` writes them anew; read the difference.

mod batch;
mod disk;
mod engine;
mod help;
mod mistakes;
mod pipes;
mod readme;
#[cfg(target_os = "linux")]
mod terminal;
mod transcript;
mod verbs;
mod watch;
