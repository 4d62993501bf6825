//! The way out of a connection: a queue of messages, bounded by number and by
//! bytes.
//!
//! Whoever has something to say holds an [`Outbox`]; whoever carries it holds
//! the [`Queue`]. Pushing never waits, so one slow reader cannot hold up the
//! task that serves another; [`Outbox::send`] waits, for those who may.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;

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

/// Why a message was not taken; it is handed back.
#[derive(Debug)]
pub(crate) enum NotTaken {
    Full(Message),
    Closed,
}

/// What the carrier finds.
#[derive(Debug)]
pub(crate) enum Next {
    Message(Message),
    /// Everything is carried; close politely.
    Finished,
    /// Drop the connection now.
    Aborted(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Queue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limits: QueueLimits,
    // A std mutex: nothing awaits while it is held.
    state: Mutex<State>,
    space: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Message>,
    bytes: usize,
    end: End,
    carrier: Option<Waker>,
    /// The carrier cannot write just now: only the end is news to it.
    blocked: bool,
    /// Whether a sender waits for space.
    crowded: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Finishing,
    Aborted(&'static str),
}

pub(crate) fn queue(limits: QueueLimits) -> (Outbox, Queue) {
    let shared = Arc::new(Shared {
        limits,
        state: Mutex::default(),
        space: Notify::new(),
    });
    (Outbox(Arc::clone(&shared)), Queue(shared))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: End) {
        let mut state = self.lock();
        if matches!(state.end, End::Aborted(_)) || state.end == end {
            return;
        }
        state.end = end;
        if matches!(end, End::Aborted(_)) {
            state.waiting = VecDeque::new();
            state.bytes = 0;
        }
        let carrier = state.carrier.take();
        drop(state);
        if let Some(waker) = carrier {
            waker.wake();
        }
        self.space.notify_waiters();
    }
}

impl Outbox {
    /// Takes a message if there is room.
    pub(crate) fn push(&self, message: Message) -> Result<(), NotTaken> {
        self.put(message, true)
    }

    /// Takes a message even past the limits: for the few that nobody may lose
    /// and that no peer can provoke in number.
    pub(crate) fn push_anyway(&self, message: Message) -> Result<(), NotTaken> {
        self.put(message, false)
    }

    fn put(&self, message: Message, limited: bool) -> Result<(), NotTaken> {
        let weight = message.weight();
        let mut state = self.0.lock();
        if state.end != End::Open {
            return Err(NotTaken::Closed);
        }
        let limits = self.0.limits;
        let full = state.waiting.len() >= limits.messages
            || (!state.waiting.is_empty() && state.bytes + weight > limits.bytes);
        if limited && full {
            state.crowded = true;
            return Err(NotTaken::Full(message));
        }
        state.bytes += weight;
        state.waiting.push_back(message);
        let carrier = if state.blocked {
            None
        } else {
            state.carrier.take()
        };
        drop(state);
        if let Some(waker) = carrier {
            waker.wake();
        }
        Ok(())
    }

    /// Takes a message as soon as there is room.
    pub(crate) async fn send(&self, mut message: Message) -> Result<(), NotTaken> {
        loop {
            let space = self.0.space.notified();
            tokio::pin!(space);
            // Listening before looking: space made in between is not missed.
            space.as_mut().enable();
            match self.push(message) {
                Err(NotTaken::Full(back)) => message = back,
                other => return other,
            }
            space.await;
        }
    }

    /// Takes nothing more; what waits is still carried, then the link closes.
    pub(crate) fn finish(&self) {
        self.0.end(End::Finishing);
    }

    /// Throws away what waits and drops the link.
    pub(crate) fn abort(&self, reason: &'static str) {
        self.0.end(End::Aborted(reason));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().end != End::Open
    }
}

impl Queue {
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.0.lock();
        if let End::Aborted(reason) = state.end {
            return Poll::Ready(Next::Aborted(reason));
        }
        state.blocked = false;
        if let Some(message) = state.waiting.pop_front() {
            state.bytes -= message.weight();
            let crowded = state.crowded && state.waiting.len() <= self.0.limits.messages / 2;
            if crowded {
                state.crowded = false;
            }
            drop(state);
            if crowded {
                self.0.space.notify_waiters();
            }
            return Poll::Ready(Next::Message(message));
        }
        if state.end == End::Finishing {
            return Poll::Ready(Next::Finished);
        }
        match &mut state.carrier {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Queue {
    /// Why the link is to be dropped, if it is; wakes the carrier when it is
    /// later. For a carrier that cannot take a message just now.
    pub(crate) fn poll_ended(&self, context: &mut Context<'_>) -> Option<&'static str> {
        let mut state = self.0.lock();
        if let End::Aborted(reason) = state.end {
            return Some(reason);
        }
        state.blocked = true;
        match &mut state.carrier {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        None
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.0.end(End::Aborted("nobody carries it any more"));
    }
}
