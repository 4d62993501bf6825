//! Functions the hub answers itself.

mod engine;
mod line;

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Core;
use crate::state_functions::{Reply, STATE_FUNCTIONS};

pub(super) use engine::list_functions;

/// How a worker introduces itself.
pub(super) const INTRODUCE: &str = "engine::workers::register";

/// A function of the hub.
pub(super) struct Builtin {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Arc<Core>, &RawValue) -> Reply,
}

/// The hub's `engine::*` functions; those of `state::*` are in [`STATE_FUNCTIONS`].
pub(super) const BUILTINS: &[Builtin] = &[
    // Told apart before the table is asked: it concerns the connection.
    Builtin {
        id: INTRODUCE,
        about: "Introduce a worker.",
        run: |_, _| Reply::Now(Ok(None)),
    },
    Builtin {
        id: "engine::workers::list",
        about: "List workers.",
        run: engine::workers,
    },
    Builtin {
        id: "engine::workers::info",
        about: "Describe a worker.",
        run: engine::worker,
    },
    Builtin {
        id: "engine::functions::list",
        about: "List functions.",
        run: engine::functions,
    },
    Builtin {
        id: "engine::functions::info",
        about: "Describe functions.",
        run: engine::function,
    },
    Builtin {
        id: "engine::triggers::list",
        about: "List trigger types.",
        run: engine::kinds,
    },
    Builtin {
        id: "engine::triggers::info",
        about: "Describe a trigger type.",
        run: engine::kind,
    },
    Builtin {
        id: "engine::registered-triggers::list",
        about: "List triggers.",
        run: engine::triggers,
    },
    Builtin {
        id: "engine::register_trigger",
        about: "Register a trigger that outlives its worker.",
        run: engine::register_trigger,
    },
    Builtin {
        id: "engine::unregister_trigger",
        about: "Unregister such a trigger.",
        run: engine::unregister_trigger,
    },
];

/// Whether the hub serves this function itself.
pub(super) fn is_builtin(id: &str) -> bool {
    all().any(|(builtin, _)| builtin == id)
}

/// Id and description of every function that the hub serves itself.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let state = STATE_FUNCTIONS.iter().map(|f| (f.id, f.description));
    state.chain(BUILTINS.iter().map(|f| (f.id, f.about)))
}

/// Runs a function of the hub's own; none if the hub has no function with this id.
pub(super) fn run(core: &Arc<Core>, id: &str, data: &RawValue) -> Option<Reply> {
    if id.starts_with("state::") {
        let function = STATE_FUNCTIONS.iter().find(|f| f.id == id)?;
        Some((function.run)(&core.options.state, data))
    } else if id.starts_with("engine::") {
        let function = BUILTINS.iter().find(|f| f.id == id)?;
        Some((function.run)(core, data))
    } else {
        None
    }
}
