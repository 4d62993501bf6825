//! The Model Context Protocol surface.

pub mod document;
