//! The connected workers and what they offer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::registered::Registered;
use super::session::Session;
use super::trigger::Triggers;
use super::trigger_type::TriggerTypes;
use crate::message::FunctionSpec;

/// The only namespace.
pub(super) const NAMESPACE: &str = "default";

/// Everything that is looked up by name, under one lock that is held only briefly. Messages whose
/// order matters are queued while it is held.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub(super) sessions: BTreeMap<u64, Arc<Session>>,
    workers: HashMap<String, Arc<Session>>,
    functions: HashMap<String, Function>,
    pub(super) trigger_types: TriggerTypes,
    pub(super) triggers: Triggers,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) spec: FunctionSpec,
    pub(super) owner: Arc<Session>,
    _bytes: Registered,
}

impl Directory {
    pub(super) fn function(&self, id: &str) -> Option<&Function> {
        self.functions.get(id)
    }

    /// Every function, by id.
    pub(super) fn functions(&self) -> Vec<&Function> {
        let mut functions: Vec<_> = self.functions.values().collect();
        functions.sort_unstable_by(|a, b| a.spec.id.cmp(&b.spec.id));
        functions
    }

    /// Adds a function; fails with its owner if another worker has registered it.
    pub(super) fn add_function(
        &mut self,
        spec: FunctionSpec,
        bytes: Registered,
        owner: &Arc<Session>,
    ) -> Result<(), Arc<Session>> {
        if let Some(taken) = self.functions.get(&spec.id)
            && !taken.owner.is(owner)
        {
            return Err(Arc::clone(&taken.owner));
        }
        let function = Function {
            owner: Arc::clone(owner),
            spec,
            _bytes: bytes,
        };
        let previous = self.functions.insert(function.spec.id.clone(), function);
        if previous.is_none() {
            owner.functions.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Removes a function if this worker owns it, and returns whether it did.
    pub(super) fn remove_function(&mut self, id: &str, owner: &Session) -> bool {
        let found = self.functions.get(id).is_some_and(|f| f.owner.is(owner));
        if found {
            self.functions.remove(id);
            owner.functions.fetch_sub(1, Ordering::Relaxed);
        }
        found
    }

    /// Gives a name to a worker; fails with the worker that has it.
    pub(super) fn take_name(
        &mut self,
        name: &str,
        session: &Arc<Session>,
    ) -> Result<(), Arc<Session>> {
        if let Some(taken) = self.workers.get(name)
            && !taken.is(session)
        {
            return Err(Arc::clone(taken));
        }
        self.workers.retain(|_, worker| !worker.is(session));
        self.workers.insert(name.to_owned(), Arc::clone(session));
        Ok(())
    }

    /// The worker with this name.
    pub(super) fn worker(&self, name: &str) -> Option<&Arc<Session>> {
        self.workers.get(name)
    }

    /// Removes a worker and everything it offered; returns whether it was connected.
    pub(super) fn remove(&mut self, session: &Session) -> bool {
        if self.sessions.remove(&session.serial).is_none() {
            return false;
        }
        self.workers.retain(|_, worker| !worker.is(session));
        self.functions
            .retain(|_, function| !function.owner.is(session));
        self.remove_triggers_of(session);
        self.remove_trigger_types_of(session);
        true
    }
}
