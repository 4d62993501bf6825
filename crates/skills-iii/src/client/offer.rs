//! What a worker offers and asks for: functions, trigger types, triggers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::message::{
    ErrorBody, Extra, Message, Raw, RegisterFunction, RegisterTrigger, RegisterTriggerType,
    RegistrationRejected,
};

/// What answers a call: its payload in, a result (or none) or a failure out.
pub type Handler =
    Arc<dyn Fn(Raw) -> BoxFuture<'static, Result<Option<Raw>, ErrorBody>> + Send + Sync>;

/// A function to offer.
#[derive(Clone, Debug, Default)]
pub struct FunctionSpec {
    /// Such as `skills::register`.
    pub id: String,
    /// What it does, in words.
    pub description: Option<String>,
    /// JSON schema of the input.
    pub request_format: Option<Raw>,
    /// JSON schema of the output.
    pub response_format: Option<Raw>,
    /// Anything else.
    pub metadata: Option<Raw>,
}

/// A trigger type to offer.
#[derive(Clone, Debug, Default)]
pub struct TriggerTypeSpec {
    /// Such as `skills::on-change`.
    pub id: String,
    /// When it fires, in words.
    pub description: String,
    /// JSON schema of a trigger's `config`.
    pub trigger_request_format: Option<Raw>,
    /// JSON schema of what the called function gets.
    pub call_request_format: Option<Raw>,
}

/// A trigger to ask for.
#[derive(Clone, Debug)]
pub struct TriggerSpec {
    /// Any id not in use; a UUID is customary.
    pub id: String,
    /// What to wait for.
    pub trigger_type: String,
    /// What to call.
    pub function_id: String,
    /// The provider's settings.
    pub config: Raw,
    /// Anything else.
    pub metadata: Option<Raw>,
}

/// Somebody's wish, as the provider of the type sees it.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The trigger.
    pub id: String,
    /// What to call.
    pub function_id: String,
    /// The provider's settings.
    pub config: Raw,
    /// Anything else the subscriber said.
    pub metadata: Option<Raw>,
}

/// Keeps the triggers of one type.
///
/// Both are called in the order the engine says them, from the task that reads
/// the connection: they note what they are told and return at once.
pub trait TriggerProvider: Send + Sync + 'static {
    /// Somebody wants to be told; an error refuses it.
    fn on_register(&self, trigger: Trigger) -> Result<(), ErrorBody>;
    /// Nobody is there for this trigger any more, or the engine is gone (which
    /// says everything again when it is back).
    fn on_unregister(&self, trigger_id: &str);
}

/// Everything on offer, so that it can be said again after a reconnect.
#[derive(Default)]
pub(super) struct Offers {
    functions: BTreeMap<String, (FunctionSpec, Handler)>,
    types: BTreeMap<String, (TriggerTypeSpec, Arc<dyn TriggerProvider>)>,
    triggers: BTreeMap<String, TriggerSpec>,
    /// Functions somebody else has, and who.
    rejected: BTreeMap<String, RegistrationRejected>,
    /// Triggers our providers were told about, and their types.
    told: HashMap<String, String>,
}

impl Offers {
    pub(super) fn add_function(&mut self, spec: FunctionSpec, handler: Handler) -> Message {
        let message = register_function(&spec);
        self.rejected.remove(&spec.id);
        self.functions.insert(spec.id.clone(), (spec, handler));
        message
    }

    pub(super) fn remove_function(&mut self, id: &str) -> Option<Message> {
        self.functions.remove(id)?;
        // A function somebody else has is not ours to take back.
        let owned = self.rejected.remove(id).is_none();
        owned.then(|| Message::UnregisterFunction { id: id.to_owned() })
    }

    pub(super) fn add_type(
        &mut self,
        spec: TriggerTypeSpec,
        provider: Arc<dyn TriggerProvider>,
    ) -> Message {
        let message = register_type(&spec);
        self.types.insert(spec.id.clone(), (spec, provider));
        message
    }

    /// The message, the provider, and the triggers it is to forget.
    pub(super) fn remove_type(
        &mut self,
        id: &str,
    ) -> Option<(Message, Arc<dyn TriggerProvider>, Vec<String>)> {
        let (_, provider) = self.types.remove(id)?;
        let ended = self
            .told
            .extract_if(|_, kind| kind == id)
            .map(|(trigger, _)| trigger);
        let ended = ended.collect();
        Some((
            Message::UnregisterTriggerType { id: id.to_owned() },
            provider,
            ended,
        ))
    }

    pub(super) fn add_trigger(&mut self, spec: TriggerSpec) -> Message {
        let message = register_trigger(&spec);
        self.triggers.insert(spec.id.clone(), spec);
        message
    }

    pub(super) fn remove_trigger(&mut self, id: &str) -> Option<Message> {
        let spec = self.triggers.remove(id)?;
        let id = spec.id;
        Some(Message::UnregisterTrigger {
            id,
            trigger_type: Some(spec.trigger_type),
        })
    }

    /// Everything, functions first: a trigger type must not be ours before its
    /// functions are.
    pub(super) fn all(&mut self) -> Vec<Message> {
        self.rejected.clear();
        let functions = self
            .functions
            .values()
            .map(|(spec, _)| register_function(spec));
        let types = self.types.values().map(|(spec, _)| register_type(spec));
        let triggers = self.triggers.values().map(register_trigger);
        functions.chain(types).chain(triggers).collect()
    }

    pub(super) fn function_ids(&self) -> Vec<String> {
        self.functions
            .keys()
            .filter(|id| !self.rejected.contains_key(*id))
            .cloned()
            .collect()
    }

    pub(super) fn handler(&self, function_id: &str) -> Option<Handler> {
        self.functions
            .get(function_id)
            .map(|(_, handler)| Arc::clone(handler))
    }

    pub(super) fn provider(&self, trigger_type: &str) -> Option<Arc<dyn TriggerProvider>> {
        self.types
            .get(trigger_type)
            .map(|(_, provider)| Arc::clone(provider))
    }

    pub(super) fn reject(&mut self, refusal: RegistrationRejected) {
        if let Some(id) = &refusal.function_id {
            self.rejected.insert(id.clone(), refusal);
        }
    }

    pub(super) fn rejected(&self) -> Vec<RegistrationRejected> {
        self.rejected.values().cloned().collect()
    }

    /// Asks again for what was refused.
    pub(super) fn reclaim(&mut self) -> Vec<Message> {
        let refused = std::mem::take(&mut self.rejected);
        let again = refused.keys().filter_map(|id| self.functions.get(id));
        again.map(|(spec, _)| register_function(spec)).collect()
    }

    pub(super) fn note(&mut self, trigger_id: &str, trigger_type: &str) {
        self.told
            .insert(trigger_id.to_owned(), trigger_type.to_owned());
    }

    pub(super) fn forget(&mut self, trigger_id: &str) -> Option<Arc<dyn TriggerProvider>> {
        let kind = self.told.remove(trigger_id)?;
        self.provider(&kind)
    }

    /// Every trigger our providers were told about; they are told no more.
    pub(super) fn forget_all(&mut self) -> Vec<(String, Arc<dyn TriggerProvider>)> {
        let told = std::mem::take(&mut self.told);
        told.into_iter()
            .filter_map(|(id, kind)| Some((id, self.provider(&kind)?)))
            .collect()
    }
}

fn register_function(spec: &FunctionSpec) -> Message {
    Message::RegisterFunction(Box::new(RegisterFunction {
        id: spec.id.clone(),
        description: spec.description.clone(),
        request_format: spec.request_format.clone(),
        response_format: spec.response_format.clone(),
        metadata: spec.metadata.clone(),
        invocation: None,
        extra: Extra::new(),
    }))
}

fn register_type(spec: &TriggerTypeSpec) -> Message {
    Message::RegisterTriggerType(Box::new(RegisterTriggerType {
        id: spec.id.clone(),
        description: spec.description.clone(),
        trigger_request_format: spec.trigger_request_format.clone(),
        call_request_format: spec.call_request_format.clone(),
        namespace: None,
        extra: Extra::new(),
    }))
}

fn register_trigger(spec: &TriggerSpec) -> Message {
    Message::RegisterTrigger(Box::new(RegisterTrigger {
        id: spec.id.clone(),
        trigger_type: spec.trigger_type.clone(),
        function_id: spec.function_id.clone(),
        config: spec.config.clone(),
        metadata: spec.metadata.clone(),
        namespace: None,
        trigger_namespace: None,
        extra: Extra::new(),
    }))
}
