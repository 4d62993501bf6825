//! The outgoing messages of a connection: a queue bounded by count and by bytes.
//!
//! [`Outbox`] is the sending end, [`Queue`] the end that the connection drains. `push` never
//! waits, so a slow reader cannot block the task that serves another worker; `send` waits for
//! space. The calls of several workers are received in turn ([`FairQueue`]). One lock guards messages, bytes and end: a channel and a semaphore are two, which makes
//! a call inside one process a fifth slower.
//!
//! The queues of a hub share a [`Budget`]. A queue takes from it only what exceeds its own
//! minimum, so short queues, and with them the usual message, do not touch it.

mod budget;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use tokio::sync::Notify;

pub(crate) use budget::Budget;

use crate::fair_queue::FairQueue;
use crate::limits::{
    MAX_QUEUED_BYTES, MAX_QUEUED_MESSAGES, MAX_UNREAD_REPLY_BYTES, MIN_QUEUED_BYTES,
};
use crate::lock::lock;
use crate::message::Message;
use budget::Bytes;

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
            messages: MAX_QUEUED_MESSAGES,
            bytes: MAX_QUEUED_BYTES,
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

/// How much of the queue a message may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// The limits.
    Limits,
    /// Twice the limits: calls must not take the space of registrations.
    Twice,
    /// Whatever waits already.
    Any,
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
    budget: Budget,
    /// The other end is in this process: it drains the queue without waiting for anything.
    in_process: bool,
    /// Whether so many replies wait that no more should be asked for.
    unread_replies: AtomicBool,
    // A std mutex: nothing awaits while it is held.
    state: Mutex<State>,
    space: Notify,
    aborted: Notify,
}

#[derive(Debug, Default)]
struct State {
    messages: FairQueue<(Message, Bytes)>,
    /// Bytes of the messages and of the batch.
    bytes: Bytes,
    batch_bytes: Bytes,
    /// Bytes taken from the budget.
    budgeted: usize,
    end: End,
    reader: Option<Waker>,
    /// A message was refused since space was last announced, so a sender may be waiting.
    refused: bool,
}

/// The queue of a socket.
pub(crate) fn queue(limits: QueueLimits, budget: &Budget) -> (Outbox, Queue) {
    new_queue(limits, budget.clone(), false)
}

/// The queue of a connection inside this process.
pub(crate) fn local_queue(limits: QueueLimits) -> (Outbox, Queue) {
    new_queue(limits, Budget::new(usize::MAX), true)
}

fn new_queue(limits: QueueLimits, budget: Budget, in_process: bool) -> (Outbox, Queue) {
    let shared = Arc::new(Shared {
        limits,
        budget,
        in_process,
        unread_replies: AtomicBool::new(false),
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
            state.messages = FairQueue::default();
            let left = state.batch_bytes;
            self.shrink(&mut state, left);
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

impl Shared {
    /// Counts a new message; false if there is no space for it.
    fn grow(&self, state: &mut State, message: Bytes, room: Room) -> bool {
        let bytes = state.bytes.plus(message);
        let times = if room == Room::Twice { 2 } else { 1 };
        let fits = state.bytes.all == 0 || bytes.all <= self.limits.bytes.saturating_mul(times);
        let full = state.messages.len() >= self.limits.messages.saturating_mul(times);
        if room != Room::Any && (full || !fits) {
            return false;
        }
        let budgeted = bytes.all.saturating_sub(MIN_QUEUED_BYTES);
        if budgeted > state.budgeted {
            let more = budgeted - state.budgeted;
            if room == Room::Any {
                self.budget.take_always(more);
            } else if !self.budget.take(more) {
                return false;
            }
            state.budgeted = budgeted;
        }
        state.bytes = bytes;
        if bytes.replies >= MAX_UNREAD_REPLY_BYTES {
            self.unread_replies.store(true, Ordering::Relaxed);
        }
        true
    }

    /// Counts what is left.
    fn shrink(&self, state: &mut State, left: Bytes) {
        state.bytes = left;
        let budgeted = left.all.saturating_sub(MIN_QUEUED_BYTES);
        if budgeted < state.budgeted {
            self.budget.give_back(state.budgeted - budgeted);
            state.budgeted = budgeted;
        }
        if left.replies <= MAX_UNREAD_REPLY_BYTES / 2 {
            self.unread_replies.store(false, Ordering::Relaxed);
        }
    }
}

impl Outbox {
    /// Queues a message if there is space.
    pub(crate) fn push(&self, message: Message) -> Result<(), PushError> {
        self.try_push(message, Room::Limits)
            .map_err(|(error, _)| error)
    }

    /// Queues a registration if there is space.
    pub(crate) fn push_registration(&self, message: Message) -> Result<(), PushError> {
        self.try_push(message, Room::Twice)
            .map_err(|(error, _)| error)
    }

    /// Queues a message whatever waits already. For messages whose number is bounded otherwise.
    pub(crate) fn push_always(&self, message: Message) -> Result<(), PushError> {
        self.try_push(message, Room::Any)
            .map_err(|(error, _)| error)
    }

    /// Queues a message; gives it back if there is no space.
    pub(crate) fn push_or_return(&self, message: Message) -> Result<(), Message> {
        match self.try_push(message, Room::Limits) {
            Err((PushError::Full, message)) => Err(message),
            Ok(()) | Err((PushError::Closed, _)) => Ok(()),
        }
    }

    /// Gives the message back if it is not queued.
    fn try_push(&self, message: Message, room: Room) -> Result<(), (PushError, Message)> {
        let bytes = Bytes::of(&message);
        let mut state = self.0.state();
        if state.end != End::Open {
            return Err((PushError::Closed, message));
        }
        if !self.0.grow(&mut state, bytes, room) {
            state.refused = true;
            return Err((PushError::Full, message));
        }
        let caller = message.caller().cloned();
        state.messages.push(caller.as_ref(), (message, bytes));
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Queues a message that the other end must receive. If there is no space, the other end does
    /// not read, and the connection is dropped; an end inside this process always reads.
    pub(crate) fn push_or_abort(&self, message: Message) -> Result<(), PushError> {
        if self.0.in_process {
            return self.push_always(message);
        }
        let pushed = self.push_registration(message);
        if let Err(PushError::Full) = pushed {
            self.abort("the other end does not read what it is sent");
        }
        pushed
    }

    /// Queues a message as soon as there is space in the queue. Not for queues that share a
    /// budget: nothing announces that others have left it.
    pub(crate) async fn send(&self, mut message: Message) -> Result<(), PushError> {
        loop {
            // Receives every notification from now on, so space made after the refusal counts.
            let space = self.0.space.notified();
            match self.try_push(message, Room::Limits) {
                Err((PushError::Full, back)) => message = back,
                pushed => return pushed.map_err(|(error, _)| error),
            }
            space.await;
        }
    }

    /// Whether the other end is in this process.
    pub(crate) fn is_in_process(&self) -> bool {
        self.0.in_process
    }

    /// Whether so many replies wait that no more should be asked for.
    pub(crate) fn has_unread_replies(&self) -> bool {
        self.0.unread_replies.load(Ordering::Relaxed)
    }

    /// Wakes the task that drains the queue.
    pub(crate) fn wake(&self) {
        let reader = self.0.state().reader.take();
        if let Some(reader) = reader {
            reader.wake();
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
        let left = state.bytes.minus(take(&mut state.batch_bytes));
        self.shared.shrink(&mut state, left);
        while self.batch.len() < MAX_BATCH
            && let Some((message, bytes)) = state.messages.pop()
        {
            self.batch.push_back(message);
            state.batch_bytes = state.batch_bytes.plus(bytes);
        }
        let end = state.end;
        if self.batch.is_empty() && end == End::Open {
            state.reader = reader.cloned();
        }
        // Not for every batch: each notification wakes every sender.
        let QueueLimits { messages, bytes } = self.shared.limits;
        let has_space = state.messages.len() <= messages / 2 && state.bytes.all <= bytes / 2;
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
