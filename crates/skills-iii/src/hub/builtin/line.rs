//! How workers, functions and triggers read in the lists of `engine::*`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hub::directory::{Directory, Function, Kind, NAMESPACE};
use crate::hub::session::Session;
use crate::hub::trigger::Entry;
use crate::message::{RegisterFunction, RegisterTriggerType};

/// The name under which the hub lists what is its own.
const ENGINE: &str = "engine";

#[derive(Serialize)]
pub(crate) struct FunctionLine<'a> {
    pub(super) function_id: &'a str,
    namespace: &'static str,
    pub(super) worker_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registered_triggers: Option<Vec<TriggerLine<'a>>>,
}

impl<'a> FunctionLine<'a> {
    pub(super) fn of(function: &'a Function) -> Self {
        Self {
            function_id: &function.spec.id,
            namespace: NAMESPACE,
            worker_name: function.owner.name(),
            description: function.spec.description.as_deref(),
            metadata: function.spec.metadata.as_deref(),
            request_schema: None,
            response_schema: None,
            registered_triggers: None,
        }
    }

    pub(super) fn of_builtin((id, description): (&'static str, &'static str)) -> Self {
        Self {
            function_id: id,
            namespace: NAMESPACE,
            worker_name: ENGINE.to_owned(),
            description: Some(description),
            metadata: None,
            request_schema: None,
            response_schema: None,
            registered_triggers: None,
        }
    }

    pub(super) fn with_schemas(mut self, spec: &'a RegisterFunction) -> Self {
        self.request_schema = spec.request_format.as_deref();
        self.response_schema = spec.response_format.as_deref();
        self
    }

    pub(super) fn with_triggers(mut self, triggers: Vec<TriggerLine<'a>>) -> Self {
        self.registered_triggers = Some(triggers);
        self
    }
}

/// Whether a list leaves a function out unless asked.
pub(super) fn is_internal(line: &FunctionLine<'_>) -> bool {
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(default)]
        internal: bool,
    }
    line.function_id.starts_with("engine::")
        || line.metadata.is_some_and(|metadata| {
            serde_json::from_str::<Metadata>(metadata.get()).is_ok_and(|found| found.internal)
        })
}

#[derive(Serialize)]
pub(super) struct WorkerLine<'a> {
    id: &'a str,
    name: String,
    description: Option<String>,
    version: Option<String>,
    namespace: &'static str,
    runtime: Option<String>,
    os: Option<String>,
    pid: Option<u64>,
    status: &'static str,
    function_count: usize,
    connected_at_ms: u64,
    active_invocations: usize,
    isolation: Option<String>,
    ip_address: Option<String>,
}

impl<'a> WorkerLine<'a> {
    pub(super) fn of(session: &'a Session, directory: &Directory) -> Self {
        let profile = session.profile().clone();
        Self {
            id: &session.worker_id,
            name: session.name(),
            description: profile.description,
            version: profile.version,
            namespace: NAMESPACE,
            runtime: profile.runtime,
            os: profile.os,
            pid: profile.pid,
            status: "connected",
            function_count: directory.functions_of(session),
            connected_at_ms: session.connected_at_ms,
            active_invocations: session.open_calls(),
            isolation: profile.isolation,
            ip_address: session.address.map(|address| address.to_string()),
        }
    }

    pub(super) fn of_hub(id: &'a str) -> Self {
        Self {
            id,
            name: ENGINE.to_owned(),
            description: Some("The embedded engine itself.".to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            namespace: NAMESPACE,
            runtime: Some(ENGINE.to_owned()),
            os: Some(std::env::consts::OS.to_owned()),
            pid: Some(u64::from(std::process::id())),
            status: "connected",
            function_count: super::all().count(),
            connected_at_ms: 0,
            active_invocations: 0,
            isolation: None,
            ip_address: None,
        }
    }
}

#[derive(Serialize)]
pub(super) struct KindLine<'a> {
    pub(super) id: &'a str,
    namespace: &'static str,
    worker_name: String,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_count: Option<usize>,
}

impl<'a> KindLine<'a> {
    pub(super) fn of(kind: &'a Kind) -> Self {
        Self::new(&kind.spec.id, kind.provider.name(), &kind.spec.description)
    }

    pub(super) fn of_own((id, about): &(&'static str, &'static str)) -> Self {
        Self::new(id, ENGINE.to_owned(), about)
    }

    fn new(id: &'a str, worker_name: String, description: &'a str) -> Self {
        Self {
            id,
            namespace: NAMESPACE,
            worker_name,
            description,
            configuration_schema: None,
            request_schema: None,
            instance_count: None,
        }
    }

    pub(super) fn with_details(
        mut self,
        spec: Option<&'a RegisterTriggerType>,
        count: usize,
    ) -> Self {
        self.configuration_schema = spec.and_then(|spec| spec.trigger_request_format.as_deref());
        self.request_schema = spec.and_then(|spec| spec.call_request_format.as_deref());
        self.instance_count = Some(count);
        self
    }
}

#[derive(Serialize)]
pub(super) struct TriggerLine<'a> {
    id: &'a str,
    trigger_type: &'a str,
    function_id: &'a str,
    config: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    worker_name: Option<String>,
}

impl<'a> TriggerLine<'a> {
    pub(super) fn of(entry: &'a Entry) -> Self {
        let trigger = &entry.trigger;
        Self {
            id: &trigger.id,
            trigger_type: &trigger.trigger_type,
            function_id: &trigger.function_id,
            config: &trigger.config,
            metadata: trigger.metadata.as_deref(),
            worker_name: entry.subscriber.as_ref().map(|session| session.name()),
        }
    }
}
