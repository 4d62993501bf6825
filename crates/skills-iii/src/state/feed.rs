//! The feed of committed writes: a bounded queue for each subscriber.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::StoreOptions;
use crate::lock::lock;

/// A committed change, of this process or of another process that shares the directory.
#[derive(Clone, Debug)]
pub enum StateChange {
    /// One row was written or deleted.
    Row {
        /// The row's scope.
        scope: String,
        /// The row's key.
        key: String,
        /// The value before; none if the row is new.
        old: Option<Box<RawValue>>,
        /// The value after; none if the row was deleted. None in both: this process deleted a
        /// row that did not exist.
        new: Option<Box<RawValue>>,
    },
    /// Any row may have changed: more changes happened than the queue of this subscriber holds.
    /// The subscriber must read again what it relies on. Later events are complete.
    Reload,
}

impl StateChange {
    fn size(&self) -> usize {
        let text = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |v| v.get().len());
        match self {
            Self::Row {
                scope,
                key,
                old,
                new,
            } => scope.len() + key.len() + text(old) + text(new),
            Self::Reload => 0,
        }
    }
}

/// A subscription: receives every [`StateChange`] since it was made, in commit order.
#[derive(Debug)]
pub struct Changes {
    queue: Arc<Queue>,
}

impl Changes {
    /// The next change; none once the store is closed and everything was received.
    ///
    /// Cancel safe: dropping the future loses no change.
    pub async fn recv(&mut self) -> Option<StateChange> {
        loop {
            let pushed = self.queue.pushed.notified();
            {
                let mut pending = self.queue.lock();
                if let Some(change) = pending.pop() {
                    return Some(change);
                }
                if pending.closed {
                    return None;
                }
            }
            pushed.await;
        }
    }

    /// The next change, if the queue holds one.
    pub fn try_recv(&mut self) -> Option<StateChange> {
        self.queue.lock().pop()
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        let mut pending = self.queue.lock();
        pending.closed = true;
        pending.changes.clear();
    }
}

#[derive(Debug, Default)]
struct Queue {
    pending: Mutex<Pending>,
    pushed: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    changes: VecDeque<StateChange>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    // A std mutex: nothing awaits while it is held.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

impl Pending {
    fn pop(&mut self) -> Option<StateChange> {
        let change = self.changes.pop_front()?;
        self.bytes -= change.size();
        Some(change)
    }
}

/// Every subscriber of a store. Dropping it ends their subscriptions.
#[derive(Debug)]
pub(super) struct Feed {
    subscribers: Mutex<Vec<Arc<Queue>>>,
    max_events: usize,
    max_bytes: usize,
}

impl Feed {
    pub(super) fn new(options: &StoreOptions) -> Self {
        Self {
            subscribers: Mutex::default(),
            max_events: options.max_events.max(1),
            max_bytes: options.max_event_bytes,
        }
    }

    pub(super) fn subscribe(&self) -> Changes {
        let queue = Arc::new(Queue::default());
        self.lock().push(Arc::clone(&queue));
        Changes { queue }
    }

    /// Without subscribers, events need not be built.
    pub(super) fn has_subscribers(&self) -> bool {
        !self.lock().is_empty()
    }

    /// How many bytes the queue of one subscriber holds.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Queues the changes for every subscriber. A full queue is replaced by one
    /// [`StateChange::Reload`], so a subscriber that never reads costs bounded memory.
    pub(super) fn publish(&self, changes: Vec<StateChange>) {
        if changes.is_empty() {
            return;
        }
        let mut subscribers = self.lock();
        subscribers.retain(|queue| !queue.lock().closed);
        let Some((last, others)) = subscribers.split_last() else {
            return;
        };
        for queue in others {
            self.push(queue, changes.iter().cloned());
        }
        self.push(last, changes.into_iter());
    }

    /// Ends every subscription after its queued changes.
    pub(super) fn close(&self) {
        for queue in self.lock().drain(..) {
            queue.lock().closed = true;
            queue.pushed.notify_one();
        }
    }

    fn push(&self, queue: &Queue, changes: impl Iterator<Item = StateChange>) {
        let mut pending = queue.lock();
        for change in changes {
            let size = change.size();
            let full =
                pending.changes.len() >= self.max_events || pending.bytes + size > self.max_bytes;
            if matches!(change, StateChange::Reload) || full {
                // The reload covers the changes in the queue.
                pending.changes.clear();
                pending.bytes = 0;
                pending.changes.push_back(StateChange::Reload);
            } else {
                pending.bytes += size;
                pending.changes.push_back(change);
            }
        }
        drop(pending);
        queue.pushed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        lock(&self.subscribers)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.close();
    }
}
