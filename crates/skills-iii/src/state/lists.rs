//! Lists for async callers: few are read at a time, one of each scope, and equal ones that wait share
//! one read. So however many callers list a scope, its rows are in memory few times.
//!
//! A list belongs to its callers: once all of them are gone, it is not started, and a read in
//! progress stops at the next row.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use futures_util::future::{BoxFuture, FutureExt, Shared, WeakShared};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, oneshot};

use super::StateError;
use super::read::Readers;
use crate::limits::MAX_RUNNING_LISTS;
use crate::lock::lock;

/// The result of a list, for all who share it.
pub(super) type ListResult = Result<Arc<RawValue>, StateError>;

type Reading = BoxFuture<'static, ListResult>;

/// Held while a scope is read.
type ScopeLock = tokio::sync::Mutex<()>;

#[derive(Debug)]
pub(super) struct Lists {
    running: Arc<Semaphore>,
    /// One lock for each scope that is listed.
    scopes: Mutex<HashMap<String, Weak<ScopeLock>>>,
    /// The lists that wait to be read, by scope. Weak: only callers keep a list.
    waiting: Mutex<HashMap<String, (u64, WeakShared<Reading>)>>,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            running: Arc::new(Semaphore::new(MAX_RUNNING_LISTS)),
            scopes: Mutex::default(),
            waiting: Mutex::default(),
        }
    }
}

impl Lists {
    /// Lists a scope: everything that was committed before this call, or later.
    pub(super) fn list(self: &Arc<Self>, readers: &Arc<Readers>, scope: String) -> Shared<Reading> {
        let mut waiting = lock(&self.waiting);
        let found = waiting
            .get(&scope)
            .map(|(serial, list)| (serial, list.upgrade()));
        let serial = match found {
            Some((_, Some(list))) => return list,
            Some((serial, None)) => serial + 1,
            None => 0,
        };
        let wait = Waiting {
            lists: Arc::clone(self),
            scope: scope.clone(),
            serial,
        };
        let list = wait.read(Arc::clone(readers)).boxed().shared();
        waiting.extend(list.downgrade().map(|list| (scope, (serial, list))));
        list
    }

    fn scope_lock(&self, scope: &str) -> Arc<ScopeLock> {
        let mut scopes = lock(&self.scopes);
        if let Some(found) = scopes.get(scope).and_then(Weak::upgrade) {
            return found;
        }
        scopes.retain(|_, lock| lock.strong_count() > 0);
        let new = Arc::<ScopeLock>::default();
        scopes.insert(scope.to_owned(), Arc::downgrade(&new));
        new
    }
}

/// A list that waits to be read. Dropped, it takes no more callers.
struct Waiting {
    lists: Arc<Lists>,
    scope: String,
    serial: u64,
}

impl Waiting {
    async fn read(self, readers: Arc<Readers>) -> ListResult {
        let scope_lock = self.lists.scope_lock(&self.scope).lock_owned().await;
        let running = Arc::clone(&self.lists.running).acquire_owned().await;
        let scope = self.scope.clone();
        // Who asks from now on may have written something that this read does not see.
        drop(self);
        let (answer, answered) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let _running = (running, scope_lock);
            if !answer.is_closed() {
                let list = readers.list(&scope, &|| !answer.is_closed());
                // Fails if every caller is gone.
                let _ = answer.send(list.map(Arc::from));
            }
        });
        answered.await.unwrap_or(Err(StateError::Closed))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waiting = lock(&self.lists.waiting);
        // The next list of the scope may wait already.
        if waiting
            .get(&self.scope)
            .is_some_and(|(serial, _)| *serial == self.serial)
        {
            waiting.remove(&self.scope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{FILE_NAME, SqliteState, StoreOptions};

    struct Fixture {
        dir: tempfile::TempDir,
        store: SqliteState,
        lists: Arc<Lists>,
        readers: Arc<Readers>,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
            let path = dir.path().join(FILE_NAME);
            let readers = Readers::open(path, StoreOptions::default()).unwrap();
            Self {
                dir,
                store,
                lists: Arc::default(),
                readers: Arc::new(readers),
            }
        }

        async fn set(&self, scope: &str, key: &str) {
            let value = RawValue::NULL.to_owned();
            self.store
                .set(scope.into(), key.into(), value)
                .await
                .unwrap();
        }

        fn list(&self, scope: &str) -> Shared<Reading> {
            self.lists.list(&self.readers, scope.into())
        }

        /// Makes further lists wait.
        async fn occupy(&self) -> tokio::sync::OwnedSemaphorePermit {
            let all = u32::try_from(MAX_RUNNING_LISTS).unwrap();
            let running = Arc::clone(&self.lists.running);
            running.acquire_many_owned(all).await.unwrap()
        }
    }

    #[tokio::test]
    async fn equal_lists_that_wait_share_one_result_with_every_write_before_them() {
        let fixture = Fixture::new();
        let occupied = fixture.occupy().await;
        let mut first = fixture.list("s");
        assert!(futures_util::poll!(&mut first).is_pending());
        fixture.set("s", "k").await;
        let others: Vec<_> = (0..100).map(|_| fixture.list("s")).collect();
        let other_scope = fixture.list("t");
        drop(occupied);
        let first = first.await.unwrap();
        assert_eq!(first.get(), "[null]");
        for other in others {
            assert!(Arc::ptr_eq(&other.await.unwrap(), &first));
        }
        assert_eq!(other_scope.await.unwrap().get(), "[]");
        assert!(lock(&fixture.lists.waiting).is_empty());

        fixture.set("s", "l").await;
        assert_eq!(fixture.list("s").await.unwrap().get(), "[null,null]");
    }

    #[tokio::test]
    async fn a_scope_is_read_once_at_a_time() {
        let fixture = Fixture::new();
        let reading = fixture.lists.scope_lock("s").lock_owned().await;
        let mut lists: Vec<_> = (0..10).map(|_| fixture.list("s")).collect();
        for list in &mut lists {
            assert!(futures_util::poll!(list).is_pending());
        }
        // Other scopes do not wait for it.
        assert_eq!(fixture.list("t").await.unwrap().get(), "[]");
        drop(reading);
        let first = lists.remove(0).await.unwrap();
        for list in lists {
            assert!(Arc::ptr_eq(&list.await.unwrap(), &first));
        }
    }

    #[tokio::test]
    async fn a_list_without_callers_is_not_read() {
        let fixture = Fixture::new();
        let occupied = fixture.occupy().await;
        let mut dropped: Vec<_> = (0..10).map(|_| fixture.list("s")).collect();
        for list in &mut dropped {
            assert!(futures_util::poll!(list).is_pending());
        }
        drop(dropped);
        assert!(lock(&fixture.lists.waiting).is_empty());
        // Nothing else waits for a permit.
        drop(occupied);
        assert_eq!(fixture.lists.running.available_permits(), MAX_RUNNING_LISTS);
    }

    #[tokio::test]
    async fn a_list_stops_at_the_next_row_once_its_callers_are_gone() {
        let fixture = Fixture::new();
        for key in ["a", "b", "c"] {
            fixture.set("s", key).await;
        }
        let asked = std::cell::Cell::new(0);
        let is_wanted = || {
            asked.set(asked.get() + 1);
            asked.get() < 2
        };
        fixture.readers.list("s", &is_wanted).unwrap_err();
        assert_eq!(asked.get(), 2);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread")]
    async fn many_lists_use_few_handles() {
        let fixture = Fixture::new();
        for n in 0..200 {
            let value = format!("\"{}\"", "x".repeat(50_000));
            let value = RawValue::from_string(value).unwrap();
            let scope = (n % 50).to_string();
            fixture
                .store
                .set(scope, n.to_string(), value)
                .await
                .unwrap();
        }
        let lists = (0..500).map(|n| tokio::spawn(fixture.list(&(n % 50).to_string())));
        for list in lists.collect::<Vec<_>>() {
            assert!(list.await.unwrap().unwrap().get().len() > 200_000);
        }
        // SQLite keeps the handle of a closed connection while another connection is open, so this
        // is the largest number that there was.
        let path = fixture.dir.path().join(FILE_NAME);
        let handles = std::fs::read_dir("/proc/self/fd").unwrap();
        let handles = handles.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
        let handles = handles.filter(|file| *file == path).count();
        // The writer and the first reader of the store, and the readers of the lists.
        assert!(handles <= 2 + MAX_RUNNING_LISTS, "{handles} handles");
    }
}
