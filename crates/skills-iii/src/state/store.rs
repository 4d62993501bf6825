//! The store as its users see it.

use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::feed::Feed;
use super::read::Readers;
use super::row::{Change, Op, Written};
use super::write::{Job, Write, Writer};
use super::{Changes, Checked, StateError, StoreOptions, check, file};

/// A result that is on its way.
pub type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A row before and after an update.
pub type Updated = (Option<Box<RawValue>>, Box<RawValue>);

/// The longest scope or key.
const MAX_NAME: usize = 16 << 10;

/// Rows of JSON by scope and key, on disk.
///
/// A write is queued by the call itself, so writes happen in the order of the calls, and they
/// happen even if nobody awaits the future. The future resolves once the write is on disk: it
/// then survives a kill and a power cut, every read sees it, and its event has been sent.
/// Reads answer at once and may be called from any thread; a long list takes as long as it takes
/// to read, so an async caller may prefer to hand that to a blocking thread.
///
/// Several processes, and several stores in a process, may use one directory.
#[derive(Debug)]
pub struct Store {
    jobs: Sender<Job>,
    queued: Arc<AtomicUsize>,
    readers: Readers,
    feed: Arc<Feed>,
    options: StoreOptions,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the store in a directory, making both if they do not exist.
    ///
    /// A file that is damaged, newer than this program or not ours is an error and is left as it
    /// is. The rows are not scanned: damage further in is reported when it is met.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self, StateError> {
        let path = file::locate(dir)?;
        let connection = file::open_writer(&path, &options)
            .map_err(|error| error.after(options.busy_timeout))?;
        let readers = Readers::open(path.clone(), options.clone())?;
        let feed = Arc::new(Feed::new(&options));
        let queued = Arc::new(AtomicUsize::new(0));
        let writer = Writer::new(
            connection,
            path,
            options.clone(),
            Arc::clone(&feed),
            Arc::clone(&queued),
        )?;
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
            queued,
            readers,
            feed,
            options,
            writer: Mutex::new(Some(thread)),
        })
    }

    /// Looks whether the store in a directory is well, without making or changing anything.
    /// Reads all of it. None if nothing was ever kept there.
    pub fn check(dir: &Path, options: &StoreOptions) -> Result<Option<Checked>, StateError> {
        check::check(dir, options).map_err(|error| error.after(options.busy_timeout))
    }

    /// Writes a row and answers the value it had. A new row goes to the end of its scope; one
    /// that was there keeps its place.
    pub fn set(
        &self,
        scope: String,
        key: String,
        value: Box<RawValue>,
    ) -> Pending<Result<Option<Box<RawValue>>, StateError>> {
        let written = self.write(scope, key, Op::Set(value));
        Box::pin(async move { Ok(written.await?.old) })
    }

    /// Reads a row.
    pub fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StateError> {
        self.readers.get(scope, key)
    }

    /// Deletes a row and answers the value it had.
    pub fn delete(
        &self,
        scope: String,
        key: String,
    ) -> Pending<Result<Option<Box<RawValue>>, StateError>> {
        let written = self.write(scope, key, Op::Delete);
        Box::pin(async move { Ok(written.await?.old) })
    }

    /// Reads every value of a scope, in the order in which the rows were made.
    pub fn list(&self, scope: &str) -> Result<Vec<Box<RawValue>>, StateError> {
        self.readers.list(scope)
    }

    /// The same as one JSON list, in which each value is copied once.
    pub fn list_as_json(&self, scope: &str) -> Result<Box<RawValue>, StateError> {
        self.readers.list_as_json(scope)
    }

    /// Shows every value of a scope in the same order, as the text that was written and without
    /// a copy of it. Unlike the others this does not look whether it still is JSON.
    pub fn each(&self, scope: &str, show: &mut dyn FnMut(&str)) -> Result<(), StateError> {
        self.readers.each(scope, show)
    }

    /// The scopes that were ever written to, sorted; also those that are empty now.
    pub fn groups(&self) -> Result<Vec<String>, StateError> {
        self.readers.groups()
    }

    /// Replaces a row by what `change` makes of it, with no other write in between; answers the
    /// values before and after.
    ///
    /// `change` runs on the writer's thread: other writes wait for it. An error it returns, or a
    /// panic, leaves the row as it was.
    pub fn update(
        &self,
        scope: String,
        key: String,
        change: Change,
    ) -> Pending<Result<Updated, StateError>> {
        let written = self.write(scope, key, Op::Update(change));
        Box::pin(async move {
            let Written { old, new } = written.await?;
            // An update that succeeds has made a value.
            Ok((old, new.ok_or(StateError::Closed)?))
        })
    }

    /// Every write committed from now on, of this process and of others, once each and in commit
    /// order.
    pub fn changes(&self) -> Changes {
        self.feed.subscribe()
    }

    /// Finishes the queued writes and ends the writer; blocks until then. Later calls fail with
    /// [`StateError::Closed`]. Dropping the store does the same.
    pub fn close(&self) {
        // Fails if the writer has ended already.
        let _ = self.jobs.send(Job::Stop);
        let thread = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the state writer panicked");
        }
        self.feed.close();
        self.readers.close();
    }

    fn write(&self, scope: String, key: String, op: Op) -> Pending<Result<Written, StateError>> {
        let (answer, written) = oneshot::channel();
        let write = Write {
            scope,
            key,
            op,
            answer,
        };
        if let Err(error) = self.enqueue(write) {
            return Box::pin(std::future::ready(Err(error)));
        }
        Box::pin(async move { written.await.unwrap_or(Err(StateError::Closed)) })
    }

    fn enqueue(&self, write: Write) -> Result<(), StateError> {
        for (what, size, limit) in [
            ("scope", write.scope.len(), MAX_NAME),
            ("key", write.key.len(), MAX_NAME),
            ("value", write.op.size(), self.options.max_value),
        ] {
            if size > limit {
                return Err(StateError::TooLarge { what, size, limit });
            }
        }
        let size = write.size();
        let queued = self.queued.fetch_add(size, Ordering::Relaxed);
        if queued.saturating_add(size) > self.options.max_queued {
            self.queued.fetch_sub(size, Ordering::Relaxed);
            return Err(StateError::Overloaded { queued });
        }
        self.jobs
            .send(Job::Write(write))
            .map_err(|_| StateError::Closed)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}
