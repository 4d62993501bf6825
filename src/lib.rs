//! `skills`: a content registry for AI agents. Skills and prompts are read at `iii://`
//! addresses.
//!
//! The crate puts the other crates together: [`config`] reads the configuration, [`engine`]
//! implements the port to an engine, [`app`] builds and runs the registry with its surfaces,
//! and [`cli`] is the command line. [`limits`] lists every limit. Rules, protocols and file formats are in the crates
//! `skills-core`, `skills-api`, `skills-mcp`, `skills-files`, `skills-iii` and `agent3md`.
//!
//! Start at [`app`].

pub mod app;
pub mod cli;
pub mod config;
pub mod engine;
pub mod limits;
