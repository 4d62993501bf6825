//! The iii wire: messages, a worker's connection, and an embedded engine.

pub mod state;
