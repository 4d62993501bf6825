//! Detects that the other end of a socket is gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::Ended;

/// The timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// Send a ping after this long without receiving anything.
    pub ping_after: Duration,
    /// Drop the connection after this long without receiving anything.
    pub silence_timeout: Duration,
    /// Drop the connection when the other end has not read for this long what it was sent.
    pub write_timeout: Duration,
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

/// What happened on a socket since the monitor last looked. Shared by the reader, the writer and
/// the monitor of a connection; atomics, because a connection may move between threads. Flags
/// instead of times, because reading the clock for every frame costs more than the flags.
#[derive(Debug, Default)]
pub(super) struct Activity {
    read: AtomicBool,
    written: AtomicBool,
    writing: AtomicBool,
    ping_due: AtomicBool,
    writer: Notify,
}

impl Activity {
    pub(super) fn received(&self) {
        self.read.store(true, Ordering::Relaxed);
    }

    pub(super) fn write_started(&self) {
        self.writing.store(true, Ordering::Relaxed);
    }

    pub(super) fn write_completed(&self) {
        self.writing.store(false, Ordering::Relaxed);
        self.written.store(true, Ordering::Relaxed);
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
            if written || !self.writing.load(Ordering::Relaxed) {
                last_write = now;
            } else if now - last_write >= limits.write_timeout {
                return Ended::Stalled;
            }
            if self.read.swap(false, Ordering::Relaxed) {
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
