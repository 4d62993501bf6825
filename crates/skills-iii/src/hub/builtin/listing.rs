//! Workers, functions and triggers as the lists of `engine::*` show them.

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::HUB_NAME;
use crate::hub::directory::{Function, NAMESPACE};
use crate::hub::session::{Profile, Session};
use crate::hub::trigger::TriggerEntry;
use crate::hub::trigger_type::ProvidedType;
use crate::message::{FunctionSpec, TriggerTypeSpec};

#[derive(Default, Serialize)]
pub(crate) struct FunctionListing<'a> {
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
    registered_triggers: Option<Vec<TriggerListing<'a>>>,
}

impl<'a> FunctionListing<'a> {
    pub(super) fn of(function: &'a Function) -> Self {
        Self {
            function_id: &function.spec.id,
            namespace: NAMESPACE,
            worker_name: function.owner.name(),
            description: function.spec.description.as_deref(),
            metadata: function.spec.metadata.as_deref(),
            ..Self::default()
        }
    }

    pub(super) fn of_builtin((id, description): (&'static str, &'static str)) -> Self {
        Self {
            function_id: id,
            namespace: NAMESPACE,
            worker_name: HUB_NAME.to_owned(),
            description: Some(description),
            ..Self::default()
        }
    }

    pub(super) fn with_schemas(mut self, spec: &'a FunctionSpec) -> Self {
        self.request_schema = spec.request_format.as_deref();
        self.response_schema = spec.response_format.as_deref();
        self
    }

    pub(super) fn with_triggers(mut self, triggers: Vec<TriggerListing<'a>>) -> Self {
        self.registered_triggers = Some(triggers);
        self
    }
}

/// Whether a list omits the function by default.
pub(super) fn is_internal(function: &FunctionListing<'_>) -> bool {
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(default)]
        internal: bool,
    }
    function.function_id.starts_with("engine::")
        || function.metadata.is_some_and(|metadata| {
            serde_json::from_str::<Metadata>(metadata.get()).is_ok_and(|found| found.internal)
        })
}

#[derive(Serialize)]
pub(super) struct WorkerListing<'a> {
    id: &'a str,
    name: String,
    #[serde(flatten)]
    profile: Profile,
    namespace: &'static str,
    status: &'static str,
    function_count: usize,
    connected_at_ms: u64,
    active_invocations: usize,
    ip_address: Option<String>,
}

impl<'a> WorkerListing<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        Self {
            id: &session.worker_id,
            name: session.name(),
            profile: session.profile().clone(),
            namespace: NAMESPACE,
            status: "connected",
            function_count: session.functions.load(Ordering::Relaxed),
            connected_at_ms: session.connected_at_ms,
            active_invocations: session.pending_calls(),
            ip_address: session.address.map(|address| address.to_string()),
        }
    }

    pub(super) fn of_hub(id: &'a str) -> Self {
        Self {
            id,
            name: HUB_NAME.to_owned(),
            profile: Profile {
                description: Some("The embedded engine itself.".to_owned()),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                runtime: Some(HUB_NAME.to_owned()),
                os: Some(std::env::consts::OS.to_owned()),
                pid: Some(u64::from(std::process::id())),
                ..Profile::default()
            },
            namespace: NAMESPACE,
            status: "connected",
            function_count: super::all().count(),
            connected_at_ms: 0,
            active_invocations: 0,
            ip_address: None,
        }
    }
}

#[derive(Default, Serialize)]
pub(super) struct TriggerTypeListing<'a> {
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

impl<'a> TriggerTypeListing<'a> {
    pub(super) fn of(provided: &'a ProvidedType) -> Self {
        Self {
            id: &provided.spec.id,
            namespace: NAMESPACE,
            worker_name: provided.provider.name(),
            description: &provided.spec.description,
            ..Self::default()
        }
    }

    pub(super) fn of_builtin((id, description): &(&'static str, &'static str)) -> Self {
        Self {
            id,
            namespace: NAMESPACE,
            worker_name: HUB_NAME.to_owned(),
            description,
            ..Self::default()
        }
    }

    pub(super) fn with_details(mut self, spec: Option<&'a TriggerTypeSpec>, count: usize) -> Self {
        self.configuration_schema = spec.and_then(|spec| spec.trigger_request_format.as_deref());
        self.request_schema = spec.and_then(|spec| spec.call_request_format.as_deref());
        self.instance_count = Some(count);
        self
    }
}

#[derive(Serialize)]
pub(super) struct TriggerListing<'a> {
    id: &'a str,
    trigger_type: &'a str,
    function_id: &'a str,
    config: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    worker_name: Option<String>,
}

impl<'a> TriggerListing<'a> {
    pub(super) fn of(entry: &'a TriggerEntry) -> Self {
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
