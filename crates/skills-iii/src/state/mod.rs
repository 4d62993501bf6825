//! State: rows of JSON by scope and key.
//!
//! [`SqliteState`] is the store, in one SQLite file. Behind it, `write` is the one thread that
//! writes, `waiting_writes` its queue and `write_health` its failures, `read` the pool of connections that read, `lists` shares
//! long reads, `row` is the effect of one write on the tables, `stored_value` checks what is read,
//! `log` and `feed` turn writes (also those of other processes on the same directory) into
//! events, `file` and `schema` open the file and migrate its tables, and `check` verifies it.
//! Nothing here knows about messages, workers or skills.

mod check;
mod error;
mod feed;
mod file;
mod lists;
mod log;
mod options;
mod read;
mod row;
mod schema;
mod sqlite_state;
mod stored_value;
#[cfg(test)]
mod tests;
mod waiting_writes;
mod write;
mod write_health;

pub use check::{DamagedRow, StoreCheck};
pub use error::StateError;
pub use feed::{Changes, StateChange};
pub use file::FILE_NAME;
pub use options::{OnCommit, StoreOptions};
pub use read::ListedRow;
pub(crate) use row::Op;
pub use row::UpdateFn;
pub use sqlite_state::{SqliteState, StateFuture, StoredValue, Updated};
