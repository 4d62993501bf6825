//! A content registry for AI agents: skills and prompts, read at `iii://` addresses.
//!
//! The rules are in `skills_core`, the wire is in `skills_iii`; here are the surfaces
//! around them, and [`app`], the one place that knows every room.

pub mod app;
pub mod cli;
pub mod config;
pub mod engine;
