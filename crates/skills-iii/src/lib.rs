//! The iii wire: messages, a worker's connection, and an embedded engine.
