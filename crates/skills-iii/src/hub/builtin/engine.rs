//! `engine::*`: who is here and what they offer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::all;
use super::line::{FunctionLine, KindLine, TriggerLine, WorkerLine, is_internal};
use crate::hub::Core;
use crate::hub::directory::Directory;
use crate::hub::events::OWN;
use crate::message::{ErrorBody, Extra, Raw, RegisterTrigger};
use crate::state_functions::{Outcome, Reply, decode, encode};

/// Functions that may be asked about in one call.
const MOST_IDS: usize = 32;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Search {
    prefix: Option<String>,
    #[serde(rename = "search")]
    part: Option<String>,
    worker: Option<String>,
    workers: Option<Vec<String>>,
    include_internal: bool,
}

impl Search {
    fn finds(&self, line: &FunctionLine<'_>) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        (self.include_internal || !is_internal(line))
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| line.function_id.starts_with(prefix))
            && self.part.as_ref().is_none_or(|part| {
                has(line.function_id, part)
                    || line
                        .description
                        .is_some_and(|description| has(description, part))
            })
            && self
                .worker
                .as_ref()
                .is_none_or(|worker| *worker == line.worker_name)
            && self
                .workers
                .as_ref()
                .is_none_or(|workers| workers.contains(&line.worker_name))
    }
}

#[derive(Deserialize)]
struct Ids {
    function_id: Option<String>,
    function_ids: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Identified {
    id: String,
}

#[derive(Deserialize)]
struct NewTrigger {
    id: Option<String>,
    trigger_type: String,
    function_id: String,
    config: Option<Raw>,
    metadata: Option<Raw>,
}

#[derive(Serialize)]
struct Functions<T> {
    functions: T,
}

#[derive(Serialize)]
struct Unknown<'a> {
    function_id: &'a str,
    error: &'static str,
}

#[derive(Serialize)]
struct Workers<'a> {
    workers: Vec<WorkerLine<'a>>,
}

#[derive(Serialize)]
struct WorkerInfo<'a> {
    worker: WorkerLine<'a>,
    functions: Vec<FunctionLine<'a>>,
    trigger_types: Vec<KindLine<'a>>,
    registered_triggers: Vec<TriggerLine<'a>>,
}

#[derive(Serialize)]
struct Triggers<T> {
    triggers: T,
}

#[derive(Serialize)]
struct Registered<'a> {
    registered_triggers: Vec<TriggerLine<'a>>,
}

#[derive(Serialize)]
struct Id {
    id: String,
}

/// The functions a list shows, as JSON.
pub(crate) fn list_functions(
    directory: &Directory,
    shown: impl Fn(&FunctionLine<'_>) -> bool,
) -> Raw {
    let lines: Vec<_> = function_lines(directory)
        .filter(|line| shown(line))
        .collect();
    encode(&lines).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn function_lines(directory: &Directory) -> impl Iterator<Item = FunctionLine<'_>> {
    let own = all().map(FunctionLine::of_builtin);
    own.chain(directory.functions().into_iter().map(FunctionLine::of))
}

fn kind_lines(directory: &Directory) -> impl Iterator<Item = KindLine<'_>> {
    OWN.iter()
        .map(KindLine::of_own)
        .chain(directory.kinds.values().map(KindLine::of))
}

pub(super) fn functions(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode::<Option<Search>>(data).and_then(|search| {
        let search = search.unwrap_or_default();
        let functions = list_functions(&core.look(), |line| search.finds(line));
        encode(&Functions { functions }).map(Some)
    }))
}

pub(super) fn function(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|ids: Ids| describe(&core.look(), ids)))
}

fn describe(directory: &Directory, ids: Ids) -> Outcome {
    let info = |id: &str| -> Option<Raw> {
        let line = match directory.function(id) {
            Some(function) => FunctionLine::of(function).with_schemas(&function.spec),
            None => FunctionLine::of_builtin(all().find(|(builtin, _)| *builtin == id)?),
        };
        let triggers = directory
            .triggers
            .all()
            .filter(|entry| entry.trigger.function_id == id);
        encode(&line.with_triggers(triggers.map(TriggerLine::of).collect())).ok()
    };
    match ids {
        Ids {
            function_ids: Some(ids),
            ..
        } if ids.len() > MOST_IDS => {
            let message = format!("at most {MOST_IDS} ids, not {}", ids.len());
            Err(ErrorBody::new("deserialization_error", message))
        }
        Ids {
            function_ids: Some(ids),
            ..
        } => {
            let describe = |id: &String| match info(id) {
                Some(info) => Ok(info),
                None => encode(&Unknown {
                    function_id: id,
                    error: "not_found",
                }),
            };
            let functions = ids.iter().map(describe).collect::<Result<Vec<_>, _>>()?;
            encode(&Functions { functions }).map(Some)
        }
        Ids {
            function_id: Some(id),
            ..
        } => info(&id)
            .map(Some)
            .ok_or_else(|| ErrorBody::new("NOT_FOUND", format!("function `{id}` not found"))),
        Ids { .. } => Err(ErrorBody::new(
            "deserialization_error",
            "missing field `function_id`",
        )),
    }
}

pub(super) fn workers(core: &Arc<Core>, _: &RawValue) -> Reply {
    let directory = core.look();
    let own = WorkerLine::of_hub(&core.own_id);
    let sessions = directory.sessions.values();
    let workers = sessions.map(|session| WorkerLine::of(session, &directory));
    let workers = std::iter::once(own).chain(workers).collect();
    Reply::Now(encode(&Workers { workers }).map(Some))
}

pub(super) fn worker(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|Named { name }| {
        let directory = core.look();
        let Some(session) = directory.named(&name) else {
            return Err(ErrorBody::new(
                "NOT_FOUND",
                format!("worker `{name}` not found"),
            ));
        };
        let triggers = directory.triggers.all().filter(|entry| {
            entry
                .subscriber
                .as_ref()
                .is_some_and(|from| from.serial == session.serial)
        });
        let kinds = directory.kinds.values();
        let info = WorkerInfo {
            worker: WorkerLine::of(session, &directory),
            functions: directory
                .functions()
                .into_iter()
                .filter(|function| function.owner.serial == session.serial)
                .map(FunctionLine::of)
                .collect(),
            trigger_types: kinds
                .filter(|kind| kind.provider.serial == session.serial)
                .map(KindLine::of)
                .collect(),
            registered_triggers: triggers.map(TriggerLine::of).collect(),
        };
        encode(&info).map(Some)
    }))
}

pub(super) fn kinds(core: &Arc<Core>, _: &RawValue) -> Reply {
    let directory = core.look();
    let triggers: Vec<_> = kind_lines(&directory).collect();
    Reply::Now(encode(&Triggers { triggers }).map(Some))
}

pub(super) fn kind(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|Identified { id }| {
        let directory = core.look();
        let Some(line) = kind_lines(&directory).find(|line| line.id == id) else {
            return Err(ErrorBody::new(
                "NOT_FOUND",
                format!("trigger type `{id}` not found"),
            ));
        };
        let count = directory.triggers.of(&id).count();
        let spec = directory.kinds.get(&id).map(|kind| &kind.spec);
        encode(&line.with_details(spec, count)).map(Some)
    }))
}

pub(super) fn triggers(core: &Arc<Core>, _: &RawValue) -> Reply {
    let directory = core.look();
    let triggers: Vec<_> = directory.triggers.all().map(TriggerLine::of).collect();
    Reply::Now(
        encode(&Registered {
            registered_triggers: triggers,
        })
        .map(Some),
    )
}

pub(super) fn register_trigger(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).and_then(|new: NewTrigger| {
        let id = new.id.unwrap_or_else(|| Uuid::new_v4().to_string());
        let trigger = RegisterTrigger {
            id: id.clone(),
            trigger_type: new.trigger_type,
            function_id: new.function_id,
            config: new.config.unwrap_or_else(|| RawValue::NULL.to_owned()),
            metadata: new.metadata,
            namespace: None,
            trigger_namespace: None,
            extra: Extra::new(),
        };
        core.register_trigger(None, trigger)?;
        encode(&Id { id }).map(Some)
    }))
}

pub(super) fn unregister_trigger(core: &Arc<Core>, data: &RawValue) -> Reply {
    Reply::Now(decode(data).map(|Identified { id }| {
        core.directory().remove_free_trigger(&id);
        None
    }))
}
