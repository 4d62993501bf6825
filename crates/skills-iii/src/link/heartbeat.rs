//! Detects that the other end of a socket is gone.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::Ended;

/// The timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// Send a ping after this long without receiving anything.
    pub ping_after: Duration,
    /// Drop the connection after this long without receiving anything.
    pub silence_timeout: Duration,
    /// Drop the connection when the other end has read nothing for this long of what it was sent.
    pub write_timeout: Duration,
}

impl Heartbeat {
    /// How long a pause of the reader may last without progress.
    pub(super) fn longest_pause(&self) -> Duration {
        self.write_timeout / 4
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            ping_after: Duration::from_secs(20),
            silence_timeout: Duration::from_mins(1),
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// What happened on a socket since the monitor last looked. Shared by the socket, the reader, the
/// writer and the monitor of a connection; atomics, because a connection may move between threads.
/// Flags instead of times, because reading the clock for every frame costs more than the flags.
#[derive(Debug, Default)]
pub(super) struct Activity {
    read: AtomicBool,
    written: AtomicBool,
    /// The other end has not read what was written last.
    blocked: AtomicBool,
    /// Progress of the writer since the pause of the reader began.
    progress: AtomicBool,
    paused: AtomicBool,
    ping_due: AtomicBool,
    reader: AtomicWaker,
    writer: Notify,
}

impl Activity {
    pub(super) fn received(&self) {
        self.read.store(true, Ordering::Relaxed);
    }

    pub(super) fn wrote(&self) {
        self.blocked.store(false, Ordering::Relaxed);
        self.written.store(true, Ordering::Relaxed);
        if self.paused.load(Ordering::Relaxed) {
            self.progress.store(true, Ordering::Relaxed);
            self.reader.wake();
        }
    }

    pub(super) fn blocked(&self) {
        self.blocked.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// Makes the writer flush.
    pub(super) fn wake_writer(&self) {
        self.writer.notify_one();
    }

    /// Completes when the writer has to flush. The result is whether a ping is due first.
    pub(super) async fn writer_woken(&self) -> bool {
        self.writer.notified().await;
        self.ping_due.swap(false, Ordering::Relaxed)
    }

    /// Makes a paused reader look again whether it may read.
    pub(super) fn wake_paused_reader(&self) {
        if self.paused.load(Ordering::Relaxed) {
            self.reader.wake();
        }
    }

    /// Completes when `must_wait` is false, or when nothing was written for `limit`: then the
    /// other end may be waiting for this one, and the result is true.
    pub(super) async fn pause(&self, limit: Duration, must_wait: impl Fn() -> bool) -> bool {
        self.paused.store(true, Ordering::Relaxed);
        let stalled = sleep(limit);
        tokio::pin!(stalled);
        let is_stalled = poll_fn(|context| {
            self.reader.register(context.waker());
            if !must_wait() {
                return Poll::Ready(false);
            }
            if self.progress.swap(false, Ordering::Relaxed) {
                stalled.as_mut().reset(Instant::now() + limit);
            }
            stalled.as_mut().poll(context).map(|()| true)
        })
        .await;
        self.paused.store(false, Ordering::Relaxed);
        is_stalled
    }

    /// Requests pings; completes when a timeout has passed.
    pub(super) async fn monitor(&self, limits: Heartbeat) -> Ended {
        let shortest = limits
            .ping_after
            .min(limits.silence_timeout)
            .min(limits.write_timeout);
        let period = (shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(5));
        let mut tick = interval(period);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let start = Instant::now();
        let (mut last_read, mut last_write, mut last_ping) = (start, start, start);
        loop {
            tick.tick().await;
            let now = Instant::now();
            let written = self.written.swap(false, Ordering::Relaxed);
            if written || !self.is_blocked() {
                last_write = now;
            } else if now - last_write >= limits.write_timeout {
                return Ended::Stalled;
            }
            // An end that reads is alive, also while it is not read from.
            let alive = written && self.paused.load(Ordering::Relaxed);
            if self.read.swap(false, Ordering::Relaxed) || alive {
                last_read = now;
            }
            let silence = now - last_read;
            if silence >= limits.silence_timeout {
                return Ended::Silent;
            }
            if silence >= limits.ping_after && now - last_ping >= limits.ping_after {
                last_ping = now;
                self.ping_due.store(true, Ordering::Relaxed);
                self.wake_writer();
            }
        }
    }
}
