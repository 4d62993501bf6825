//! How committed writes reach those who asked to hear of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::StoreOptions;

/// Something committed, by this process or by another one that shares the directory.
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
    /// Any row may have changed: more happened than could be kept for this reader. It must read
    /// again whatever it relies on; events that follow are complete from here on.
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

/// Receives every [`StateChange`] from the moment it was made, in commit order.
#[derive(Debug)]
pub struct Changes {
    queue: Arc<Queue>,
}

impl Changes {
    /// The next change; none once the store is closed and everything was received.
    ///
    /// May be dropped while waiting; nothing is lost.
    pub async fn recv(&mut self) -> Option<StateChange> {
        loop {
            let rung = self.queue.bell.notified();
            {
                let mut waiting = self.queue.lock();
                if let Some(change) = waiting.pop() {
                    return Some(change);
                }
                if waiting.closed {
                    return None;
                }
            }
            rung.await;
        }
    }

    /// The next change if one is waiting.
    pub fn try_recv(&mut self) -> Option<StateChange> {
        self.queue.lock().pop()
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.closed = true;
        waiting.changes.clear();
    }
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: VecDeque<StateChange>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    // A std mutex: nothing awaits while it is held.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<StateChange> {
        let change = self.changes.pop_front()?;
        self.bytes -= change.size();
        Some(change)
    }
}

/// Everyone who listens.
#[derive(Debug)]
pub(super) struct Feed {
    readers: Mutex<Vec<Arc<Queue>>>,
    max_events: usize,
    max_bytes: usize,
}

impl Feed {
    pub(super) fn new(options: &StoreOptions) -> Self {
        Self {
            readers: Mutex::default(),
            max_events: options.max_events.max(1),
            max_bytes: options.max_event_bytes,
        }
    }

    pub(super) fn subscribe(&self) -> Changes {
        let queue = Arc::new(Queue::default());
        self.lock().push(Arc::clone(&queue));
        Changes { queue }
    }

    /// Whether anybody listens: if not, events need not be made.
    pub(super) fn has_readers(&self) -> bool {
        !self.lock().is_empty()
    }

    /// The bytes a reader's queue holds at most.
    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Hands the changes to every reader. A reader whose queue is full loses the queue and is
    /// told to reload: one that never reads must not cost memory without bound.
    pub(super) fn send(&self, changes: Vec<StateChange>) {
        if changes.is_empty() {
            return;
        }
        let mut readers = self.lock();
        readers.retain(|queue| !queue.lock().closed);
        let Some((last, others)) = readers.split_last() else {
            return;
        };
        for queue in others {
            self.fill(queue, changes.iter().cloned());
        }
        self.fill(last, changes.into_iter());
    }

    /// Ends every reader once it has received what is waiting.
    pub(super) fn close(&self) {
        for queue in self.lock().drain(..) {
            queue.lock().closed = true;
            queue.bell.notify_one();
        }
    }

    fn fill(&self, queue: &Queue, changes: impl Iterator<Item = StateChange>) {
        let mut waiting = queue.lock();
        for change in changes {
            let size = change.size();
            let full =
                waiting.changes.len() >= self.max_events || waiting.bytes + size > self.max_bytes;
            if matches!(change, StateChange::Reload) || full {
                // What waits is part of what must be read again.
                waiting.changes.clear();
                waiting.bytes = 0;
                waiting.changes.push_back(StateChange::Reload);
            } else {
                waiting.bytes += size;
                waiting.changes.push_back(change);
            }
        }
        drop(waiting);
        queue.bell.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Queue>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
