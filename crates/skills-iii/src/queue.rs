//! The outgoing messages of a connection: a queue bounded by count and by bytes.
//!
//! [`Outbox`] is the sending end, [`Queue`] the end that the connection drains. `push` never
//! waits, so a slow reader cannot block the task that serves another worker; `send` waits for
//! space.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, TryAcquireError, mpsc, watch};

use crate::message::Message;

/// How much may wait in one queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Messages.
    pub messages: usize,
    /// Bytes of payload. A single larger message still fits an empty queue.
    pub bytes: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            messages: 65_536,
            bytes: 256 << 20,
        }
    }
}

/// How many messages are taken from the channel at once: its counter is shared with the senders,
/// so releasing it once per batch costs less than once per message.
const MAX_BATCH: usize = 32;

/// Why a message was not queued.
#[derive(Debug)]
pub(crate) enum PushError {
    Full,
    Closed,
}

/// A message, and its share of the bytes until it is taken out.
type Queued = (Message, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Finishing,
    Aborted(&'static str),
}

/// One allocation, because an outbox is cloned for every call.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    messages: mpsc::Sender<Queued>,
    bytes: Arc<Semaphore>,
    max_bytes: usize,
    end: watch::Sender<End>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    messages: mpsc::Receiver<Queued>,
    /// The rest of the last batch, last message first.
    batch: Vec<Queued>,
    bytes: Arc<Semaphore>,
    end: watch::Receiver<End>,
}

pub(crate) fn queue(limits: QueueLimits) -> (Outbox, Queue) {
    let (sender, messages) = mpsc::channel(limits.messages.max(1));
    let (end, ended) = watch::channel(End::Open);
    let bytes = Arc::new(Semaphore::new(limits.bytes));
    let queue = Queue {
        messages,
        batch: Vec::new(),
        bytes: Arc::clone(&bytes),
        end: ended,
    };
    let shared = Shared {
        messages: sender,
        bytes,
        max_bytes: limits.bytes,
        end,
    };
    (Outbox(Arc::new(shared)), queue)
}

impl Outbox {
    /// Queues a message if there is space.
    pub(crate) fn push(&self, message: Message) -> Result<(), PushError> {
        let share = self.share(&message);
        let bytes = self.0.bytes.try_acquire_many(share);
        let bytes = bytes.map_err(|error| match error {
            TryAcquireError::NoPermits => PushError::Full,
            TryAcquireError::Closed => PushError::Closed,
        })?;
        let slot = self.0.messages.try_reserve();
        let slot = slot.map_err(|error| match error {
            TrySendError::Full(()) => PushError::Full,
            TrySendError::Closed(()) => PushError::Closed,
        })?;
        // The queue releases the bytes.
        bytes.forget();
        slot.send((message, share));
        Ok(())
    }

    /// Queues a message that the other end must receive. If there is no space, the other end does
    /// not read, and the connection is dropped.
    pub(crate) fn push_or_abort(&self, message: Message) -> Result<(), PushError> {
        let pushed = self.push(message);
        if let Err(PushError::Full) = pushed {
            self.abort("the other end does not read what it is sent");
        }
        pushed
    }

    /// Queues a message as soon as there is space.
    pub(crate) async fn send(&self, message: Message) -> Result<(), PushError> {
        let share = self.share(&message);
        let bytes = self.0.bytes.acquire_many(share).await;
        let bytes = bytes.map_err(|_| PushError::Closed)?;
        let slot = self.0.messages.reserve().await;
        let slot = slot.map_err(|_| PushError::Closed)?;
        bytes.forget();
        slot.send((message, share));
        Ok(())
    }

    /// Closes the connection after the queued messages were sent.
    pub(crate) fn finish(&self) {
        self.end(End::Finishing);
    }

    /// Drops the connection and the queued messages.
    pub(crate) fn abort(&self, reason: &'static str) {
        self.end(End::Aborted(reason));
    }

    /// The first abort wins, also over an earlier finish.
    fn end(&self, end: End) {
        self.0.end.send_if_modified(|current| {
            let replace = *current == End::Open
                || (*current == End::Finishing && matches!(end, End::Aborted(_)));
            if replace {
                *current = end;
            }
            replace
        });
    }

    /// Completes when the other end takes no more messages.
    pub(crate) async fn closed(&self) {
        self.0.messages.closed().await;
    }

    /// The part of the byte limit that a message takes: a message above the limit takes all of it.
    fn share(&self, message: &Message) -> u32 {
        u32::try_from(message.weight().min(self.0.max_bytes)).unwrap_or(u32::MAX)
    }
}

impl Queue {
    /// The next message; none after [`Queue::close`] and the last message.
    pub(crate) async fn recv(&mut self) -> Option<Message> {
        if self.batch.is_empty() {
            self.messages.recv_many(&mut self.batch, MAX_BATCH).await;
            self.batch.reverse();
        }
        self.take()
    }

    /// The next message, if the queue holds one.
    pub(crate) fn try_recv(&mut self) -> Option<Message> {
        if self.batch.is_empty() {
            self.batch.extend(self.messages.try_recv().ok());
        }
        self.take()
    }

    fn take(&mut self) -> Option<Message> {
        let (message, share) = self.batch.pop()?;
        self.bytes.add_permits(share as usize);
        Some(message)
    }

    /// Takes no more messages.
    pub(crate) fn close(&mut self) {
        self.messages.close();
    }

    /// Completes when the queue is to be closed.
    pub(crate) fn finishing(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut end = self.end.clone();
        async move {
            // An error means that every outbox is gone, and then `recv` returns none.
            let _ = end.wait_for(|end| *end != End::Open).await;
        }
    }

    /// Completes with the reason when the connection is to be dropped.
    pub(crate) fn aborted(&self) -> impl Future<Output = &'static str> + Send + use<> {
        let mut end = self.end.clone();
        async move {
            let aborted = end.wait_for(|end| matches!(end, End::Aborted(_))).await;
            match aborted.map(|end| *end) {
                Ok(End::Aborted(reason)) => reason,
                _ => pending().await,
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Ends the senders that wait for bytes of messages that are now dropped.
        self.bytes.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Id;

    fn message(id: &str) -> Message {
        Message::UnregisterFunction(Id { id: id.to_owned() })
    }

    #[tokio::test]
    async fn a_queue_is_bounded_by_messages_and_by_bytes() {
        let weight = message("").weight();
        for limits in [
            QueueLimits {
                messages: 2,
                bytes: 1 << 20,
            },
            QueueLimits {
                messages: 100,
                bytes: 2 * weight,
            },
        ] {
            let (outbox, mut queue) = queue(limits);
            outbox.push(message("1")).unwrap();
            outbox.push(message("2")).unwrap();
            let full = outbox.push(message("3")).unwrap_err();
            assert!(matches!(full, PushError::Full), "{limits:?}");
            let mut sent = Box::pin(outbox.send(message("3")));
            assert!(futures_util::poll!(&mut sent).is_pending(), "{limits:?}");
            queue.recv().await.unwrap();
            sent.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_message_above_the_byte_limit_fits_an_empty_queue() {
        let limits = QueueLimits {
            messages: 100,
            bytes: 1,
        };
        let (outbox, mut queue) = queue(limits);
        outbox.push(message("1")).unwrap();
        outbox.push(message("2")).unwrap_err();
        queue.recv().await.unwrap();
        outbox.push(message("2")).unwrap();
    }

    #[tokio::test]
    async fn a_sender_that_waits_for_space_fails_when_the_queue_is_dropped() {
        let limits = QueueLimits {
            messages: 100,
            bytes: 1,
        };
        let (outbox, queue) = queue(limits);
        outbox.push(message("1")).unwrap();
        let mut sent = Box::pin(outbox.send(message("2")));
        assert!(futures_util::poll!(&mut sent).is_pending());
        drop(queue);
        assert!(matches!(sent.await, Err(PushError::Closed)));
    }

    #[tokio::test]
    async fn a_control_message_that_does_not_fit_aborts_the_connection() {
        let limits = QueueLimits {
            messages: 1,
            bytes: 1 << 20,
        };
        let (outbox, queue) = queue(limits);
        outbox.push_or_abort(message("1")).unwrap();
        outbox.finish();
        outbox.push_or_abort(message("2")).unwrap_err();
        outbox.abort("too late");
        let reason = queue.aborted().await;
        assert_eq!(reason, "the other end does not read what it is sent");
    }
}
