//! agent.3md documents through the program: `skills agent` and `skills mcp <file>`.

mod agent;
mod documents;
mod process;
mod reload;
mod selftest;
