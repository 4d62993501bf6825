//! The writer: one thread that makes writes durable, many at a time.
//!
//! It takes what is waiting, writes it in one transaction, and answers after the commit, in
//! commit order. While idle it holds no lock and looks now and then for other processes' writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::is_busy;
use super::feed::Feed;
use super::file::Identity;
use super::log::{self, Tail};
use super::row::{self, Op, Refusal, Written};
use super::{StateChange, StateError, StoreOptions, schema};

/// Between two tries for a lock that another process holds. Short, because a busy writer leaves
/// only short gaps.
pub(super) const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// The most writes, and the most bytes, in one transaction.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 16 << 20;

/// A commit that took longer than this says nothing about the next.
const LONGEST_COMMIT: Duration = Duration::from_millis(10);

/// How many writes may pass between two cuts of the log.
const PRUNE_EVERY: i64 = 256;

/// What the writer is told.
pub(super) enum Job {
    Write(Box<Write>),
    /// Finish what came before and end.
    Stop,
}

/// A write that waits for its turn.
pub(super) struct Write {
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) op: Op,
    pub(super) answer: oneshot::Sender<Result<Written, StateError>>,
}

impl Write {
    /// What it counts against the limits of the queue and the batch.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.scope.len() + self.key.len() + self.op.size()
    }
}

type Outcome = Result<Written, StateError>;

/// The writing side of a store.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) options: StoreOptions,
    pub(super) feed: Arc<Feed>,
    pub(super) queued_bytes: Arc<AtomicUsize>,
    /// Everything up to here was reported.
    seen: Tail,
    /// The log's end when it was last cut.
    pruned: Option<Tail>,
    data_version: i64,
    identity: Identity,
    /// How many writes the last batch had, and how long it took.
    usual: usize,
    took: Duration,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        path: PathBuf,
        options: StoreOptions,
        feed: Arc<Feed>,
        queued_bytes: Arc<AtomicUsize>,
    ) -> Result<Self, StateError> {
        let failed = |cause| StateError::from_sqlite(&path, "read", cause);
        // In this order: for a write between the two we look once in vain rather than never.
        let data_version = data_version(&connection).map_err(failed)?;
        let seen = Tail::read(&connection).map_err(failed)?;
        // From here on `begin` does the waiting, in shorter steps than SQLite would.
        connection.busy_timeout(Duration::ZERO).map_err(failed)?;
        let identity = Identity::of(&path);
        let (pruned, usual, took) = (None, 1, Duration::ZERO);
        Ok(Self {
            connection,
            path,
            options,
            feed,
            queued_bytes,
            seen,
            pruned,
            data_version,
            identity,
            usual,
            took,
        })
    }

    /// Serves until told to stop.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let first = match jobs.recv_timeout(self.options.poll) {
                Ok(Job::Write(write)) => *write,
                Ok(Job::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.poll_changes();
                    continue;
                }
            };
            let (batch, stop) = gather(first, jobs, self.usual, self.took / 10);
            self.usual = batch.len();
            let start = Instant::now();
            self.finish(batch);
            self.took = start.elapsed().min(LONGEST_COMMIT);
            if stop {
                break;
            }
        }
        self.feed.close();
    }

    /// Makes a batch durable, tells the listeners, answers.
    fn finish(&mut self, mut batch: Vec<Write>) {
        let size: usize = batch.iter().map(Write::size).sum();
        let outcomes = match self.commit(&mut batch) {
            Ok(outcomes) => outcomes,
            Err(error) if batch.len() == 1 || !may_be_one_writes_fault(&error) => {
                batch.iter().map(|_| Err(error.clone())).collect()
            }
            // Nothing was written. One by one, each gets the result that is its own.
            Err(error) => {
                tracing::debug!(%error, writes = batch.len(), "a batch failed; writing one by one");
                batch
                    .chunks_mut(1)
                    .map(|one| {
                        self.commit(one).and_then(|mut outcomes| {
                            outcomes.pop().unwrap_or(Err(StateError::Closed))
                        })
                    })
                    .collect()
            }
        };
        self.queued_bytes.fetch_sub(size, Ordering::Relaxed);
        for (write, outcome) in batch.into_iter().zip(outcomes) {
            if let Err(error) = &outcome {
                tracing::debug!(scope = write.scope, key = write.key, %error, "a write failed");
            }
            // The caller may have gone; the write stands.
            let _ = write.answer.send(outcome);
        }
    }

    /// One transaction. An error means that none of it was written.
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
                self.seen = tail;
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

    /// Takes the write lock, waiting for other processes, and makes sure that the tables are
    /// still those we know.
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
                    std::thread::sleep(BUSY_PAUSE);
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

    /// Everything between BEGIN and COMMIT.
    fn fill(&mut self, batch: &mut [Write]) -> rusqlite::Result<(Tail, Vec<Outcome>)> {
        let mut tail = Tail::read(&self.connection)?;
        // What others committed before us is told before us.
        self.catch_up(tail)?;
        let mut outcomes = Vec::with_capacity(batch.len());
        for write in batch {
            let place = (write.scope.as_str(), write.key.as_str());
            let max_value = self.options.max_value;
            outcomes.push(
                match row::apply(&self.connection, &mut tail, place, &mut write.op, max_value) {
                    Ok(written) => Ok(written),
                    Err(Refusal::Own(error)) => Err(error),
                    Err(Refusal::Database(cause)) => return Err(cause),
                },
            );
        }
        let due = self.pruned.is_none_or(|last| {
            tail.seq - last.seq >= PRUNE_EVERY
                || tail.total - last.total >= i64::from(self.options.log_bytes / 8)
        });
        if due && tail != self.seen {
            log::prune(&self.connection, tail, &self.options)?;
            self.pruned = Some(tail);
        }
        Ok((tail, outcomes))
    }

    /// Reports what other processes wrote up to `tail`. Inside a transaction.
    fn catch_up(&mut self, tail: Tail) -> rusqlite::Result<()> {
        if tail != self.seen {
            if self.feed.has_subscribers() {
                let max_bytes = self.feed.max_bytes();
                let changes = match log::since(&self.connection, self.seen, max_bytes) {
                    // Not SQLite's complaint but ours about a row's contents. Who reads the row
                    // will hear of it; here it must not stand in the way of every later write.
                    Err(error) if error.sqlite_error().is_none() => {
                        tracing::warn!(%error, "the log of writes holds something unreadable");
                        vec![StateChange::Reload]
                    }
                    changes => changes?,
                };
                self.feed.publish(changes);
            }
            self.seen = tail;
        }
        Ok(())
    }

    /// Reports this process's own writes.
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

    /// Looks for writes of other processes. Costs microseconds when there are none.
    fn poll_changes(&mut self) {
        let polled = self.read_foreign_changes();
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        // Busy: somebody recovers or closes the file. The next look will do.
        if let Err(error) = polled
            && !is_busy(&error)
        {
            tracing::warn!(%error, "could not look for other processes' writes; trying again");
        }
    }

    fn read_foreign_changes(&mut self) -> rusqlite::Result<()> {
        let version = data_version(&self.connection)?;
        if version != self.data_version {
            // One read transaction: the log and the rows of one moment.
            self.connection.execute_batch("BEGIN")?;
            let tail = Tail::read(&self.connection)?;
            self.catch_up(tail)?;
            self.connection.execute_batch("COMMIT")?;
            self.data_version = version;
        }
        Ok(())
    }
}

/// Takes what else is waiting; also answers whether the writer was told to stop.
///
/// Those who were just answered are about to write again. Waiting for as many as there were, for
/// a moment that is short against a commit, puts them into this batch instead of the next.
fn gather(
    first: Write,
    jobs: &Receiver<Job>,
    usual: usize,
    patience: Duration,
) -> (Vec<Write>, bool) {
    let deadline = Instant::now() + patience;
    let mut bytes = first.size();
    let mut batch = vec![first];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        let job = match jobs.try_recv() {
            Err(TryRecvError::Empty) if batch.len() < usual => {
                let left = deadline.saturating_duration_since(Instant::now());
                jobs.recv_timeout(left).ok()
            }
            job => job.ok(),
        };
        match job {
            Some(Job::Write(write)) => {
                bytes += write.size();
                batch.push(*write);
            }
            Some(Job::Stop) => return (batch, true),
            None => break,
        }
    }
    (batch, false)
}

/// Whether other writes of the batch could succeed where this error stopped it.
fn may_be_one_writes_fault(error: &StateError) -> bool {
    !matches!(
        error,
        StateError::Busy { .. } | StateError::Replaced { .. } | StateError::Newer { .. }
    )
}

/// Changes whenever another connection has committed.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}
