//! The writer: one thread that commits the queued writes in batches.
//!
//! It writes the queued writes, those of several callers in turn, in one transaction and completes
//! them after the commit, in commit order. A transaction is small, so that a caller with many or
//! large writes does not delay another one for long. While idle it holds no lock and polls for changes of other processes.

use std::mem::replace;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::is_busy;
use super::feed::Feed;
use super::file::Identity;
use super::log::{self, Tail};
use super::row::{self, Op, Refusal, Written};
use super::write_health::{WriteHealth, WriteRecord};
use super::{StateChange, StateError, StoreOptions, schema};
use crate::fair_queue::FairQueue;

/// The pause between two attempts to take a lock that another process holds. Short, because a
/// busy writer releases it only briefly.
pub(super) const LOCK_RETRY_DELAY: Duration = Duration::from_millis(1);

/// How many writes one transaction may have.
const MAX_BATCH: usize = 1024;
/// How many bytes of requests, or of replaced and new values, one transaction may have, about. A
/// single larger write has a transaction of its own.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// A slower commit is counted as this long: it was an exception and does not predict the next.
const MAX_EXPECTED_COMMIT: Duration = Duration::from_millis(10);

/// How many writes may happen between two prunings of the log.
const PRUNE_INTERVAL: i64 = 256;

/// An item of the writer's queue.
pub(super) enum Job {
    Write(Box<Write>),
    /// Ends the writer after the jobs before it.
    Stop,
}

/// A queued write.
pub(super) struct Write {
    pub(super) caller: Option<Arc<str>>,
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) op: Op,
    /// Its size for the limits of the queue and the batch.
    pub(super) size: usize,
    pub(super) completed: oneshot::Sender<Outcome>,
}

/// The result of a write.
pub(super) type Outcome = Result<Written, StateError>;

/// The state of the writer's thread.
pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    options: StoreOptions,
    feed: Arc<Feed>,
    /// The writes that were received and are not in a batch yet.
    waiting: FairQueue<Write>,
    /// No write is accepted any more.
    stopping: bool,
    queued_bytes: Arc<AtomicUsize>,
    record: WriteRecord,
    /// Everything up to here was published.
    published: Tail,
    /// The end of the log when it was last pruned.
    pruned: Option<Tail>,
    data_version: i64,
    identity: Identity,
    last_batch_len: usize,
    last_commit_time: Duration,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        path: PathBuf,
        options: StoreOptions,
        feed: Arc<Feed>,
        queued_bytes: Arc<AtomicUsize>,
        health: Arc<WriteHealth>,
    ) -> Result<Self, StateError> {
        let failed = |cause| StateError::from_sqlite(&path, "read", cause);
        // In this order, a write between the two causes a needless poll instead of a missed one.
        let data_version = data_version(&connection).map_err(failed)?;
        let published = Tail::read(&connection).map_err(failed)?;
        // From here on `begin` waits for locks, in shorter steps than SQLite would.
        connection.busy_timeout(Duration::ZERO).map_err(failed)?;
        Ok(Self {
            identity: Identity::of(&path),
            connection,
            path,
            options,
            feed,
            waiting: FairQueue::default(),
            stopping: false,
            queued_bytes,
            record: WriteRecord::new(health),
            published,
            pruned: None,
            data_version,
            last_batch_len: 1,
            last_commit_time: Duration::ZERO,
        })
    }

    /// Runs until the queue ends or has a stop job.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while self.waiting.len() > 0 || !self.stopping {
            if self.waiting.len() == 0 {
                match jobs.recv_timeout(self.options.poll_interval) {
                    Ok(job) => self.add(job),
                    Err(RecvTimeoutError::Disconnected) => self.stopping = true,
                    Err(RecvTimeoutError::Timeout) => self.poll_changes(),
                }
                continue;
            }
            let batch = self.gather(jobs);
            self.last_batch_len = batch.len();
            let start = Instant::now();
            self.finish(batch);
            self.last_commit_time = start.elapsed().min(MAX_EXPECTED_COMMIT);
        }
        self.feed.close();
    }

    fn add(&mut self, job: Job) {
        match job {
            Job::Write(write) if !self.stopping => {
                self.waiting.push(write.caller.clone().as_ref(), *write);
            }
            // Its caller gets an error because the sender of the result is dropped.
            Job::Write(_) => {}
            Job::Stop => self.stopping = true,
        }
    }

    /// Collects a batch of at least one write.
    ///
    /// The callers of the last batch are about to write again. Waiting for as many writes as it
    /// had, for a time that is short against a commit, puts them into this batch.
    fn gather(&mut self, jobs: &Receiver<Job>) -> Vec<Write> {
        let deadline = Instant::now() + self.last_commit_time / 10;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        loop {
            while let Ok(job) = jobs.try_recv() {
                self.add(job);
            }
            while let Some(next) = self.waiting.peek() {
                let fits = batch.is_empty() || bytes + next.size <= MAX_BATCH_BYTES;
                if batch.len() == MAX_BATCH || !fits {
                    return batch;
                }
                bytes += next.size;
                batch.extend(self.waiting.pop());
            }
            if batch.len() >= self.last_batch_len || self.stopping {
                return batch;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match jobs.recv_timeout(left) {
                Ok(job) => self.add(job),
                Err(_) => return batch,
            }
        }
    }

    /// Commits a batch, publishes it and completes its writes.
    fn finish(&mut self, mut batch: Vec<Write>) {
        let (mut max_len, mut checkpointed) = (batch.len(), false);
        while !batch.is_empty() {
            let len = batch.len().min(max_len);
            let error = match self.commit(&mut batch[..len]) {
                Ok(outcomes) => {
                    self.record.succeeded();
                    self.complete(&mut batch, outcomes);
                    continue;
                }
                Err(error) => error,
            };
            // A checkpoint makes the space of the WAL available again.
            if error.may_lack_space() && !replace(&mut checkpointed, true) && self.checkpoint() {
                continue;
            }
            if len > 1 && may_be_caused_by_one_write(&error) {
                // Nothing was written. Written one by one, each write gets its own result.
                tracing::debug!(%error, writes = len, "a batch failed; writing one by one");
                max_len = 1;
                continue;
            }
            self.record.failed(&error);
            let failed = if may_be_caused_by_one_write(&error) {
                len
            } else {
                batch.len()
            };
            self.complete(&mut batch, vec![Err(error); failed]);
        }
    }

    /// Completes the first writes of a batch.
    fn complete(&self, batch: &mut Vec<Write>, outcomes: Vec<Outcome>) {
        for (write, outcome) in batch.drain(..outcomes.len()).zip(outcomes) {
            self.queued_bytes.fetch_sub(write.size, Ordering::Relaxed);
            if let Err(error) = &outcome {
                tracing::debug!(scope = write.scope, key = write.key, %error, "a write failed");
            }
            // Fails if the caller dropped the future.
            let _ = write.completed.send(outcome);
        }
    }

    /// Writes the first writes of a batch, at least one, in one transaction. An error means that
    /// nothing was written.
    fn commit(&mut self, batch: &mut [Write]) -> Result<Vec<Outcome>, StateError> {
        if Identity::of(&self.path) != self.identity {
            return Err(StateError::Replaced {
                path: self.path.clone(),
            });
        }
        self.begin()?;
        let result = self.fill(batch).and_then(|done| {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        });
        match result {
            Ok((tail, outcomes)) => {
                self.published = tail;
                self.publish(batch, &outcomes);
                Ok(outcomes)
            }
            Err(cause) => {
                if !self.connection.is_autocommit()
                    && let Err(error) = self.connection.execute_batch("ROLLBACK")
                {
                    tracing::error!(%error, "could not roll back");
                }
                Err(StateError::from_sqlite(&self.path, "write to", cause))
            }
        }
    }

    /// Copies the WAL to the database and truncates it. Returns whether that succeeded.
    fn checkpoint(&self) -> bool {
        let blocked = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        if let Err(error) = &blocked {
            tracing::debug!(%error, "could not checkpoint");
        }
        blocked == Ok(0_i64)
    }

    /// Takes the write lock, waiting for other processes, and checks that the schema is still
    /// supported.
    fn begin(&mut self) -> Result<(), StateError> {
        let start = Instant::now();
        loop {
            let begun = self
                .connection
                .prepare_cached("BEGIN IMMEDIATE")
                .and_then(|mut begin| begin.execute([]));
            match begun {
                Ok(_) => break,
                Err(error) if is_busy(&error) => {
                    let waited = start.elapsed();
                    if waited >= self.options.busy_timeout {
                        return Err(StateError::Busy {
                            path: self.path.clone(),
                            waited,
                        });
                    }
                    std::thread::sleep(LOCK_RETRY_DELAY);
                }
                Err(error) => return Err(StateError::from_sqlite(&self.path, "lock", error)),
            }
        }
        let supported = schema::latest(schema::MIGRATIONS);
        let refused = match schema::version(&self.connection) {
            Ok(found) if found == supported => return Ok(()),
            Ok(found) => StateError::Newer {
                path: self.path.clone(),
                found,
                supported,
            },
            Err(error) => StateError::from_sqlite(&self.path, "read", error),
        };
        let _ = self.connection.execute_batch("ROLLBACK");
        Err(refused)
    }

    /// Runs everything between BEGIN and COMMIT. Stops early if the values become too many bytes.
    fn fill(&mut self, batch: &mut [Write]) -> rusqlite::Result<(Tail, Vec<Outcome>)> {
        let mut tail = Tail::read(&self.connection)?;
        // Commits of other processes are published before this one.
        self.catch_up(tail)?;
        let mut outcomes = Vec::with_capacity(batch.len());
        let mut bytes = 0;
        for Write { scope, key, op, .. } in batch {
            let max_value = self.options.max_value;
            let applied = row::apply(&self.connection, &mut tail, (scope, key), op, max_value);
            outcomes.push(match applied {
                Ok(written) => {
                    bytes += written.size();
                    Ok(written)
                }
                Err(Refusal::Own(error)) => Err(error),
                Err(Refusal::Database(cause)) => return Err(cause),
            });
            if bytes > MAX_BATCH_BYTES {
                break;
            }
        }
        let due = self.pruned.is_none_or(|last| {
            tail.seq - last.seq >= PRUNE_INTERVAL
                || tail.total - last.total >= i64::from(self.options.log_bytes / 8)
        });
        if due && tail != self.published {
            log::prune(&self.connection, tail, &self.options)?;
            self.pruned = Some(tail);
        }
        Ok((tail, outcomes))
    }

    /// Publishes the writes of other processes up to `tail`. Must run inside a transaction.
    fn catch_up(&mut self, tail: Tail) -> rusqlite::Result<()> {
        if tail != self.published {
            if self.feed.has_subscribers() {
                let max_bytes = self.feed.max_bytes();
                let changes = match log::since(&self.connection, self.published, max_bytes) {
                    // The content of a row is invalid. Reading the row reports that; here it must
                    // not make every later write fail.
                    Err(error) if error.sqlite_error().is_none() => {
                        tracing::warn!(%error, "the log of writes has an invalid row");
                        vec![StateChange::Reload]
                    }
                    changes => changes?,
                };
                self.feed.publish(changes);
            }
            self.published = tail;
        }
        Ok(())
    }

    /// Publishes this process's own writes.
    fn publish(&self, batch: &[Write], outcomes: &[Outcome]) {
        if !self.feed.has_subscribers() {
            return;
        }
        let written = batch.iter().zip(outcomes).filter_map(|(write, outcome)| {
            let Written { old, new } = outcome.as_ref().ok()?;
            Some(StateChange::Row {
                scope: write.scope.clone(),
                key: write.key.clone(),
                old: old.clone(),
                new: new.clone(),
            })
        });
        self.feed.publish(written.collect());
    }

    /// Publishes new writes of other processes. Takes microseconds when there are none.
    fn poll_changes(&mut self) {
        let polled = self.read_foreign_changes();
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        // Busy: another process recovers or closes the file. The next poll reads the changes.
        if let Err(error) = polled
            && !is_busy(&error)
        {
            tracing::warn!(%error, "could not poll for changes of other processes; trying again");
        }
    }

    fn read_foreign_changes(&mut self) -> rusqlite::Result<()> {
        let version = data_version(&self.connection)?;
        if version != self.data_version {
            // One read transaction, so that the log and the rows are consistent.
            self.connection.execute_batch("BEGIN")?;
            let tail = Tail::read(&self.connection)?;
            self.catch_up(tail)?;
            self.connection.execute_batch("COMMIT")?;
            self.data_version = version;
        }
        Ok(())
    }
}

/// Whether the other writes of a failed batch could succeed without the one that failed.
fn may_be_caused_by_one_write(error: &StateError) -> bool {
    !matches!(
        error,
        StateError::Busy { .. } | StateError::Replaced { .. } | StateError::Newer { .. }
    )
}

/// A number that changes whenever another connection commits.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}
