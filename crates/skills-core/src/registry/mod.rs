//! The use cases. Every surface decodes a request, makes one of these calls, and encodes the
//! result.

mod backlinks;
mod backup;
mod browse;
mod browse_prompts;
mod bundled_collisions;
mod collisions;
mod directory;
mod entry_versions;
mod fetch;
mod files;
mod functions;
mod gc;
mod health;
mod history;
mod history_gc;
mod index;
mod indexing;
mod leases;
mod leasing;
mod log;
mod prompts;
mod resolve;
mod resources;
mod search;
mod search_request;
mod skills;
mod stats;
mod trial;
mod unlinted;
mod version_text;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use backlinks::LinkCache;
pub use backup::{BackupRows, ScopeNames};
pub use browse::{SkillCard, SkillDetails};
pub use browse_prompts::PromptCard;
pub use directory::{FunctionCard, WorkerCard};
pub use fetch::FetchOptions;
pub use files::DocumentList;
pub use gc::{Garbage, GarbageEntry, OwnerState};
pub use history::{PromptVersion, RolledBack, SkillVersion};
pub use history_gc::HistoryGarbage;
pub(crate) use history_gc::StoredHistory;
pub(crate) use index::IndexMarks;
pub use index::IndexText;
use leases::Leases;
pub use leases::{LeaseListener, Renewed};
pub use leasing::Rollback;
pub use log::{Log, LogEntry, LogRequest};
pub use prompts::{PromptHead, PromptMenuEntry, PromptRegistration};
pub use resolve::{Missing, Resolved, ResolvedSkill};
pub use resources::{Resource, ResourceTemplate, TEMPLATES};
pub use search::{Match, Reason, Routing, Search, SearchResult};
pub use skills::{RegisteredFindings, RegistrySizes, SkillHead, SkillRegistration};
pub use stats::Stats;
pub use trial::RoutingTrial;

use crate::catalogue::Catalogue;
use crate::change::ChangePublisher;
use crate::health::Check;
use crate::limits::{DEFAULT_VERSIONS, INDEX_BYTES};
use crate::read_counts::ReadCounts;
use crate::usage::Usage;
use crate::{
    Change, Engine, Error, Head, LeaseSettings, LintSettings, Listener, OnConflict, Prompt, Skill,
    SkillId, Skipped, Source, Topic, Visibility, VisibilityRules,
};

/// The settings of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySettings {
    /// The scope of state that holds the skills.
    pub skills_scope: String,
    /// The scope of state that holds the prompts.
    pub prompts_scope: String,
    /// The timeout of calls to state, sections and prompt handlers.
    pub timeout: Duration,
    /// What findings in skills mean for their registration.
    pub lint: LintSettings,
    /// The most bytes of a text of the index.
    pub index_max_bytes: usize,
    /// The visibility that the operator gives to skills.
    pub visibility: VisibilityRules,
    /// What a registration does whose id or name a document has already.
    pub on_conflict: OnConflict,
    /// What happens to entries past their leases.
    pub leases: LeaseSettings,
    /// How many versions of a skill or prompt are kept; 0: none.
    pub history_versions: usize,
    /// Whether the uses of skills are counted.
    pub usage: bool,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            skills_scope: "skills".into(),
            prompts_scope: "prompts".into(),
            timeout: Duration::from_secs(10),
            lint: LintSettings::default(),
            index_max_bytes: INDEX_BYTES,
            visibility: VisibilityRules::default(),
            on_conflict: OnConflict::default(),
            leases: LeaseSettings::default(),
            history_versions: DEFAULT_VERSIONS,
            usage: true,
        }
    }
}

/// Skills and prompts on an engine.
pub struct Registry {
    engine: Arc<dyn Engine>,
    sources: Vec<Arc<dyn Source>>,
    publisher: Arc<ChangePublisher>,
    skills: Catalogue<Skill>,
    prompts: Catalogue<Prompt>,
    leases: Leases,
    searcher: indexing::Searcher,
    links: LinkCache,
    timeout: Duration,
    lint: LintSettings,
    unlinted: unlinted::Unlinted,
    index_max_bytes: usize,
    visibility: VisibilityRules,
    on_conflict: OnConflict,
    /// Further checks. A std mutex: nothing awaits while it is held.
    checks: Mutex<Vec<Check>>,
    usage: Usage,
    reads: ReadCounts,
    /// The names of the workers that made changes, by their ids. A std mutex, as above.
    worker_names: Mutex<HashMap<Arc<str>, Option<Arc<str>>>>,
    /// The time as RFC 3339 in UTC with sub-second digits.
    now: fn() -> String,
}

impl Registry {
    /// A registry on an engine. Every read calls the engine until
    /// [`connected`](Self::connected) is called with `watched`.
    pub fn new(
        engine: Arc<dyn Engine>,
        sources: Vec<Arc<dyn Source>>,
        settings: RegistrySettings,
        now: fn() -> String,
    ) -> Self {
        let RegistrySettings {
            skills_scope,
            prompts_scope,
            timeout,
            lint,
            index_max_bytes,
            visibility,
            on_conflict,
            leases,
            history_versions: keep,
            usage,
        } = settings;
        let rules = visibility.clone();
        let is_served = Box::new(move |skill: &Skill| {
            let declared = skill.declared_visibility();
            rules.visibility(&skill.id, declared).is_served()
        });
        let publisher = Arc::new(ChangePublisher::new(Arc::clone(&engine)));
        let ports = || (Arc::clone(&engine), Arc::clone(&publisher));
        let usage = Usage::new(usage, format!("{skills_scope}.usage"));
        let leases_scope = Self::leases_scope(&skills_scope);
        let lease_rows = Catalogue::new(ports(), leases_scope, timeout, Box::new(|_| true));
        Self {
            usage,
            reads: ReadCounts::default(),
            skills: Catalogue::new(ports(), skills_scope, timeout, is_served).with_versions(keep),
            prompts: Catalogue::new(ports(), prompts_scope, timeout, Box::new(|_| true))
                .with_versions(keep),
            leases: Leases::new(lease_rows, leases),
            visibility,
            searcher: indexing::Searcher::default(),
            links: LinkCache::default(),
            engine,
            sources,
            publisher,
            timeout,
            lint,
            unlinted: unlinted::Unlinted::default(),
            index_max_bytes,
            on_conflict,
            checks: Mutex::default(),
            worker_names: Mutex::default(),
            now,
        }
    }

    /// What findings in skills mean for their registration.
    pub const fn lint_settings(&self) -> &LintSettings {
        &self.lint
    }

    /// The engine is connected. `watched`: it sends an event for every change of the two
    /// scopes from now on. Earlier events may have been lost, so everything is read again.
    pub fn connected(&self, watched: bool) {
        self.skills.connected(watched);
        self.prompts.connected(watched);
        self.leases.rows.connected(watched);
    }

    /// The engine is disconnected, and with it every worker that subscribed through it.
    pub fn disconnected(&self) {
        self.skills.disconnected();
        self.prompts.disconnected();
        self.leases.rows.disconnected();
        self.publisher.subscribers().clear();
    }

    /// Loads both scopes, so that the first reader does not wait for it.
    pub async fn load(&self) -> Result<(), Error> {
        let failed = || Error::state(|| "load the registry");
        self.skills.snapshot().await.map_err(failed())?;
        self.prompts.snapshot().await.map_err(failed())?;
        self.leases.rows.snapshot().await.map_err(failed())?;
        Ok(())
    }

    /// Applies an event of the engine's `state` trigger: a row was written.
    pub async fn apply_state_event(&self, event: &RawValue) -> Result<(), Error> {
        #[derive(Deserialize)]
        struct Event<'a> {
            scope: String,
            /// None if too many rows changed for an event each.
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
        let failed = || Error::state(|| format!("follow `{scope}`"));
        if scope == self.skills.scope() {
            let applied = self.skills.apply_state_event(key.clone(), new_value);
            applied.await.map_err(failed())?;
        }
        if scope == self.prompts.scope() {
            let applied = self.prompts.apply_state_event(key.clone(), new_value);
            applied.await.map_err(failed())?;
        }
        if scope == self.leases.rows.scope() {
            let applied = self.leases.rows.apply_state_event(key, new_value);
            applied.await.map_err(failed())?;
            self.leases.changed();
        }
        Ok(())
    }

    /// What state and sources hold but cannot serve.
    pub async fn skipped(&self) -> Result<Vec<Skipped>, Error> {
        let mut skipped = self.skills().await?.skipped;
        skipped.extend(self.prompts().await?.skipped);
        Ok(skipped)
    }

    /// A trigger was registered: sends changes of `topic` to `function`.
    pub fn subscribe(&self, trigger: impl Into<String>, topic: Topic, function: impl Into<String>) {
        let subscriber = (topic, function.into());
        self.publisher
            .subscribers()
            .insert(trigger.into(), subscriber);
    }

    /// A trigger was removed. Returns whether it was known.
    pub fn unsubscribe(&self, trigger: &str) -> bool {
        self.publisher.subscribers().remove(trigger).is_some()
    }

    /// How visible a skill is. What is `off` is in no list of this registry.
    pub fn visibility(&self, id: &SkillId, head: &Head) -> Visibility {
        self.visibility.visibility(id, head.visibility)
    }

    /// Adds a callback in this process for every change.
    pub fn listen(&self, listener: Listener) {
        self.publisher.listen(listener);
    }

    /// Publishes a change of a source.
    pub fn publish(&self, change: &Change) {
        self.publisher.publish(change);
    }
}

/// A field that is present, even if it is null: null means that the row was deleted.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}
