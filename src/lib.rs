//! A content registry for AI agents: skills and prompts, read at `iii://` addresses.
//!
//! The rules are in `skills_core`; here are the surfaces around them.

pub mod functions;
