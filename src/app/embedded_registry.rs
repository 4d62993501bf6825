//! The registry with an engine of its own, all in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skills_access::AccessPolicy;
use skills_core::Registry;
use skills_files::Sources;
use skills_iii::state::{SqliteState, StateError, StoreOptions};
use skills_iii::{Client, ClientOptions, Hub, HubOptions, QueueLimits};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::checks::{add_checks, add_engine_check, add_store_check};
use super::file_handles::max_connections;
use super::metrics::Metrics;
use super::registration_findings::{finish_findings, keep_findings};
use super::sources::FileCounts;
use super::usage::{finish_usage, keep_usage};
use super::worker::Worker;
use super::{SHUTDOWN_TIMEOUT, file_sources, registry, remove_expired, scopes, sources};
use crate::config::LoadedConfig;
use crate::engine::{ClientEngine, Presence, remote};

/// How long the first walk may keep the registry from being ready.
const FIRST_WALK_TIMEOUT: Duration = Duration::from_secs(5);

/// An engine on a data directory and the registry that serves there.
pub struct EmbeddedRegistry {
    /// The engine.
    pub hub: Hub,
    /// The registry's own connection to it.
    pub client: Client,
    /// The registry.
    pub registry: Arc<Registry>,
    /// The files it serves.
    pub sources: Sources,
    /// What the last walk of the files found.
    pub file_counts: Arc<FileCounts>,
    /// Its state.
    pub store: Arc<SqliteState>,
    presence: Arc<Presence>,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    serving: watch::Receiver<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl EmbeddedRegistry {
    /// Opens the data directory, starts an engine and serves on it. `access` decides which
    /// workers may connect.
    pub fn open(
        data_dir: &Path,
        access: AccessPolicy,
        loaded: &LoadedConfig,
    ) -> Result<Self, StateError> {
        let mut opened = Self::open_as(data_dir, access, loaded, Presence::in_dir)?;
        let (leased, served) = (Arc::clone(&opened.registry), opened.serving());
        let expiry = async move { remove_expired(&leased, served).await };
        opened.tasks.push(tokio::spawn(expiry));
        Ok(opened)
    }

    /// The same for a process that no worker can connect to. It removes no entry past its lease: the
    /// owner cannot renew here.
    pub fn without_workers(data_dir: &Path, loaded: &LoadedConfig) -> Result<Self, StateError> {
        let access = AccessPolicy::default();
        Self::open_as(data_dir, access, loaded, Presence::of_others)
    }

    fn open_as(
        data_dir: &Path,
        access: AccessPolicy,
        loaded: &LoadedConfig,
        presence: fn(&Path) -> Presence,
    ) -> Result<Self, StateError> {
        let limits = &loaded.config.limits;
        let metrics = Arc::<Metrics>::default();
        let store = StoreOptions {
            on_commit: Some(metrics.on_commit()),
            max_value: limits.value_bytes,
            max_queued: limits.write_queue_bytes,
            ..StoreOptions::default()
        };
        let store = Arc::new(SqliteState::open(data_dir, store)?);
        let hub = Hub::new(HubOptions {
            access,
            max_connections: max_connections(limits.worker_connections),
            max_message_bytes: limits.message_bytes,
            queue: QueueLimits {
                bytes: limits.queue_bytes,
                ..QueueLimits::default()
            },
            max_queued_bytes: limits.all_queues_bytes,
            max_open_calls: limits.open_calls,
            command_prefix: Some(remote::CALLER_PREFIX),
            ..HubOptions::new(Arc::clone(&store) as _)
        });
        let client = hub.attach_with(ClientOptions {
            version: env!("CARGO_PKG_VERSION").into(),
            description: Some(env!("CARGO_PKG_DESCRIPTION").into()),
            ..ClientOptions::named("skills")
        });
        let presence = Arc::new(presence(data_dir));
        let (rows, seen) = (Arc::clone(&store), Arc::clone(&presence));
        let engine = ClientEngine::with_store(client.clone(), rows, seen);
        let sources = file_sources(loaded);
        let registry = registry(Arc::new(engine), loaded, sources.for_registry());
        add_store_check(&registry, data_dir.to_owned());
        add_checks(&registry, loaded, &sources);
        add_engine_check(&registry, &client);
        let scopes = scopes(&loaded.config);
        let counted = Some(Arc::clone(&metrics));
        let worker = Worker::new(client.clone(), Arc::clone(&registry), &scopes, counted);
        let serving = worker.serving();
        let file_counts = Arc::<FileCounts>::default();
        let (changes, followed) = (sources.changes(), Arc::clone(&registry));
        let counts = Arc::clone(&file_counts);
        let follow_files =
            async move { sources::publish_changes(changes, &followed, &counts).await };
        let counted = Arc::clone(&registry);
        let keep_usage = async move { keep_usage(&counted).await };
        let checked = Arc::clone(&registry);
        let keep_findings = async move { keep_findings(&checked).await };
        Ok(Self {
            hub,
            client,
            registry,
            sources,
            file_counts,
            store,
            presence,
            metrics,
            serving,
            tasks: vec![
                tokio::spawn(follow_files),
                tokio::spawn(worker.run()),
                tokio::spawn(keep_usage),
                tokio::spawn(keep_findings),
            ],
        })
    }

    /// Whether every function is registered, now and later.
    pub fn serving(&self) -> watch::Receiver<bool> {
        self.serving.clone()
    }

    /// Waits until every function is registered; false if that will never happen.
    pub async fn ready(&mut self) -> bool {
        self.serving.wait_for(|serving| *serving).await.is_ok()
    }

    /// The same after the first walk of the files, so that every edit from now on is published. A
    /// folder that is slow to read does not hold up the rest for longer than a while.
    pub async fn ready_with_files(&mut self) -> bool {
        let is_ready = self.ready().await;
        if self.sources.is_empty() {
            return is_ready;
        }
        let mut walked = self.file_counts.walked.subscribe();
        let walked = walked.wait_for(|walked| *walked);
        if tokio::time::timeout(FIRST_WALK_TIMEOUT, walked)
            .await
            .is_err()
        {
            tracing::warn!("the files are slow to read; edits of the next moments may be missed");
        }
        is_ready
    }

    /// Completes when the registry serves no longer although it was not asked to leave, which is a
    /// defect of this program.
    pub async fn ended(&mut self) {
        let tasks = futures_util::future::select_all(&mut self.tasks);
        let ended = tokio::select! {
            (outcome, index, _) = tasks => {
                let cause = outcome.err().map(|error| error.to_string());
                tracing::error!(cause, "a task of the registry ended");
                Some(index)
            }
            () = self.client.wait_closed() => {
                tracing::error!("the registry lost its connection to the engine");
                None
            }
        };
        if let Some(index) = ended {
            // It must not be awaited again.
            self.tasks.remove(index);
        }
    }

    /// Finishes the calls in progress; the engine keeps running.
    pub async fn leave(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
            // Awaited, so that the worker does not take the shutdown for a lost engine.
            let _ = task.await;
        }
        finish_usage(&self.registry).await;
        finish_findings(&self.registry).await;
        self.client.shutdown(SHUTDOWN_TIMEOUT).await;
    }

    /// Leaves, waits until every write is on disk, and closes the store.
    pub async fn close(mut self) {
        self.leave().await;
        self.presence.end();
        self.store.close();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use skills_core::{Change, LeaseTerms, SkillId, SkillRegistration, Ttl};
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn the_end_of_the_connection_to_the_engine_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let loaded = LoadedConfig::default();
        let mut local =
            EmbeddedRegistry::open(dir.path(), AccessPolicy::default(), &loaded).unwrap();
        assert!(local.ready().await);
        local.client.shutdown(SHUTDOWN_TIMEOUT).await;
        let ended = tokio::time::timeout(Duration::from_mins(1), local.ended());
        ended.await.expect("the end");
        local.close().await;
    }

    #[tokio::test]
    async fn an_orderly_end_leaves_no_lock_file() {
        let dir = tempfile::tempdir().unwrap();
        let loaded = LoadedConfig::default();
        let mut local =
            EmbeddedRegistry::open(dir.path(), AccessPolicy::default(), &loaded).unwrap();
        assert!(local.ready().await);
        let files = || fs::read_dir(dir.path().join("engines")).unwrap().count();
        assert_eq!(files(), 1);
        // As requests in progress do.
        let _kept = Arc::clone(&local.registry);
        local.close().await;
        assert_eq!(files(), 0);
    }

    #[tokio::test]
    async fn only_a_process_with_workers_removes_entries_past_their_lease() {
        let dir = tempfile::tempdir().unwrap();
        let mut loaded = LoadedConfig::default();
        loaded.config.leases.grace_ms = 0;
        let mut alone = EmbeddedRegistry::without_workers(dir.path(), &loaded).unwrap();
        assert!(alone.ready().await);
        let id: SkillId = "a".parse().unwrap();
        let leased = SkillRegistration {
            lease: LeaseTerms {
                ttl: Some(Ttl::from_ms(1).unwrap()),
                ..LeaseTerms::default()
            },
            ..SkillRegistration::new(id.clone(), "# A".into())
        };
        alone.registry.register(leased).await.unwrap();
        let is_stale = async |registry: &Registry| {
            let listed = registry.skills().await.unwrap().entries;
            listed[0].lease.as_ref().unwrap().stale
        };
        while !is_stale(&alone.registry).await {
            tokio::task::yield_now().await;
        }
        alone.close().await;
        let alone = EmbeddedRegistry::without_workers(dir.path(), &loaded).unwrap();
        let is_left = alone.registry.is_skill_registered(&id).await.unwrap();
        assert!(is_left, "no worker can renew it there");
        alone.close().await;
        let serving = EmbeddedRegistry::open(dir.path(), AccessPolicy::default(), &loaded).unwrap();
        let removed = Arc::new(Notify::new());
        let notify = Arc::clone(&removed);
        serving.registry.listen(Arc::new(move |change| {
            if *change == Change::SkillUnregistered(id.clone()) {
                notify.notify_one();
            }
        }));
        let removed = tokio::time::timeout(Duration::from_mins(1), removed.notified());
        removed.await.expect("the removal");
        serving.close().await;
    }

    #[tokio::test]
    async fn the_end_of_a_task_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let loaded = LoadedConfig::default();
        let mut local =
            EmbeddedRegistry::open(dir.path(), AccessPolicy::default(), &loaded).unwrap();
        assert!(local.ready().await);
        local.tasks[1].abort();
        let ended = tokio::time::timeout(Duration::from_mins(1), local.ended());
        ended.await.expect("the end");
        local.close().await;
    }
}
