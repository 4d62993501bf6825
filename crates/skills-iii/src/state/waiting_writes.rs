//! The writes that wait for the writer, and which of them it commits next.
//!
//! Callers are served in turn, and a transaction is small, so that a caller with many writes does
//! not delay another one for long. A single large write does: nothing can interrupt its
//! transaction. So a caller with large writes gets a third of the writer's time while others
//! write.

use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::StateError;
use super::row::Op;
use super::write::Outcome;
use crate::fair_queue::FairQueue;

/// How many writes one transaction may have.
const MAX_BATCH: usize = 1024;
/// How many bytes of requests, or of replaced and new values, one transaction may have, about. A
/// single larger write has a transaction of its own.
pub(super) const MAX_BATCH_BYTES: usize = 1 << 20;

/// A slower commit is counted as this long: it was an exception and does not predict the next.
const MAX_EXPECTED_COMMIT: Duration = Duration::from_millis(10);

/// How long after its last write a caller counts as one that writes.
const ACTIVE_TIME: Duration = Duration::from_secs(1);
/// After a large write, its caller waits this many times as long as the write took.
const PAUSE_TIMES: u32 = 2;

/// An item of the writer's queue.
pub(super) enum Job {
    Write(Box<Write>),
    /// Gives free space back, before further writes.
    Compact(Compaction),
    /// Ends the writer after the jobs before it.
    Stop,
}

/// Completed with the number of bytes by which the file is smaller.
pub(super) type Compaction = oneshot::Sender<Result<u64, StateError>>;

/// A queued write.
pub(super) struct Write {
    pub(super) caller: Caller,
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) op: Op,
    /// Its size for the limits of the queue and the batch.
    pub(super) size: usize,
    pub(super) completed: oneshot::Sender<Outcome>,
}

/// Who writes; none for a program that has opened the store itself.
type Caller = Option<Arc<str>>;

/// What the writer does next.
pub(super) enum NextBatch {
    Writes(Vec<Write>),
    Compact(Compaction),
    /// There was nothing to write for a while.
    Idle,
    End,
}

#[derive(Default)]
pub(super) struct WaitingWrites {
    queue: FairQueue<Write>,
    compaction: Option<Compaction>,
    /// No write is accepted any more.
    stopping: bool,
    last_batch_len: usize,
    last_commit_time: Duration,
    /// The callers that wrote last, two of them at most, and when.
    writers: Vec<(Caller, Instant)>,
    /// The callers of the large writes in the batch that is being committed.
    large: Vec<Caller>,
    /// Callers that are not served before a time.
    paused: HashMap<Caller, Instant>,
}

impl WaitingWrites {
    /// Waits for writes, at most for `idle` if there are none, and collects a batch.
    ///
    /// The callers of the last batch are about to write again. Waiting for as many writes as it
    /// had, for a time that is short against a commit, puts them into this batch.
    pub(super) fn next_batch(&mut self, jobs: &Receiver<Job>, idle: Duration) -> NextBatch {
        let deadline = Instant::now() + self.last_commit_time / 10;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        loop {
            while let Ok(job) = jobs.try_recv() {
                self.add(job);
            }
            if batch.is_empty()
                && let Some(compaction) = self.compaction.take()
            {
                return NextBatch::Compact(compaction);
            }
            while batch.len() < MAX_BATCH
                && let Some(write) = self.pop(batch.is_empty(), bytes)
            {
                bytes += write.size;
                batch.push(write);
            }
            let is_complete = self.queue.len() > 0 || batch.len() >= self.last_batch_len;
            if !batch.is_empty() && (is_complete || self.stopping) {
                break;
            }
            let now = Instant::now();
            let wait = if !batch.is_empty() {
                deadline.saturating_duration_since(now)
            } else if self.queue.len() > 0 {
                let resumed = self.paused.values().min();
                resumed.map_or(Duration::ZERO, |time| time.saturating_duration_since(now))
            } else if self.stopping {
                return NextBatch::End;
            } else {
                idle
            };
            match jobs.recv_timeout(wait) {
                Ok(job) => self.add(job),
                Err(RecvTimeoutError::Disconnected) => self.stopping = true,
                Err(RecvTimeoutError::Timeout) if !batch.is_empty() => break,
                Err(RecvTimeoutError::Timeout) if self.queue.len() > 0 => {}
                Err(RecvTimeoutError::Timeout) => return NextBatch::Idle,
            }
        }
        self.last_batch_len = batch.len();
        NextBatch::Writes(batch)
    }

    fn add(&mut self, job: Job) {
        match job {
            Job::Write(write) if !self.stopping => {
                self.queue.push(write.caller.clone().as_ref(), *write);
            }
            // Its caller gets an error because the sender of the result is dropped.
            Job::Write(_) => {}
            Job::Compact(compaction) => self.compaction = Some(compaction),
            Job::Stop => self.stopping = true,
        }
    }

    /// The next write that fits a batch of so many bytes.
    fn pop(&mut self, is_first: bool, bytes: usize) -> Option<Write> {
        if !self.paused.is_empty() {
            let now = Instant::now();
            self.paused.retain(|_, until| *until > now);
        }
        self.queue.pop_if(|write| {
            let fits = is_first || bytes + write.size <= MAX_BATCH_BYTES;
            fits && (self.stopping || !self.paused.contains_key(&write.caller))
        })
    }

    /// A write of the batch was completed; `bytes` are those of its old and new value.
    pub(super) fn written(&mut self, write: &Write, bytes: usize) {
        let now = Instant::now();
        if let Some((_, time)) = self.writers.iter_mut().find(|(c, _)| *c == write.caller) {
            *time = now;
        } else {
            self.writers
                .sort_by_key(|(_, time)| std::cmp::Reverse(*time));
            self.writers.truncate(1);
            self.writers.push((write.caller.clone(), now));
        }
        if write.size.max(bytes) > MAX_BATCH_BYTES {
            self.large.push(write.caller.clone());
        }
    }

    /// The batch was committed in this time.
    pub(super) fn committed(&mut self, time: Duration) {
        self.last_commit_time = time.min(MAX_EXPECTED_COMMIT);
        let now = Instant::now();
        for caller in take(&mut self.large) {
            let mut writers = self.writers.iter();
            if writers.any(|(other, last)| *other != caller && now - *last < ACTIVE_TIME) {
                self.paused.insert(caller, now + PAUSE_TIMES * time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    const LARGE: usize = MAX_BATCH_BYTES + 1;

    struct Fixture {
        jobs: Sender<Job>,
        inbox: Receiver<Job>,
        waiting: WaitingWrites,
    }

    impl Fixture {
        fn new() -> Self {
            let (jobs, inbox) = channel();
            Self {
                jobs,
                inbox,
                waiting: WaitingWrites::default(),
            }
        }

        fn push(&self, caller: &str, key: &str, size: usize) {
            let write = Write {
                caller: Some(caller.into()),
                scope: "s".into(),
                key: key.into(),
                op: Op::Delete,
                size,
                completed: oneshot::channel().0,
            };
            self.jobs.send(Job::Write(Box::new(write))).unwrap();
        }

        /// The keys of the next batch, which takes this time to commit.
        fn commit(&mut self, time: Duration) -> Vec<String> {
            let NextBatch::Writes(batch) = self.waiting.next_batch(&self.inbox, Duration::ZERO)
            else {
                panic!("no batch")
            };
            for write in &batch {
                self.waiting.written(write, 0);
            }
            self.waiting.committed(time);
            batch.into_iter().map(|write| write.key).collect()
        }
    }

    #[test]
    fn large_writes_pause_while_another_caller_writes() {
        let mut fixture = Fixture::new();
        fixture.push("large", "large-0", LARGE);
        fixture.push("large", "large-1", LARGE);
        fixture.push("small", "small-0", 1);
        fixture.push("large", "after-large-1", 1);
        let hour = Duration::from_hours(1);
        // No other caller has written yet.
        assert_eq!(fixture.commit(hour), ["large-0"]);
        assert_eq!(fixture.commit(Duration::ZERO), ["small-0"]);
        assert_eq!(fixture.commit(hour), ["large-1"]);
        // The next small write of the paused caller waits as well: its writes stay in order.
        fixture.push("small", "small-1", 1);
        assert_eq!(fixture.commit(Duration::ZERO), ["small-1"]);
        // The end does not wait for a pause.
        fixture.jobs.send(Job::Stop).unwrap();
        assert_eq!(fixture.commit(Duration::ZERO), ["after-large-1"]);
        let next = fixture.waiting.next_batch(&fixture.inbox, hour);
        assert!(matches!(next, NextBatch::End));
    }

    #[test]
    fn a_pause_ends() {
        let mut fixture = Fixture::new();
        fixture.push("small", "small", 1);
        assert_eq!(fixture.commit(Duration::ZERO), ["small"]);
        fixture.push("large", "large-0", LARGE);
        assert_eq!(fixture.commit(Duration::from_millis(1)), ["large-0"]);
        fixture.push("large", "large-1", LARGE);
        assert_eq!(fixture.commit(Duration::ZERO), ["large-1"]);
    }
}
