//! The use cases. Every surface decodes, makes one of these calls, and encodes.

mod fetch;
mod prompts;
mod resources;
mod route;
mod skills;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use prompts::{PromptHead, PromptMenuEntry};
pub use resources::{Resource, ResourceTemplate, TEMPLATES};
pub use route::{CHAIN_BYTES_MAX, CHAIN_MAX, Match, Missing, REQUEST_MAX, Resolved, ResolvedSkill};
pub use skills::SkillHead;

use crate::catalogue::Catalogue;
use crate::change::Publisher;
use crate::{Change, Engine, Error, Failure, Listener, Prompt, Skill, Skipped, Source, Topic};

/// What can be set about a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySettings {
    /// The scope of state that holds the skills.
    pub skills_scope: String,
    /// The scope of state that holds the prompts.
    pub prompts_scope: String,
    /// How long to wait for state, sections and prompt handlers.
    pub timeout: Duration,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            skills_scope: "skills".into(),
            prompts_scope: "prompts".into(),
            timeout: Duration::from_secs(10),
        }
    }
}

/// Skills and prompts on some engine.
pub struct Registry {
    engine: Arc<dyn Engine>,
    sources: Vec<Arc<dyn Source>>,
    publisher: Arc<Publisher>,
    skills: Catalogue<Skill>,
    prompts: Catalogue<Prompt>,
    timeout: Duration,
    /// The time as RFC 3339 in UTC with sub-second digits.
    now: fn() -> String,
}

impl Registry {
    /// A registry on an engine. It asks the engine for everything until
    /// [`connected`](Self::connected) says that the engine rings for changes.
    pub fn new(
        engine: Arc<dyn Engine>,
        sources: Vec<Arc<dyn Source>>,
        settings: RegistrySettings,
        now: fn() -> String,
    ) -> Self {
        let publisher = Arc::new(Publisher::new(Arc::clone(&engine)));
        let RegistrySettings {
            skills_scope,
            prompts_scope,
            timeout,
        } = settings;
        Self {
            skills: Catalogue::new(
                Arc::clone(&engine),
                Arc::clone(&publisher),
                skills_scope,
                timeout,
            ),
            prompts: Catalogue::new(
                Arc::clone(&engine),
                Arc::clone(&publisher),
                prompts_scope,
                timeout,
            ),
            engine,
            sources,
            publisher,
            timeout,
            now,
        }
    }

    /// The engine is there. `watched`: it will ring for every change of the two
    /// scopes from now on. Events may have been missed, so all is read again.
    pub fn connected(&self, watched: bool) {
        self.skills.connected(watched);
        self.prompts.connected(watched);
    }

    /// The engine is gone, and with it everybody who subscribed through it.
    pub fn disconnected(&self) {
        self.skills.disconnected();
        self.prompts.disconnected();
        self.publisher.unsubscribe_all();
    }

    /// Loads both scopes, so that the first reader does not wait for it.
    pub async fn load(&self) -> Result<(), Error> {
        let failed = |cause| Error::State {
            doing: "load the registry".into(),
            cause,
        };
        self.skills.snapshot().await.map_err(failed)?;
        self.prompts.snapshot().await.map_err(failed)?;
        Ok(())
    }

    /// An event of the engine's `state` trigger: somebody wrote a row.
    pub async fn apply_state_event(&self, event: &RawValue) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Event<'a> {
            scope: String,
            /// None where more changed than could be told one by one.
            #[serde(default)]
            key: Option<Arc<str>>,
            #[serde(default, borrow, deserialize_with = "present")]
            new_value: Option<&'a RawValue>,
        }
        let Event {
            scope,
            key,
            new_value,
        } = serde_json::from_str(event.get())
            .map_err(|e| Error::invalid("state event", format!("cannot be understood: {e}")))?;
        let failed = |cause: Failure| Error::State {
            doing: format!("follow `{scope}`"),
            cause,
        };
        if scope == self.skills.scope() {
            self.skills
                .apply_state_event(key.clone(), new_value)
                .await
                .map_err(failed)?;
        }
        if scope == self.prompts.scope() {
            self.prompts
                .apply_state_event(key, new_value)
                .await
                .map_err(failed)?;
        }
        Ok(())
    }

    /// What state and sources hold but cannot serve.
    pub async fn skipped(&self) -> Result<Vec<Skipped>, Error> {
        let mut skipped = self.skills().await?.skipped;
        skipped.extend(self.prompts().await?.skipped);
        Ok(skipped)
    }

    /// A trigger was registered: send changes of `topic` to `function`.
    pub fn subscribe(&self, trigger: impl Into<String>, topic: Topic, function: impl Into<String>) {
        self.publisher
            .subscribe(trigger.into(), topic, function.into());
    }

    /// A trigger is gone; answers whether it was known.
    pub fn unsubscribe(&self, trigger: &str) -> bool {
        self.publisher.unsubscribe(trigger)
    }

    /// Lets something in this process hear of changes.
    pub fn listen(&self, listener: Listener) {
        self.publisher.listen(listener);
    }

    /// Announces a change that happened in a source.
    pub fn publish(&self, change: &Change) {
        self.publisher.publish(change);
    }
}

/// A field that is there, even if it is null: null says the row is gone.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

/// Which names are taken, and by whom.
type Taken = std::collections::HashMap<Arc<str>, crate::Origin>;

/// Entries of sources under names that nobody before them has; later ones are
/// reported as shadowed.
fn unshadowed<T>(
    mut found: Vec<T>,
    name: impl Fn(&T) -> (Arc<str>, crate::Origin),
    taken: &mut Taken,
    skipped: &mut Vec<Skipped>,
) -> Vec<T> {
    taken.reserve(found.len());
    found.retain(|entry| {
        let (name, origin) = name(entry);
        let Some(by) = taken.get(&name) else {
            taken.insert(name, origin);
            return true;
        };
        skipped.push(Skipped {
            place: format!("{origin}: {name}"),
            reason: format!("shadowed by an entry of the same name from {by}"),
        });
        false
    });
    found
}
