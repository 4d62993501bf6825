//! The replies of a worker, at once and late.
//!
//! Some engines forward a call first and register its caller second, and lose a reply that arrives
//! in between ([`super::ClientOptions::repeat_reply`]). What has to be sent again, or can be sent
//! later, waits here: in one queue, and sent many at a time. A task and a timer for each reply, and
//! a write for each of them, cost a busy worker more than the calls themselves.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};

use crate::limits::MAX_LATE_REPLY_BYTES;
use crate::lock::lock;
use crate::message::Message;
use crate::queue::Outbox;

/// The largest reply that is sent twice. An engine takes longer to read a larger reply than to
/// register its caller.
const MAX_REPEATED_BYTES: usize = 512 << 10;

/// The shortest time between two writes of late replies.
const PAUSE: Duration = Duration::from_millis(10);

/// The sending end of one connection, for replies.
#[derive(Clone)]
pub(super) struct Replies {
    outbox: Outbox,
    /// A reply that is older than this is not lost.
    safe_after: Option<Duration>,
    late: Arc<Late>,
}

#[derive(Default)]
struct Late {
    // A std mutex: nothing awaits while it is held.
    waiting: Mutex<Waiting>,
    filled: Notify,
}

/// Replies in the order of their times.
#[derive(Default)]
struct Waiting {
    replies: VecDeque<(Instant, Message)>,
    bytes: usize,
}

impl Replies {
    pub(super) fn new(outbox: Outbox, safe_after: Option<Duration>) -> Self {
        Self {
            outbox,
            safe_after,
            late: Arc::default(),
        }
    }

    /// Sends the reply to a call that arrived at `received`, and sends it again if the first one may
    /// have come too early for the engine.
    pub(super) async fn send(&self, reply: Message, received: Instant) {
        let now = Instant::now();
        let due = self
            .safe_after
            .map(|age| received + age)
            .filter(|due| now < *due && reply.weight() <= MAX_REPEATED_BYTES);
        let copy = due.map(|due| (due, reply.clone()));
        if self.outbox.send(reply).await.is_ok()
            && let Some((due, copy)) = copy
            && let Err(copy) = self.send_later(due, copy)
        {
            sleep_until(due.into()).await;
            let _ = self.outbox.send(copy).await;
        }
    }

    /// Acknowledges an event: sends its reply once, when it cannot be lost. Nothing waits for it.
    ///
    /// Not where the system delays acknowledgements of TCP: there the reply carries one, and an
    /// engine that leaves Nagle's algorithm on sends nothing more until it arrives.
    pub(super) async fn acknowledge(&self, reply: Message, received: Instant) {
        match self.safe_after {
            Some(age) if cfg!(any(target_os = "linux", target_os = "android")) => {
                if let Err(reply) = self.send_later(received + age, reply) {
                    let _ = self.outbox.send(reply).await;
                }
            }
            _ => self.send(reply, received).await,
        }
    }

    /// Gives the reply back if too much waits.
    fn send_later(&self, due: Instant, reply: Message) -> Result<(), Message> {
        let bytes = reply.weight();
        let mut waiting = lock(&self.late.waiting);
        if waiting.bytes + bytes > MAX_LATE_REPLY_BYTES {
            return Err(reply);
        }
        waiting.bytes += bytes;
        waiting.replies.push_back((due, reply));
        let is_first = waiting.replies.len() == 1;
        drop(waiting);
        if is_first {
            self.late.filled.notify_one();
        }
        Ok(())
    }

    /// Sends the late replies when they are due; never ends.
    pub(super) async fn send_late(&self) -> ! {
        loop {
            let Some(due) = lock(&self.late.waiting)
                .replies
                .front()
                .map(|(due, _)| *due)
            else {
                self.late.filled.notified().await;
                continue;
            };
            sleep_until(due.into()).await;
            self.send_waiting(Some(Instant::now())).await;
            sleep(PAUSE).await;
        }
    }

    /// Sends the late replies that are due, or all of them.
    pub(super) async fn send_waiting(&self, now: Option<Instant>) {
        loop {
            let reply = {
                let mut waiting = lock(&self.late.waiting);
                let is_due = |(due, _): &mut (Instant, Message)| now.is_none_or(|now| *due <= now);
                let Some((_, reply)) = waiting.replies.pop_front_if(is_due) else {
                    return;
                };
                waiting.bytes -= reply.weight();
                reply
            };
            if self.outbox.send(reply).await.is_err() {
                return;
            }
        }
    }
}
