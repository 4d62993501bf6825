//! The `engine::*` functions: which workers are connected and what they offer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::all;
use super::listing::{
    FunctionListing, TriggerListing, TriggerTypeListing, WorkerListing, is_internal,
};
use crate::hub::Core;
use crate::hub::directory::Directory;
use crate::hub::events::TRIGGER_TYPES;
use crate::limits::MAX_INFO_IDS;
use crate::message::{ErrorBody, Id, Raw, TriggerSpec};
use crate::state_functions::{Outcome, decode, encode, encode_result, object};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Filter {
    prefix: Option<String>,
    search: Option<String>,
    worker: Option<String>,
    workers: Option<Vec<String>>,
    include_internal: bool,
}

impl Filter {
    fn matches(&self, function: &FunctionListing<'_>) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let text_has = |part: &String| {
            has(function.function_id, part)
                || function.description.is_some_and(|text| has(text, part))
        };
        let listed = |workers: &Vec<String>| workers.contains(&function.worker_name);
        (self.include_internal || !is_internal(function))
            && (self.prefix.as_ref()).is_none_or(|prefix| function.function_id.starts_with(prefix))
            && self.search.as_ref().is_none_or(text_has)
            && (self.worker.as_ref()).is_none_or(|worker| *worker == function.worker_name)
            && self.workers.as_ref().is_none_or(listed)
    }
}

#[derive(Deserialize)]
struct FunctionIds {
    function_id: Option<String>,
    function_ids: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct WorkerName {
    name: String,
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
struct UnknownFunction<'a> {
    function_id: &'a str,
    error: &'static str,
}

#[derive(Serialize)]
struct WorkerInfo<'a> {
    worker: WorkerListing<'a>,
    functions: Vec<FunctionListing<'a>>,
    trigger_types: Vec<TriggerTypeListing<'a>>,
    registered_triggers: Vec<TriggerListing<'a>>,
}

/// The functions that pass the filter, as JSON.
pub(crate) fn list_functions(
    directory: &Directory,
    filter: impl Fn(&FunctionListing<'_>) -> bool,
) -> Raw {
    let builtin = all().map(FunctionListing::of_builtin);
    let registered = directory.functions().into_iter().map(FunctionListing::of);
    let functions: Vec<_> = builtin.chain(registered).filter(|f| filter(f)).collect();
    encode(&functions).unwrap_or_default()
}

fn list_trigger_types(directory: &Directory) -> impl Iterator<Item = TriggerTypeListing<'_>> {
    let builtin = TRIGGER_TYPES.iter().map(TriggerTypeListing::of_builtin);
    let provided = directory.trigger_types.all();
    builtin.chain(provided.map(TriggerTypeListing::of))
}

pub(super) fn functions(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let filter = decode::<Option<Filter>>(data)?.unwrap_or_default();
    let functions = list_functions(&core.directory(), |function| filter.matches(function));
    object("functions", functions)
}

pub(super) fn function(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let directory = core.directory();
    match decode(data)? {
        FunctionIds {
            function_ids: Some(ids),
            ..
        } => {
            if ids.len() > MAX_INFO_IDS {
                let message = format!("at most {MAX_INFO_IDS} ids, not {}", ids.len());
                return Err(ErrorBody::new("deserialization_error", message));
            }
            let describe = |id: &String| match describe(&directory, id) {
                Some(info) => Ok(info),
                None => encode(&UnknownFunction {
                    function_id: id,
                    error: "not_found",
                }),
            };
            let functions = ids.iter().map(describe).collect::<Result<Vec<_>, _>>()?;
            object("functions", functions)
        }
        FunctionIds {
            function_id: Some(id),
            ..
        } => match describe(&directory, &id) {
            Some(info) => Ok(Some(info.into())),
            None => Err(not_found("function", &id)),
        },
        FunctionIds { .. } => Err(ErrorBody::new(
            "deserialization_error",
            "missing field `function_id`",
        )),
    }
}

fn describe(directory: &Directory, id: &str) -> Option<Raw> {
    let listing = match directory.function(id) {
        Some(function) => FunctionListing::of(function).with_schemas(&function.spec),
        None => FunctionListing::of_builtin(all().find(|(builtin, _)| *builtin == id)?),
    };
    let triggers = directory.triggers.all();
    let triggers = triggers.filter(|entry| entry.trigger.function_id == id);
    encode(&listing.with_triggers(triggers.map(TriggerListing::of).collect())).ok()
}

pub(super) fn workers(core: &Arc<Core>, _: &RawValue) -> Outcome {
    let directory = core.directory();
    let sessions = directory.sessions.values();
    let sessions = sessions.map(|session| WorkerListing::of(session));
    let hub = std::iter::once(WorkerListing::of_hub(&core.hub_id));
    let workers: Vec<_> = hub.chain(sessions).collect();
    object("workers", workers)
}

pub(super) fn worker(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let WorkerName { name } = decode(data)?;
    let directory = core.directory();
    let session = directory.worker(&name);
    let session = session.ok_or_else(|| not_found("worker", &name))?;
    let functions = directory.functions().into_iter();
    let functions = functions.filter(|function| function.owner.is(session));
    let provided = directory.trigger_types.all();
    let provided = provided.filter(|provided| provided.provider.is(session));
    let triggers = directory.triggers.of_subscriber(session);
    let info = WorkerInfo {
        worker: WorkerListing::of(session),
        functions: functions.map(FunctionListing::of).collect(),
        trigger_types: provided.map(TriggerTypeListing::of).collect(),
        registered_triggers: triggers.map(TriggerListing::of).collect(),
    };
    encode_result(&info)
}

pub(super) fn trigger_types(core: &Arc<Core>, _: &RawValue) -> Outcome {
    let directory = core.directory();
    let triggers: Vec<_> = list_trigger_types(&directory).collect();
    object("triggers", triggers)
}

pub(super) fn trigger_type(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let Id { id } = decode(data)?;
    let directory = core.directory();
    let listing = list_trigger_types(&directory).find(|listing| listing.id == id);
    let listing = listing.ok_or_else(|| not_found("trigger type", &id))?;
    let count = directory.triggers.of_type(&id).count();
    let spec = directory.trigger_types.get(&id).map(|found| &found.spec);
    encode_result(&listing.with_details(spec, count))
}

pub(super) fn triggers(core: &Arc<Core>, _: &RawValue) -> Outcome {
    let directory = core.directory();
    let triggers: Vec<_> = directory.triggers.all().map(TriggerListing::of).collect();
    object("registered_triggers", triggers)
}

pub(super) fn register_trigger(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let new: NewTrigger = decode(data)?;
    let id = new.id.unwrap_or_else(|| Uuid::new_v4().to_string());
    let trigger = TriggerSpec {
        id: id.clone(),
        trigger_type: new.trigger_type,
        function_id: new.function_id,
        config: new.config.unwrap_or_default(),
        metadata: new.metadata,
        ..TriggerSpec::default()
    };
    core.register_trigger(None, trigger, data.get().len())?;
    encode_result(&Id { id })
}

pub(super) fn unregister_trigger(core: &Arc<Core>, data: &RawValue) -> Outcome {
    let Id { id } = decode(data)?;
    core.directory_mut().remove_unowned_trigger(&id);
    Ok(None)
}

fn not_found(what: &str, id: &str) -> ErrorBody {
    ErrorBody::new("NOT_FOUND", format!("{what} `{id}` not found"))
}
