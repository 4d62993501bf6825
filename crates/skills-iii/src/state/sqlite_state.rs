//! The durable store: rows of JSON in one SQLite file.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::feed::Feed;
use super::lists::Lists;
use super::read::{ListedRow, Readers};
use super::row::{Op, UpdateFn, Written};
use super::waiting_writes::{Job, Write};
use super::write::Writer;
use super::write_health::WriteHealth;
use super::{Changes, StateError, StoreCheck, StoreOptions, check, file};
use crate::limits::MAX_NAME_BYTES;
use crate::lock::lock;

/// The value of a row; none if the row does not exist.
pub type StoredValue = Option<Box<RawValue>>;

/// A row before and after an update.
pub type Updated = (StoredValue, Box<RawValue>);

/// The completion of a write.
pub type StateFuture<T> = BoxFuture<'static, Result<T, StateError>>;

/// Rows of JSON by scope and key, on disk.
///
/// A write is queued by the call itself, so the writes of one caller happen in the order of the
/// calls, and they happen even if the future is dropped. The future resolves once the write is on disk: it then
/// survives a kill and a power cut, every read sees it, and its event has been published.
/// Reads may be called from any thread and block until the rows are read; only
/// [`list_shared`](Self::list_shared) waits.
///
/// A row whose value is not JSON, because another program or a failing disk changed it, fails only
/// the reads of its own key. It can be overwritten and deleted; its old value is then a string of
/// what is readable.
///
/// Several processes, and several stores in a process, may use one directory.
#[derive(Debug)]
pub struct SqliteState {
    jobs: Sender<Job>,
    queued_bytes: Arc<AtomicUsize>,
    readers: Arc<Readers>,
    lists: Arc<Lists>,
    health: Arc<WriteHealth>,
    feed: Arc<Feed>,
    options: StoreOptions,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteState {
    /// Opens the store in a directory, creating both if they do not exist.
    ///
    /// A file that is damaged, newer than this program or of another program is an error and is
    /// left as it is. The rows are not scanned: damage in a row is reported when it is read.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self, StateError> {
        let path = file::locate(dir)?;
        let connection = file::open_writer(&path, &options)
            .map_err(|error| error.after(options.busy_timeout))?;
        let readers = Arc::new(Readers::open(path.clone(), options.clone())?);
        let feed = Arc::new(Feed::new(&options));
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let health = Arc::<WriteHealth>::default();
        let writer = Writer::new(
            connection,
            path,
            options.clone(),
            Arc::clone(&feed),
            Arc::clone(&queued_bytes),
            Arc::clone(&health),
        )?;
        // `enqueue` bounds the queue by bytes, and every write counts at least its own size.
        let (jobs, inbox) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("state-writer".to_owned())
            .spawn(move || writer.run(&inbox))
            .map_err(|cause| StateError::Directory {
                path: dir.to_owned(),
                cause: Arc::new(cause),
            })?;
        Ok(Self {
            jobs,
            queued_bytes,
            readers,
            lists: Arc::default(),
            health,
            feed,
            options,
            writer: Mutex::new(Some(thread)),
        })
    }

    /// Checks the store in a directory without creating or changing anything. Reads all of it.
    /// None if the directory holds no store.
    pub fn check(dir: &Path, options: &StoreOptions) -> Result<Option<StoreCheck>, StateError> {
        check::check(dir, options).map_err(|error| error.after(options.busy_timeout))
    }

    /// Writes a row and returns its previous value. A new row goes to the end of its scope; an
    /// existing row keeps its position.
    pub fn set(
        &self,
        scope: String,
        key: String,
        value: Box<RawValue>,
    ) -> StateFuture<StoredValue> {
        let written = self.write(None, scope, key, Op::Set(value));
        Box::pin(async move { Ok(written.await?.old) })
    }

    /// Reads a row.
    pub fn get(&self, scope: &str, key: &str) -> Result<StoredValue, StateError> {
        self.readers.get(scope, key)
    }

    /// Deletes a row and returns its previous value.
    pub fn delete(&self, scope: String, key: String) -> StateFuture<StoredValue> {
        let written = self.write(None, scope, key, Op::Delete);
        Box::pin(async move { Ok(written.await?.old) })
    }

    /// Replaces a row by the result of `update`, with no other write in between. Returns the
    /// values before and after.
    ///
    /// `update` holds `size` bytes, which count against the limits of the queue. It runs on the
    /// writer's thread, so other writes wait for it. An error it returns, or a panic, leaves the
    /// row as it was.
    pub fn update(
        &self,
        scope: String,
        key: String,
        size: usize,
        update: UpdateFn,
    ) -> StateFuture<Updated> {
        let written = self.write(None, scope, key, Op::Update(update, size));
        Box::pin(async move {
            let Written { old, new } = written.await?;
            // A successful update always has a new value.
            Ok((old, new.ok_or(StateError::Closed)?))
        })
    }

    /// Reads every value of a scope as one JSON list, in the order of insertion, without damaged
    /// rows. Blocks until all of it is read.
    pub fn list(&self, scope: &str) -> Result<Box<RawValue>, StateError> {
        self.readers.list(scope, &|| true)
    }

    /// Reads the same list on another thread. Few lists are read at a time; equal ones that wait
    /// share one result, which has every write that completed before the call. Dropping the
    /// future stops the read. Must be awaited inside a runtime.
    pub fn list_shared(
        &self,
        scope: String,
    ) -> impl Future<Output = Result<Arc<RawValue>, StateError>> + Send + use<> {
        self.lists.list(&self.readers, scope)
    }

    /// Lists every scope that was ever written to, sorted, including the empty ones.
    pub fn groups(&self) -> Result<Vec<String>, StateError> {
        self.readers.groups()
    }

    /// Every write committed from now on, once each and in commit order, including those of
    /// other processes.
    pub fn changes(&self) -> Changes {
        self.feed.subscribe()
    }

    /// Calls `visit` with the key and the text of every row of a scope, in the order of insertion,
    /// without copying them. Unlike [`SqliteState::list`] this does not check that the text is
    /// valid JSON.
    pub fn for_each_row(
        &self,
        scope: &str,
        visit: &mut dyn FnMut(ListedRow<'_>),
    ) -> Result<(), StateError> {
        self.readers.for_each_row(scope, visit)
    }

    /// The error of the last write, until a write succeeds. Errors of a single write, such as a
    /// value that is too large, do not count.
    pub fn write_problem(&self) -> Option<StateError> {
        self.health.problem()
    }

    /// Gives the space of deleted rows back to the system. Returns by how many bytes the file is
    /// smaller. Writes wait meanwhile.
    pub fn compact(&self) -> StateFuture<u64> {
        let (completed, compacted) = oneshot::channel();
        let sent = self.jobs.send(Job::Compact(completed));
        Box::pin(async move {
            sent.map_err(|_| StateError::Closed)?;
            compacted.await.unwrap_or(Err(StateError::Closed))
        })
    }

    /// Finishes the queued writes and ends the writer; blocks until then. Later calls fail with
    /// [`StateError::Closed`]. Dropping the store does the same.
    pub fn close(&self) {
        // Fails if the writer has ended already.
        let _ = self.jobs.send(Job::Stop);
        let mut writer = lock(&self.writer);
        if let Some(thread) = writer.take()
            && thread.join().is_err()
        {
            tracing::error!("the state writer panicked");
        }
        self.feed.close();
        self.readers.close();
    }

    /// Queues a write. The writes of one caller happen in order; callers are served in turn.
    pub(crate) fn write(
        &self,
        caller: Option<Arc<str>>,
        scope: String,
        key: String,
        op: Op,
    ) -> impl Future<Output = Result<Written, StateError>> + Send + use<> {
        let (completed, written) = oneshot::channel();
        let size = size_of::<Write>() + scope.len() + key.len() + op.size();
        let queued = self.enqueue(Box::new(Write {
            caller,
            scope,
            key,
            op,
            size,
            completed,
        }));
        async move {
            queued?;
            written.await.unwrap_or(Err(StateError::Closed))
        }
    }

    fn enqueue(&self, write: Box<Write>) -> Result<(), StateError> {
        for (what, size, limit) in [
            ("scope", write.scope.len(), MAX_NAME_BYTES),
            ("key", write.key.len(), MAX_NAME_BYTES),
            (write.op.what(), write.op.new_size(), self.options.max_value),
        ] {
            if size > limit {
                return Err(StateError::TooLarge { what, size, limit });
            }
        }
        let size = write.size;
        let queued = self.queued_bytes.fetch_add(size, Ordering::Relaxed);
        // A single larger write still fits an empty queue.
        let sent = if queued > 0 && queued.saturating_add(size) > self.options.max_queued {
            Err(StateError::Overloaded { queued })
        } else {
            let sent = self.jobs.send(Job::Write(write));
            sent.map_err(|_| StateError::Closed)
        };
        if sent.is_err() {
            self.queued_bytes.fetch_sub(size, Ordering::Relaxed);
        }
        sent
    }
}

impl Drop for SqliteState {
    fn drop(&mut self) {
        self.close();
    }
}
