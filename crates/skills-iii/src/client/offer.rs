//! What a worker offers and subscribes to: functions, trigger types and triggers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::message::{
    ErrorBody, FunctionSpec, Id, Message, Raw, RegistrationRejected, TriggerSpec, TriggerTypeSpec,
    UnregisterTrigger,
};

/// Runs a call: takes its payload, returns a result (or none) or an error.
pub type Handler =
    Arc<dyn Fn(Raw) -> BoxFuture<'static, Result<Option<Raw>, ErrorBody>> + Send + Sync>;

/// A function of this worker, by what its callers expect.
#[derive(Clone)]
pub(super) enum OfferedHandler {
    /// A result.
    Function(Handler),
    /// Nothing: it receives events.
    Listener(Handler),
}

/// Keeps the triggers of one type.
///
/// Both methods are called in the order of the engine's messages, from the task that reads the
/// connection: they must return at once.
pub trait TriggerProvider: Send + Sync + 'static {
    /// Adds a trigger; an error rejects it.
    fn on_register(&self, trigger: TriggerSpec) -> Result<(), ErrorBody>;
    /// Removes a trigger: its subscriber is gone, or the connection is. After a reconnect the
    /// engine registers every trigger again.
    fn on_unregister(&self, trigger_id: &str);
}

/// All offers, which are sent again after a reconnect.
#[derive(Default)]
pub(super) struct Offers {
    functions: BTreeMap<String, (FunctionSpec, OfferedHandler)>,
    types: BTreeMap<String, (TriggerTypeSpec, Arc<dyn TriggerProvider>)>,
    triggers: BTreeMap<String, TriggerSpec>,
    /// Functions that other workers have registered.
    rejected: BTreeMap<String, RegistrationRejected>,
    /// The type of each trigger that our providers keep.
    provided: HashMap<String, String>,
}

impl Offers {
    pub(super) fn add_function(&mut self, spec: FunctionSpec, handler: OfferedHandler) -> Message {
        let message = register_function(&spec);
        self.rejected.remove(&spec.id);
        self.functions.insert(spec.id.clone(), (spec, handler));
        message
    }

    pub(super) fn remove_function(&mut self, id: &str) -> Option<Message> {
        self.functions.remove(id)?;
        // A function that the engine rejected is another worker's.
        let accepted = self.rejected.remove(id).is_none();
        accepted.then(|| Message::UnregisterFunction(Id { id: id.to_owned() }))
    }

    pub(super) fn add_type(
        &mut self,
        spec: TriggerTypeSpec,
        provider: Arc<dyn TriggerProvider>,
    ) -> Message {
        let message = Message::RegisterTriggerType(Box::new(spec.clone()));
        self.types.insert(spec.id.clone(), (spec, provider));
        message
    }

    /// The message, the provider, and the triggers that it has to remove.
    pub(super) fn remove_type(
        &mut self,
        id: &str,
    ) -> Option<(Message, Arc<dyn TriggerProvider>, Vec<String>)> {
        let (_, provider) = self.types.remove(id)?;
        let ended = self.provided.extract_if(|_, kind| kind == id);
        let ended = ended.map(|(trigger, _)| trigger).collect();
        let message = Message::UnregisterTriggerType(Id { id: id.to_owned() });
        Some((message, provider, ended))
    }

    pub(super) fn add_trigger(&mut self, spec: TriggerSpec) -> Message {
        let message = Message::RegisterTrigger(Box::new(spec.clone()));
        self.triggers.insert(spec.id.clone(), spec);
        message
    }

    pub(super) fn remove_trigger(&mut self, id: &str) -> Option<Message> {
        let spec = self.triggers.remove(id)?;
        Some(Message::UnregisterTrigger(UnregisterTrigger {
            id: spec.id,
            trigger_type: Some(spec.trigger_type),
        }))
    }

    /// Everything, functions first: a trigger type must not be available before its functions.
    pub(super) fn all(&mut self) -> Vec<Message> {
        self.rejected.clear();
        let functions = self.functions.values();
        let functions = functions.map(|(spec, _)| register_function(spec));
        let types = self.types.values();
        let types = types.map(|(spec, _)| Message::RegisterTriggerType(Box::new(spec.clone())));
        let triggers = self.triggers.values();
        let triggers = triggers.map(|spec| Message::RegisterTrigger(Box::new(spec.clone())));
        functions.chain(types).chain(triggers).collect()
    }

    /// The functions that the engine has not rejected.
    pub(super) fn function_ids(&self) -> Vec<String> {
        let ids = self.functions.keys();
        ids.filter(|id| !self.rejected.contains_key(*id))
            .cloned()
            .collect()
    }

    pub(super) fn handler(&self, function_id: &str) -> Option<OfferedHandler> {
        let (_, handler) = self.functions.get(function_id)?;
        Some(handler.clone())
    }

    pub(super) fn provider(&self, trigger_type: &str) -> Option<Arc<dyn TriggerProvider>> {
        let (_, provider) = self.types.get(trigger_type)?;
        Some(Arc::clone(provider))
    }

    pub(super) fn reject(&mut self, rejected: RegistrationRejected) {
        if let Some(id) = &rejected.function_id {
            self.rejected.insert(id.clone(), rejected);
        }
    }

    pub(super) fn rejected(&self) -> Vec<RegistrationRejected> {
        self.rejected.values().cloned().collect()
    }

    /// The registrations of every rejected function.
    pub(super) fn retry_rejected(&mut self) -> Vec<Message> {
        let rejected = std::mem::take(&mut self.rejected);
        let functions = rejected.keys().filter_map(|id| self.functions.get(id));
        functions.map(|(spec, _)| register_function(spec)).collect()
    }

    pub(super) fn add_provided(&mut self, trigger_id: &str, trigger_type: &str) {
        self.provided
            .insert(trigger_id.to_owned(), trigger_type.to_owned());
    }

    pub(super) fn remove_provided(&mut self, trigger_id: &str) -> Option<Arc<dyn TriggerProvider>> {
        let trigger_type = self.provided.remove(trigger_id)?;
        self.provider(&trigger_type)
    }

    /// Removes every trigger that our providers keep.
    pub(super) fn remove_all_provided(&mut self) -> Vec<(String, Arc<dyn TriggerProvider>)> {
        let provided = std::mem::take(&mut self.provided);
        provided
            .into_iter()
            .filter_map(|(id, trigger_type)| Some((id, self.provider(&trigger_type)?)))
            .collect()
    }
}

fn register_function(spec: &FunctionSpec) -> Message {
    Message::RegisterFunction(Box::new(spec.clone()))
}
