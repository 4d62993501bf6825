//! The MCP surface: the real handler on a real registry and engine, spoken to in lines of
//! JSON; and the program, as a client starts it.

#![expect(clippy::unwrap_used, reason = "a panic is how a test says no")]

mod calls;
mod house;
mod http;
mod lifecycle;
mod notices;
mod program;
mod prompts;
mod resources;
mod talk;
mod tools;
#[path = "../mcp_transport/web.rs"]
mod web;
