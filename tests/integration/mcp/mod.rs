//! The MCP surface: the real handler on a real registry and engine, spoken to in lines of
//! JSON; and the program, as a client starts it.

mod calls;
mod fixture;
mod http;
mod lifecycle;
mod notices;
mod program;
mod prompts;
mod resources;
mod std_streams;
mod tools;
