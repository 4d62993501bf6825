//! Who is here and what they offer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::session::Session;
use super::trigger::Triggers;
use crate::message::{RegisterFunction, RegisterTriggerType};

/// The namespace there is.
pub(super) const NAMESPACE: &str = "default";

/// Everything that is looked up by name. Kept under one lock, held for moments;
/// what must stay in order is said while it is held.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub(super) sessions: BTreeMap<u64, Arc<Session>>,
    names: HashMap<String, Arc<Session>>,
    functions: HashMap<String, Function>,
    pub(super) kinds: BTreeMap<String, Kind>,
    pub(super) triggers: Triggers,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) spec: RegisterFunction,
    pub(super) owner: Arc<Session>,
}

/// A trigger type.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) spec: RegisterTriggerType,
    pub(super) provider: Arc<Session>,
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

    pub(super) fn functions_of(&self, session: &Session) -> usize {
        self.functions
            .values()
            .filter(|function| function.owner.serial == session.serial)
            .count()
    }

    /// Adds a function, or answers who has it already.
    pub(super) fn add_function(
        &mut self,
        spec: RegisterFunction,
        owner: &Arc<Session>,
    ) -> Result<(), Arc<Session>> {
        if let Some(taken) = self.functions.get(&spec.id)
            && taken.owner.serial != owner.serial
        {
            return Err(Arc::clone(&taken.owner));
        }
        self.functions.insert(
            spec.id.clone(),
            Function {
                spec,
                owner: Arc::clone(owner),
            },
        );
        Ok(())
    }

    /// Takes a function back; answers whether it was this worker's.
    pub(super) fn remove_function(&mut self, id: &str, owner: &Session) -> bool {
        let ours = self
            .functions
            .get(id)
            .is_some_and(|f| f.owner.serial == owner.serial);
        if ours {
            self.functions.remove(id);
        }
        ours
    }

    /// Takes a name for a worker, or answers who has it already.
    pub(super) fn take_name(
        &mut self,
        name: &str,
        session: &Arc<Session>,
    ) -> Result<(), Arc<Session>> {
        if let Some(taken) = self.names.get(name)
            && taken.serial != session.serial
        {
            return Err(Arc::clone(taken));
        }
        self.names
            .retain(|_, holder| holder.serial != session.serial);
        self.names.insert(name.to_owned(), Arc::clone(session));
        Ok(())
    }

    pub(super) fn named(&self, name: &str) -> Option<&Arc<Session>> {
        self.names.get(name)
    }

    /// Takes a worker and all it offered out; answers whether it was here.
    pub(super) fn remove(&mut self, session: &Session) -> bool {
        if self.sessions.remove(&session.serial).is_none() {
            return false;
        }
        self.names
            .retain(|_, holder| holder.serial != session.serial);
        self.functions
            .retain(|_, function| function.owner.serial != session.serial);
        self.drop_triggers_of(session);
        let provided: Vec<_> = self
            .kinds
            .iter()
            .filter(|(_, kind)| kind.provider.serial == session.serial)
            .map(|(id, _)| id.clone())
            .collect();
        for id in provided {
            self.kinds.remove(&id);
            self.triggers.park(&id);
        }
        true
    }
}
