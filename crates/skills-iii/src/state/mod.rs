//! Durable state: rows of JSON by scope and key, in one SQLite file.
//!
//! [`Store`] is the door. `write` is the one thread that writes, `read` the connections that read,
//! `row` what a write does to the tables, `log` and `feed` how writes become events (also those of
//! other processes on the same directory), `file` and `schema` whose file it is and how it got its
//! tables, `check` whether it is well. Nothing here knows about messages, sessions or skills.

mod check;
mod error;
mod feed;
mod file;
mod log;
mod options;
mod read;
mod row;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod write;

pub use check::Checked;
pub use error::StateError;
pub use feed::{Changes, StateChange};
pub use file::FILE_NAME;
pub use options::StoreOptions;
pub use row::Change;
pub use store::{Pending, Store, Updated};
