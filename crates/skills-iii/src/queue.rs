//! The outgoing messages of a connection: a queue bounded by count and by bytes.
//!
//! [`Outbox`] is the sending end, [`Queue`] the end that the connection drains. `push` never
//! waits, so a slow reader cannot block the task that serves another worker; `send` waits for
//! space. One lock guards messages, bytes and end: a channel and a semaphore are two, which makes
//! a call inside one process a fifth slower.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use tokio::sync::Notify;

use crate::lock::lock;
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

/// How many messages are taken out under one lock.
const MAX_BATCH: usize = 32;

/// Why a message was not queued.
#[derive(Debug)]
pub(crate) enum PushError {
    Full,
    Closed,
}

/// What the draining end receives.
#[derive(Debug)]
pub(crate) enum Next {
    Message(Message),
    /// Every message was received, and no more will come.
    Finished,
    /// The connection is to be dropped.
    Aborted(&'static str),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Finishing,
    Aborted(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
    batch: VecDeque<Message>,
}

#[derive(Debug)]
struct Shared {
    limits: QueueLimits,
    // A std mutex: nothing awaits while it is held.
    state: Mutex<State>,
    space: Notify,
    aborted: Notify,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    /// Bytes of the messages and of the batch.
    bytes: usize,
    batch_bytes: usize,
    end: End,
    reader: Option<Waker>,
    /// A message was refused since space was last announced, so a sender may be waiting.
    refused: bool,
}

pub(crate) fn queue(limits: QueueLimits) -> (Outbox, Queue) {
    let shared = Arc::new(Shared {
        limits,
        state: Mutex::default(),
        space: Notify::new(),
        aborted: Notify::new(),
    });
    let queue = Queue {
        shared: Arc::clone(&shared),
        batch: VecDeque::new(),
    };
    (Outbox(shared), queue)
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The first abort wins, also over an earlier finish.
    fn end(&self, end: End) {
        let mut state = self.state();
        if matches!(state.end, End::Aborted(_)) || state.end == end {
            return;
        }
        state.end = end;
        if matches!(end, End::Aborted(_)) {
            state.messages = VecDeque::new();
        }
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        self.space.notify_waiters();
        self.aborted.notify_waiters();
    }
}

impl Outbox {
    /// Queues a message if there is space.
    pub(crate) fn push(&self, message: Message) -> Result<(), PushError> {
        self.try_push(message).map_err(|(error, _)| error)
    }

    /// Gives the message back if it is not queued.
    fn try_push(&self, message: Message) -> Result<(), (PushError, Message)> {
        let weight = message.weight();
        let limits = self.0.limits;
        let mut state = self.0.state();
        if state.end != End::Open {
            return Err((PushError::Closed, message));
        }
        let fits = state.bytes == 0 || state.bytes.saturating_add(weight) <= limits.bytes;
        if !fits || state.messages.len() >= limits.messages {
            state.refused = true;
            return Err((PushError::Full, message));
        }
        state.bytes += weight;
        state.messages.push_back(message);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
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
    pub(crate) async fn send(&self, mut message: Message) -> Result<(), PushError> {
        loop {
            // Receives every notification from now on, so space made after the refusal counts.
            let space = self.0.space.notified();
            match self.try_push(message) {
                Err((PushError::Full, back)) => message = back,
                pushed => return pushed.map_err(|(error, _)| error),
            }
            space.await;
        }
    }

    /// Takes no more messages, and closes the connection after the queued ones were sent.
    pub(crate) fn finish(&self) {
        self.0.end(End::Finishing);
    }

    /// Drops the connection and the queued messages.
    pub(crate) fn abort(&self, reason: &'static str) {
        self.0.end(End::Aborted(reason));
    }
}

impl Queue {
    /// The next message, or the end. Dropping the future loses nothing.
    pub(crate) async fn recv(&mut self) -> Next {
        poll_fn(|context| match self.next(Some(context.waker())) {
            Some(next) => Poll::Ready(next),
            None => Poll::Pending,
        })
        .await
    }

    /// The next message or the end, if it is there.
    pub(crate) fn try_recv(&mut self) -> Option<Next> {
        self.next(None)
    }

    /// If there is nothing, wakes `reader` when there is.
    fn next(&mut self, reader: Option<&Waker>) -> Option<Next> {
        if let Some(message) = self.batch.pop_front() {
            return Some(Next::Message(message));
        }
        let mut state = self.shared.state();
        // The last batch was received, so its bytes are free.
        state.bytes -= take(&mut state.batch_bytes);
        let count = state.messages.len().min(MAX_BATCH);
        self.batch.extend(state.messages.drain(..count));
        state.batch_bytes = self.batch.iter().map(Message::weight).sum();
        let end = state.end;
        if count == 0 && end == End::Open {
            state.reader = reader.cloned();
        }
        // Not for every batch: each notification wakes every sender.
        let QueueLimits { messages, bytes } = self.shared.limits;
        let has_space = state.messages.len() <= messages / 2 && state.bytes <= bytes / 2;
        let announce = has_space && take(&mut state.refused);
        drop(state);
        if announce {
            self.shared.space.notify_waiters();
        }
        match (end, self.batch.pop_front()) {
            (End::Aborted(reason), _) => Some(Next::Aborted(reason)),
            (_, Some(message)) => Some(Next::Message(message)),
            (End::Finishing, None) => Some(Next::Finished),
            (End::Open, None) => None,
        }
    }

    /// Completes with the reason when the connection is to be dropped, also while nothing is
    /// received.
    pub(crate) fn aborted(&self) -> impl Future<Output = &'static str> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move {
            loop {
                let aborted = shared.aborted.notified();
                let end = shared.state().end;
                if let End::Aborted(reason) = end {
                    return reason;
                }
                aborted.await;
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared
            .end(End::Aborted("nothing drains the queue any more"));
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
            let receive = async {
                for _ in 0..3 {
                    assert!(matches!(queue.recv().await, Next::Message(_)));
                }
            };
            let (sent, ()) = tokio::join!(sent, receive);
            sent.unwrap();
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
        assert!(matches!(queue.recv().await, Next::Message(_)));
        assert!(queue.try_recv().is_none());
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
        let (outbox, mut queue) = queue(limits);
        outbox.push_or_abort(message("1")).unwrap();
        outbox.push_or_abort(message("2")).unwrap_err();
        outbox.abort("too late");
        let reason = "the other end does not read what it is sent";
        assert_eq!(queue.aborted().await, reason);
        assert!(matches!(queue.recv().await, Next::Aborted(why) if why == reason));
    }

    #[tokio::test]
    async fn a_finished_queue_takes_no_message_and_delivers_those_it_has() {
        let (outbox, mut queue) = queue(QueueLimits::default());
        outbox.push(message("1")).unwrap();
        outbox.finish();
        let refused = outbox.push(message("2")).unwrap_err();
        assert!(matches!(refused, PushError::Closed));
        assert!(matches!(queue.recv().await, Next::Message(_)));
        assert!(matches!(queue.recv().await, Next::Finished));
    }

    #[tokio::test]
    async fn every_sender_that_waits_gets_its_turn() {
        let limits = QueueLimits {
            messages: 2,
            bytes: 1 << 20,
        };
        let (outbox, mut queue) = queue(limits);
        let senders = (0..100).map(|number| {
            let outbox = outbox.clone();
            tokio::spawn(async move { outbox.send(message(&number.to_string())).await })
        });
        let senders: Vec<_> = senders.collect();
        for _ in 0..100 {
            assert!(matches!(queue.recv().await, Next::Message(_)));
        }
        for sender in senders {
            sender.await.unwrap().unwrap();
        }
    }
}
