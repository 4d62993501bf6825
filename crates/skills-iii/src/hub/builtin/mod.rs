//! Functions the hub answers itself.

mod engine;
mod line;
mod state;
mod update;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Core;
use super::session::Outcome;
use crate::message::{ErrorBody, Raw};

pub(super) use engine::list_functions;

/// How a worker introduces itself.
pub(super) const INTRODUCE: &str = "engine::workers::register";

/// A function of the hub.
pub(super) struct Builtin {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Arc<Core>, &RawValue) -> Reply,
}

/// An answer, now or later.
pub(super) enum Reply {
    Now(Outcome),
    Later(BoxFuture<'static, Outcome>),
}

/// Everything the hub answers itself.
pub(super) const BUILTINS: &[Builtin] = &[
    Builtin {
        id: "state::get",
        about: "Read a value.",
        run: state::get,
    },
    Builtin {
        id: "state::set",
        about: "Write a value.",
        run: state::set,
    },
    Builtin {
        id: "state::delete",
        about: "Delete a value.",
        run: state::delete,
    },
    Builtin {
        id: "state::list",
        about: "Read every value of a scope.",
        run: state::list,
    },
    Builtin {
        id: "state::list_groups",
        about: "List the scopes.",
        run: state::list_groups,
    },
    Builtin {
        id: "state::update",
        about: "Change a value in place.",
        run: state::update,
    },
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

pub(super) fn find(id: &str) -> Option<&'static Builtin> {
    let ours = id.starts_with("state::") || id.starts_with("engine::");
    if ours {
        BUILTINS.iter().find(|builtin| builtin.id == id)
    } else {
        None
    }
}

fn decode<'a, T: Deserialize<'a>>(data: &'a RawValue) -> Result<T, ErrorBody> {
    serde_json::from_str(data.get())
        .map_err(|error| ErrorBody::new("deserialization_error", error.to_string()))
}

fn encode(value: &impl Serialize) -> Result<Raw, ErrorBody> {
    to_raw_value(value).map_err(|error| ErrorBody::new("serialization_error", error.to_string()))
}
