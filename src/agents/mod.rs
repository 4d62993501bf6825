//! `.3md` files: reading one, noticing that one changed.

pub mod file;
pub mod watch;
