//! The functions that the hub serves itself.

mod engine;
mod listing;

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Core;
use crate::message::ErrorBody;
use crate::state_functions::{Outcome, Reply, STATE_FUNCTIONS};

pub(super) use engine::list_functions;

/// The worker name of the hub itself.
pub(super) const HUB_NAME: &str = "engine";

/// The function with which a worker introduces itself.
pub(super) const INTRODUCE: &str = "engine::workers::register";

/// A function's id, its description, and the function.
type EngineFunction = (
    &'static str,
    &'static str,
    fn(&Arc<Core>, &RawValue) -> Outcome,
);

/// The `engine::*` functions; those of `state::*` are in [`STATE_FUNCTIONS`].
const ENGINE_FUNCTIONS: &[EngineFunction] = &[
    // `SessionProtocol` handles this one before the table is searched.
    (INTRODUCE, "Introduce a worker.", |_, _| Ok(None)),
    ("engine::workers::list", "List workers.", engine::workers),
    (
        "engine::workers::info",
        "Describe a worker.",
        engine::worker,
    ),
    (
        "engine::functions::list",
        "List functions.",
        engine::functions,
    ),
    (
        "engine::functions::info",
        "Describe functions.",
        engine::function,
    ),
    (
        "engine::triggers::list",
        "List trigger types.",
        engine::trigger_types,
    ),
    (
        "engine::triggers::info",
        "Describe a trigger type.",
        engine::trigger_type,
    ),
    (
        "engine::registered-triggers::list",
        "List triggers.",
        engine::triggers,
    ),
    (
        "engine::register_trigger",
        "Register a trigger that outlives its worker.",
        engine::register_trigger,
    ),
    (
        "engine::unregister_trigger",
        "Unregister a trigger that belongs to no worker.",
        engine::unregister_trigger,
    ),
];

/// Id and description of every function that the hub serves itself.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let state = STATE_FUNCTIONS.iter().map(|(id, about, _)| (*id, *about));
    state.chain(ENGINE_FUNCTIONS.iter().map(|(id, about, _)| (*id, *about)))
}

/// Runs a function of the hub; none if the hub has no function with this id.
pub(super) fn run(
    core: &Arc<Core>,
    caller: &Arc<str>,
    function_id: &str,
    data: &RawValue,
) -> Option<Result<Reply, ErrorBody>> {
    if function_id.starts_with("state::") {
        let (.., run) = STATE_FUNCTIONS.iter().find(|(id, ..)| *id == function_id)?;
        Some(run(&core.options.state, Some(caller), data))
    } else if function_id.starts_with("engine::") {
        let (.., run) = ENGINE_FUNCTIONS
            .iter()
            .find(|(id, ..)| *id == function_id)?;
        Some(run(core, data).map(Reply::Now))
    } else {
        None
    }
}
