//! The Model Context Protocol surface.

pub mod http;
pub mod lines;
pub mod message;
pub mod stdio;
