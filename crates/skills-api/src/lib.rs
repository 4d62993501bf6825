//! The table of operations of the registry.
//!
//! An [`Operation`] has an id, a description, schemas and a function that decodes the input, makes
//! one call of `Registry` and encodes the output. The functions on an iii engine, the built-in MCP
//! tools and the verbs of the command line are projections of this table. [`TRIGGER_TYPES`] is the
//! same for the events that workers subscribe to.
//!
//! Absent on purpose: rules (`skills-core` has them), engines and protocols. This crate reads and
//! writes JSON and has no transport. Start at [`OPERATIONS`]; `skills`, `documents`, `prompts`,
//! `search`, `stats`, `resolve`, `leases`, `history`, `log`, `lint`, `doctor`, `backup` and `fetch` hold the functions, `tools` the operations that
//! exist as tools only.

pub mod backup;
mod decode;
pub mod difference;
pub mod doctor;
pub mod documents;
pub mod fetch;
pub mod history;
pub mod leases;
mod lint;
pub mod log;
mod operation;
pub mod prompts;
mod resolve;
mod schema;
pub mod search;
mod skill_entry;
pub mod skills;
pub mod stats;
mod tools;
mod trigger_types;

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Json, Kind};

pub use lint::log_findings;
pub use operation::Operation;
pub use trigger_types::{TRIGGER_TYPES, TriggerType};

/// Every operation. A test compares the README's table with the functions among them.
pub const OPERATIONS: &[Operation] = &[
    skills::REGISTER,
    skills::UNREGISTER,
    skills::LIST,
    history::SKILL_HISTORY,
    history::SKILL_ROLLBACK,
    log::LOG,
    leases::RENEW,
    leases::GC,
    skills::INDEX,
    skills::RESOURCES_LIST,
    skills::RESOURCES_READ,
    skills::RESOURCES_TEMPLATES,
    documents::DOCUMENTS,
    fetch::FETCH_SKILL,
    fetch::FETCH,
    search::SEARCH,
    search::ROUTE,
    stats::STATS,
    resolve::RESOLVE,
    lint::LINT,
    doctor::DOCTOR,
    backup::BACKUP,
    prompts::REGISTER,
    prompts::UNREGISTER,
    prompts::LIST,
    history::PROMPT_HISTORY,
    history::PROMPT_ROLLBACK,
    prompts::MCP_LIST,
    prompts::MCP_GET,
    tools::LIST,
    tools::READ,
    tools::RESOLVE,
    search::SEARCH_TOOL,
    search::ROUTE_TOOL,
];

/// The operations that are registered as functions on an engine.
pub fn functions() -> impl DoubleEndedIterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|operation| operation.is_function)
}

/// The operations that are MCP tools.
pub fn tools() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(|operation| operation.tool_title.is_some())
}

/// The function with this id.
pub fn find_function(id: &str) -> Option<&'static Operation> {
    functions().find(|operation| operation.id == id)
}

/// The input of an operation with the name of its caller, where an engine has the id of the worker:
/// what it changes is recorded as done by it.
pub fn with_caller(input: Json, name: &str) -> Json {
    let fields: Result<BTreeMap<&str, &RawValue>, _> = serde_json::from_str(input.get());
    let (Ok(mut fields), Ok(name)) = (fields, to_raw_value(name)) else {
        return input;
    };
    fields.insert(CALLER, &name);
    let named = to_raw_value(&fields);
    named.unwrap_or_else(|_| input.clone())
}

/// The field of the worker that made a call.
const CALLER: &str = "_caller_worker_id";

/// The error code that callers on an engine receive.
pub const fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid_input",
        Kind::NotFound => "not_found",
        Kind::Forbidden => "forbidden",
        Kind::Conflict => "conflict",
        Kind::Failed => "failed",
        Kind::Unavailable => "unavailable",
        Kind::TimedOut => "timed_out",
        Kind::Broken => "broken",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_added_to_objects_only() {
        for (input, expected) in [
            ("{}", r#"{"_caller_worker_id":"web page"}"#),
            (
                r#"{"id":"a","_caller_worker_id":"x"}"#,
                r#"{"_caller_worker_id":"web page","id":"a"}"#,
            ),
            ("null", "null"),
            ("[1]", "[1]"),
        ] {
            let json = RawValue::from_string(input.into()).unwrap();
            assert_eq!(with_caller(json, "web page").get(), expected, "{input}");
        }
    }
}
