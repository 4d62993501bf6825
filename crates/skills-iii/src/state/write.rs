//! The writer: one thread that commits the queued writes in batches.
//!
//! It writes a batch of [`WaitingWrites`] in one transaction and completes them after the commit, in
//! commit order. While idle it holds no lock and polls for changes of other processes.

use std::mem::replace;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::error::is_busy;
use super::feed::Feed;
use super::file::Identity;
use super::log::{self, Tail};
use super::row::{self, Refusal, Written};
use super::waiting_writes::{Job, MAX_BATCH_BYTES, NextBatch, WaitingWrites, Write};
use super::write_health::{WriteHealth, WriteRecord};
use super::{StateChange, StateError, StoreOptions, schema};

/// The pause between two attempts to take a lock that another process holds. Short, because a
/// busy writer releases it only briefly.
pub(super) const LOCK_RETRY_DELAY: Duration = Duration::from_millis(1);

/// How many writes may happen between two prunings of the log.
const PRUNE_INTERVAL: i64 = 256;

/// The result of a write.
pub(super) type Outcome = Result<Written, StateError>;

/// The state of the writer's thread.
pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    options: StoreOptions,
    feed: Arc<Feed>,
    waiting: WaitingWrites,
    queued_bytes: Arc<AtomicUsize>,
    record: WriteRecord,
    /// Everything up to here was published.
    published: Tail,
    /// The end of the log when it was last pruned.
    pruned: Option<Tail>,
    data_version: i64,
    identity: Identity,
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
            waiting: WaitingWrites::default(),
            queued_bytes,
            record: WriteRecord::new(health),
            published,
            pruned: None,
            data_version,
        })
    }

    /// Runs until the queue ends or has a stop job.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            match self.waiting.next_batch(jobs, self.options.poll_interval) {
                NextBatch::Writes(batch) => {
                    let start = Instant::now();
                    self.finish(batch);
                    self.waiting.committed(start.elapsed());
                }
                NextBatch::Compact(completed) => drop(completed.send(self.compact())),
                NextBatch::Idle => self.poll_changes(),
                NextBatch::End => break,
            }
        }
        self.feed.close();
    }

    /// Commits a batch, publishes it and completes its writes.
    fn finish(&mut self, mut batch: Vec<Write>) {
        let (mut max_len, mut checkpointed) = (batch.len(), false);
        while !batch.is_empty() {
            let len = batch.len().min(max_len);
            let start = Instant::now();
            let error = match self.commit(&mut batch[..len]) {
                Ok(outcomes) => {
                    self.record.succeeded();
                    if let Some(told) = &self.options.on_commit {
                        told.committed(start.elapsed(), outcomes.len());
                    }
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
    fn complete(&mut self, batch: &mut Vec<Write>, outcomes: Vec<Outcome>) {
        for (write, outcome) in batch.drain(..outcomes.len()).zip(outcomes) {
            self.queued_bytes.fetch_sub(write.size, Ordering::Relaxed);
            if let Err(error) = &outcome {
                tracing::debug!(scope = write.scope, key = write.key, %error, "a write failed");
            }
            let written = outcome.as_ref().map_or(0, Written::size);
            self.waiting.written(&write, written);
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

    /// Gives the space of deleted rows and of the log back to the system. Returns by how many bytes
    /// the file is smaller. Other writes wait, and other processes can read.
    fn compact(&mut self) -> Result<u64, StateError> {
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
        // Before and after, so that the file and not its log is compared.
        self.checkpoint();
        let before = length(&self.path);
        self.begin()?;
        let cleared = self.clear_log();
        if cleared.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let compacted = cleared.and_then(|()| self.connection.execute_batch("VACUUM"));
        compacted.map_err(|cause| StateError::from_sqlite(&self.path, "compact", cause))?;
        self.checkpoint();
        Ok(before.saturating_sub(length(&self.path)))
    }

    /// Removes the log, which has the replaced values, and commits.
    fn clear_log(&mut self) -> rusqlite::Result<()> {
        let tail = Tail::read(&self.connection)?;
        self.catch_up(tail)?;
        let tail = log::clear(&self.connection, tail)?;
        self.connection.execute_batch("COMMIT")?;
        self.published = tail;
        self.pruned = Some(tail);
        Ok(())
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
