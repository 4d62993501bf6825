//! State: rows of JSON by scope and key.
//!
//! [`StateStore`] is the interface, [`SqliteState`] the durable store in one SQLite file and
//! [`MemoryState`] a store for tests. Of the durable store, `write` is the one thread that
//! writes, `read` the pool of connections that read, `row` the effect of one write on the tables,
//! `log` and `feed` turn writes (also those of other processes on the same directory) into
//! events, `file` and `schema` open the file and migrate its tables, and `check` verifies it.
//! Nothing here knows about messages, workers or skills.

mod check;
mod error;
mod feed;
mod file;
mod log;
mod memory;
mod options;
mod read;
mod row;
mod schema;
mod sqlite_state;
mod state_store;
#[cfg(test)]
mod tests;
mod write;

pub use check::StoreCheck;
pub use error::StateError;
pub use feed::{Changes, StateChange};
pub use file::FILE_NAME;
pub use memory::MemoryState;
pub use options::StoreOptions;
pub use sqlite_state::SqliteState;
pub use state_store::{StateFuture, StateStore, StoredValue, UpdateFn, Updated};
