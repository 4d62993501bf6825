//! Trigger types: which worker provides them.
//!
//! The first worker that offers a type provides it for as long as it offers it; then the next one
//! does. So a worker cannot take the subscriptions of another, and none are lost when it leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directory::Directory;
use super::registered::Registered;
use super::session::Session;
use crate::limits::MAX_TRIGGER_TYPES_PER_WORKER;
use crate::message::{ErrorBody, TriggerTypeSpec};

/// The offers of each type, the provider's first. No list is empty.
#[derive(Debug, Default)]
pub(super) struct TriggerTypes(BTreeMap<String, Vec<ProvidedType>>);

/// A trigger type that a worker provides.
#[derive(Debug)]
pub(super) struct ProvidedType {
    pub(super) spec: TriggerTypeSpec,
    pub(super) provider: Arc<Session>,
    _bytes: Registered,
}

impl TriggerTypes {
    /// The type that is provided.
    pub(super) fn get(&self, id: &str) -> Option<&ProvidedType> {
        self.0.get(id)?.first()
    }

    /// Every type that is provided, by id.
    pub(super) fn all(&self) -> impl Iterator<Item = &ProvidedType> {
        self.0.values().filter_map(|offers| offers.first())
    }

    fn count_of(&self, session: &Session) -> usize {
        let offers = self.0.values().flatten();
        offers.filter(|offer| offer.provider.is(session)).count()
    }

    /// Removes an offer; returns whether its worker was the provider.
    fn remove(&mut self, id: &str, session: &Session) -> bool {
        let Some(offers) = self.0.get_mut(id) else {
            return false;
        };
        let provided = offers
            .first()
            .is_some_and(|offer| offer.provider.is(session));
        offers.retain(|offer| !offer.provider.is(session));
        if offers.is_empty() {
            self.0.remove(id);
        }
        provided
    }
}

impl Directory {
    /// Adds the offer of a trigger type. If it is the first, its worker gets the triggers that
    /// wait for a provider.
    pub(super) fn add_trigger_type(
        &mut self,
        spec: TriggerTypeSpec,
        bytes: Registered,
        provider: &Arc<Session>,
    ) -> Result<(), ErrorBody> {
        let id = spec.id.clone();
        let new = ProvidedType {
            spec,
            provider: Arc::clone(provider),
            _bytes: bytes,
        };
        let offers = self.trigger_types.0.get_mut(&id);
        let own = |offer: &&mut ProvidedType| offer.provider.is(provider);
        if let Some(offer) = offers.and_then(|offers| offers.iter_mut().find(own)) {
            *offer = new;
        } else {
            if self.trigger_types.count_of(provider) >= MAX_TRIGGER_TYPES_PER_WORKER {
                let message =
                    format!("a worker offers at most {MAX_TRIGGER_TYPES_PER_WORKER} trigger types");
                return Err(ErrorBody::new("too_many_trigger_types", message));
            }
            let offers = self.trigger_types.0.entry(id.clone()).or_default();
            offers.push(new);
        }
        self.provide(&id);
        let first = self.trigger_types.get(&id);
        if let Some(first) = first.filter(|first| !first.provider.is(provider)) {
            let message = format!("the worker `{}` provides it", first.provider.name());
            return Err(ErrorBody::new("taken", message));
        }
        Ok(())
    }

    /// Removes the offer of a trigger type; its triggers go to the next provider or wait for one.
    pub(super) fn remove_trigger_type(&mut self, id: &str, provider: &Session) {
        if self.trigger_types.remove(id, provider) {
            self.triggers.lose_provider(id);
            self.provide(id);
        }
    }

    pub(super) fn remove_trigger_types_of(&mut self, session: &Session) {
        let ids: Vec<_> = self.trigger_types.0.keys().cloned().collect();
        for id in ids {
            self.remove_trigger_type(&id, session);
        }
    }
}
