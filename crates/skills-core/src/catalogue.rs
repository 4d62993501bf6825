//! One scope of state, answered from memory.
//!
//! Loaded with one `state::list`, kept right by doorbell events, read again after a
//! reconnect. The rules of who wins are the [image](crate::image)'s; this file does
//! the calls.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::lock::Mutex as AsyncMutex;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::change::Publisher;
use crate::image::{Image, Need, Plan, Rung};
use crate::row::Row;
use crate::slot::{Slot, Snapshot};
use crate::writers::Writers;
use crate::{Change, Engine, Failure, Json};

pub(crate) struct Catalogue<T: Row> {
    engine: Arc<dyn Engine>,
    publisher: Arc<Publisher>,
    scope: String,
    timeout: Duration,
    /// Whether the engine rings for this scope. If not, every read asks it.
    watched: AtomicBool,
    // A std mutex: nothing awaits while it is held.
    image: Mutex<Image<T>>,
    refreshing: AsyncMutex<()>,
    writers: Writers,
}

/// What is under a key.
pub(crate) type Found<T> = Option<Slot<T>>;

impl<T: Row> Catalogue<T> {
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        publisher: Arc<Publisher>,
        scope: String,
        timeout: Duration,
    ) -> Self {
        Self {
            engine,
            publisher,
            scope,
            timeout,
            watched: AtomicBool::new(false),
            image: Mutex::new(Image::new()),
            refreshing: AsyncMutex::new(()),
            writers: Writers::default(),
        }
    }

    pub(crate) fn scope(&self) -> &str {
        &self.scope
    }

    /// A connection begins: whatever was known may be old.
    pub(crate) fn connected(&self, watched: bool) {
        let mut image = self.image();
        image.forget();
        self.watched.store(watched, Ordering::Release);
    }

    /// The connection is gone; until the next one, reads fail instead of ageing.
    pub(crate) fn disconnected(&self) {
        self.image().forget();
    }

    /// Whether the engine rings for this scope, so that it is kept in memory.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Acquire)
    }

    /// Shows every row without keeping it. None where all are kept anyway, and where
    /// state is elsewhere.
    pub(crate) fn glance(&self, show: &mut dyn FnMut(&str)) -> Option<Result<(), Failure>> {
        if self.is_watched() {
            return None;
        }
        self.engine.for_each_row(&self.scope, show)
    }

    /// Everything in the scope.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot<T>>, Failure> {
        self.fresh(Need::All).await?;
        Ok(self.image().snapshot(&self.scope))
    }

    /// What is under one key.
    pub(crate) async fn get(&self, key: &str) -> Result<Found<T>, Failure> {
        if !self.is_watched() {
            return self.read_key(key).await;
        }
        self.fresh(Need::Key(key)).await?;
        Ok(self.image().get(key))
    }

    /// What is under one key, where that is known without asking the engine.
    pub(crate) fn get_cached(&self, key: &str) -> Found<T> {
        let mut image = self.image();
        let since = image.tick();
        let known = self.is_watched() && image.is_fresh(since, Need::Key(key), true);
        known.then(|| image.get(key)).flatten()
    }

    /// Writes a row, announces it, and answers the row. It is made only when its
    /// turn has come, so that later acknowledgements carry later times.
    pub(crate) async fn put(
        &self,
        key: Arc<str>,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<T>, Failure> {
        #[derive(Serialize)]
        struct Set<'a> {
            scope: &'a str,
            key: &'a str,
            value: &'a RawValue,
        }
        let _turn = self.writers.turn(&key).await;
        let row = Arc::new(make());
        let write = self.begin_write(&key, Some(Arc::clone(&row)));
        let value = row.to_json();
        self.call(
            "state::set",
            &Set {
                scope: &self.scope,
                key: &key,
                value: &value,
            },
        )
        .await?;
        self.acknowledged(write, Some(&row.registered())).await;
        Ok(row)
    }

    /// Removes a row; answers whether there was one, and announces it if so.
    pub(crate) async fn remove(&self, key: Arc<str>, change: &Change) -> Result<bool, Failure> {
        let _turn = self.writers.turn(&key).await;
        let write = self.begin_write(&key, None);
        let old = self
            .call(
                "state::delete",
                &Key {
                    scope: &self.scope,
                    key: &key,
                },
            )
            .await?;
        let removed = old.is_some_and(|old| old.get() != "null");
        self.acknowledged(write, removed.then_some(change)).await;
        Ok(removed)
    }

    /// The engine says somebody wrote the key, or, naming none, any key; `value` is
    /// what it is now, if the event said so. Reads it again where that is news.
    pub(crate) async fn apply_state_event(
        &self,
        key: Option<Arc<str>>,
        value: Option<&RawValue>,
    ) -> Result<(), Failure> {
        let Some(key) = key else {
            self.image().forget();
            return self.fresh(Need::All).await;
        };
        let rung = match value.map(RawValue::get) {
            None => Rung::Unknown,
            Some("null") => Rung::Gone,
            Some(text) => Rung::Now(decode(&key, text)),
        };
        if self.image().ring(&key, &rung) && self.is_watched() {
            self.fresh(Need::Key(&key)).await?;
        }
        Ok(())
    }

    fn image(&self) -> MutexGuard<'_, Image<T>> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the image is at least as new as this moment.
    async fn fresh(&self, need: Need<'_>) -> Result<(), Failure> {
        let since = self.image().tick();
        let is_fresh = || self.image().is_fresh(since, need, self.is_watched());
        while !is_fresh() {
            // One at a time: whoever waited finds the work done.
            let _one = self.refreshing.lock().await;
            if !is_fresh() {
                self.refresh().await?;
            }
        }
        Ok(())
    }

    /// Reads what is not settled, once.
    async fn refresh(&self) -> Result<(), Failure> {
        let read = Read::begin(self);
        match &read.plan {
            Plan::Load => {
                let (rows, nameless) = self.load().await?;
                let changes = self.image().apply_list(read.ticket, rows, nameless);
                self.publisher.publish_all(&changes);
                Ok(())
            }
            Plan::Keys(keys) => {
                let reads = keys
                    .iter()
                    .map(|key| async move { (key, self.read_key(key).await) });
                let mut outcome = Ok(());
                for (key, found) in join_all(reads).await {
                    match found {
                        Ok(slot) => {
                            let change = self.image().apply(key, read.ticket, slot);
                            self.publisher.publish_all(&change);
                        }
                        Err(failure) => outcome = Err(failure),
                    }
                }
                outcome
            }
        }
    }

    async fn read_key(&self, key: &str) -> Result<Found<T>, Failure> {
        let answer = self
            .call(
                "state::get",
                &Key {
                    scope: &self.scope,
                    key,
                },
            )
            .await?;
        let slot = answer
            .filter(|raw| raw.get() != "null")
            .map(|raw| decode(key, raw.get()));
        if let Some(Slot::Damaged(problem)) = &slot {
            self.report(key, problem);
        }
        Ok(slot)
    }

    /// Everything in the scope: rows with a key, and the problems of those without.
    async fn load(&self) -> Result<(Vec<(Arc<str>, Slot<T>)>, Vec<Arc<str>>), Failure> {
        let (mut rows, mut nameless) = (Vec::new(), Vec::new());
        let mut take = |text: &str| match T::from_json(text) {
            Ok(row) => rows.push((row.key(), Slot::Row(Arc::new(row)))),
            Err(bad) => {
                self.report(bad.key.as_deref().unwrap_or("?"), &bad.problem);
                match bad.key {
                    Some(key) => rows.push((key, Slot::Damaged(bad.problem.into()))),
                    None => nameless.push(bad.problem.into()),
                }
            }
        };
        if let Some(shown) = self.engine.for_each_row(&self.scope, &mut take) {
            shown?;
        } else {
            #[derive(Serialize)]
            struct List<'a> {
                scope: &'a str,
            }
            let asked = List { scope: &self.scope };
            let answer = self.call("state::list", &asked).await?;
            let text = answer.as_deref().map_or("null", RawValue::get);
            let values: Vec<&RawValue> =
                serde_json::from_str(text).map_err(|e| Failure::Failed {
                    code: "unexpected_answer".into(),
                    message: format!("`state::list` did not answer a list: {e}"),
                })?;
            for value in values {
                take(value.get());
            }
        }
        Ok((rows, nameless))
    }

    fn report(&self, key: &str, problem: &str) {
        tracing::warn!(
            scope = self.scope,
            key,
            "stored {} cannot be read: {problem}",
            T::WHAT
        );
    }

    async fn call(&self, function: &str, input: &impl Serialize) -> Result<Option<Json>, Failure> {
        let payload = to_raw_value(input).map_err(|e| Failure::Failed {
            code: "serialization_error".into(),
            message: e.to_string(),
        })?;
        self.engine.call(function, payload, self.timeout).await
    }

    fn begin_write<'a>(&'a self, key: &Arc<str>, row: Option<Arc<T>>) -> Write<'a, T> {
        let began = self.image().begin_write(key, row);
        Write {
            catalogue: self,
            key: Arc::clone(key),
            began,
            acknowledged: false,
        }
    }

    /// A write is in state: tells of it, and makes sure that later reads see it or
    /// what came after it.
    async fn acknowledged(&self, mut write: Write<'_, T>, change: Option<&Change>) {
        write.acknowledged = true;
        let shown = self.image().acknowledge(&write.key, write.began);
        self.publisher.publish_all(change);
        if !shown {
            // The write itself is done. If reading fails now, the key stays dirty
            // and whoever reads next hears of it.
            let _ = self.fresh(Need::Key(&write.key)).await;
        }
    }
}

#[derive(Serialize)]
struct Key<'a> {
    scope: &'a str,
    key: &'a str,
}

fn decode<T: Row>(key: &str, text: &str) -> Slot<T> {
    match T::from_json(text) {
        Ok(row) if *row.key() == *key => Slot::Row(Arc::new(row)),
        Ok(row) => Slot::Damaged(format!("the row says it is `{}`", row.key()).into()),
        Err(bad) => Slot::Damaged(bad.problem.into()),
    }
}

/// A read on its way; given up, it still ends.
struct Read<'a, T: Row> {
    catalogue: &'a Catalogue<T>,
    plan: Plan,
    ticket: u64,
}

impl<'a, T: Row> Read<'a, T> {
    fn begin(catalogue: &'a Catalogue<T>) -> Self {
        let (plan, ticket) = catalogue.image().begin_read(catalogue.is_watched());
        Self {
            catalogue,
            plan,
            ticket,
        }
    }
}

impl<T: Row> Drop for Read<'_, T> {
    fn drop(&mut self) {
        self.catalogue.image().end_read();
    }
}

/// A write on its way; given up, its key has to be read.
struct Write<'a, T: Row> {
    catalogue: &'a Catalogue<T>,
    key: Arc<str>,
    began: u64,
    acknowledged: bool,
}

impl<T: Row> Drop for Write<'_, T> {
    fn drop(&mut self) {
        if self.acknowledged {
            self.catalogue.image().end_write(&self.key);
        } else {
            let change = self.catalogue.image().abandon(&self.key);
            self.catalogue.publisher.publish_all(&change);
        }
    }
}
