//! The registry on an engine: one table of functions, each a decoder, one registry
//! call and an encoder.

mod decode;
mod fetch;
mod prompts;
mod route;
mod schema;
mod skills;
mod trigger_types;

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use skills_core::{Error, Json, Kind, Pending, Registry};

pub use trigger_types::{TRIGGER_TYPES, TriggerType};

/// One function of the surface.
pub struct Operation {
    /// Its id on the engine.
    pub id: &'static str,
    /// What it does, for whoever lists functions.
    pub description: &'static str,
    /// What it takes, as a draft-07 schema.
    pub request: fn() -> Value,
    /// What it answers, as a draft-07 schema.
    pub response: fn() -> Value,
    /// What tools show instead of the id.
    pub label: Option<&'static str>,
    /// A call that may be repeated without harm when its answer is lost: it changes nothing
    /// and calls no other worker's function.
    pub idempotent: bool,
    /// Decodes, makes one registry call, encodes.
    pub run: fn(Arc<Registry>, Json) -> Pending<'static, Result<Json, Error>>,
}

/// Everything offered. The README's table is checked against this one.
pub const OPERATIONS: &[Operation] = &[
    skills::REGISTER,
    skills::UNREGISTER,
    skills::LIST,
    skills::RESOURCES_LIST,
    skills::RESOURCES_READ,
    skills::RESOURCES_TEMPLATES,
    fetch::FETCH_SKILL,
    fetch::FETCH,
    route::ROUTE,
    route::RESOLVE,
    prompts::REGISTER,
    prompts::UNREGISTER,
    prompts::LIST,
    prompts::MCP_LIST,
    prompts::MCP_GET,
];

/// The code an engine's caller finds in an error.
pub const fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Invalid => "invalid_input",
        Kind::NotFound => "not_found",
        Kind::Forbidden => "forbidden",
        Kind::Unavailable => "unavailable",
        Kind::TimedOut => "timed_out",
        Kind::Broken => "broken",
    }
}

impl Operation {
    /// Runs it on a payload as it came from the engine.
    pub async fn call(&self, registry: &Arc<Registry>, payload: &RawValue) -> Result<Json, Error> {
        (self.run)(Arc::clone(registry), payload.to_owned()).await
    }
}

/// The row of the table with this id.
pub fn find(id: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|function| function.id == id)
}
