//! Integration tests of the `skills` program and library, in one binary.

#![expect(clippy::unwrap_used, reason = "tests panic to fail")]

mod cli;
mod document;
mod limits;
mod lint;
mod mcp;
mod metrics;
mod processes;
mod readme;
mod schemas;
mod tidy;
mod web;
