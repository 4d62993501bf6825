//! MCP: the registry server on a real registry and engine, and `skills mcp` as a process.

mod builtin_tools;
mod calls;
pub mod fixture;
mod http;
mod lifecycle;
mod notifications;
mod program;
mod prompts;
mod resources;
mod skills;
mod std_streams;
mod tools;
