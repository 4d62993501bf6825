//! Detects that the other end of a socket is gone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// What happened on a socket lately. Shared by the reader, the writer and the monitor of a
/// connection; atomics, because a connection may move between threads.
#[derive(Debug)]
pub(super) struct Activity {
    start: Instant,
    /// Milliseconds since the start.
    last_read: AtomicU64,
    /// Milliseconds since the start, plus one; zero while no write is pending.
    write_pending_since: AtomicU64,
    ping_due: AtomicBool,
    writer: Notify,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            last_read: AtomicU64::new(0),
            write_pending_since: AtomicU64::new(0),
            ping_due: AtomicBool::new(false),
            writer: Notify::new(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn received(&self) {
        self.last_read.store(self.now(), Ordering::Relaxed);
    }

    pub(super) fn write_started(&self) {
        self.write_pending_since
            .store(self.now() + 1, Ordering::Relaxed);
    }

    pub(super) fn write_completed(&self) {
        self.write_pending_since.store(0, Ordering::Relaxed);
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
        let mut last_ping = Duration::ZERO;
        loop {
            tick.tick().await;
            let now = self.start.elapsed();
            let pending = self.write_pending_since.load(Ordering::Relaxed);
            if let Some(since) = pending.checked_sub(1)
                && now.saturating_sub(Duration::from_millis(since)) >= limits.write_timeout
            {
                return Ended::Stalled;
            }
            let last_read = Duration::from_millis(self.last_read.load(Ordering::Relaxed));
            let silence = now.saturating_sub(last_read);
            if silence >= limits.silence_timeout {
                return Ended::Silent;
            }
            if silence >= limits.ping_after && now.saturating_sub(last_ping) >= limits.ping_after {
                last_ping = now;
                self.ping_due.store(true, Ordering::Relaxed);
                self.wake_writer();
            }
        }
    }
}
