//! The public interface of the crate, one module per topic.

mod agent;

mod base;
mod commands;
mod large_documents;
mod property;
mod random_texts;
mod tool_text;
mod validator;
