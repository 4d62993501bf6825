//! Whether the other end is still alive.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// How a connection is watched.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// Ask after this long without hearing anything.
    pub ping_after: Duration,
    /// Give up after this long without hearing anything.
    pub silence_timeout: Duration,
    /// Give up when the other end has read nothing for this long while there
    /// was something to read.
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

/// What the watch says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Ask,
    Silent,
    Stalled,
}

#[derive(Debug)]
pub(crate) struct Pulse {
    settings: Heartbeat,
    tick: Interval,
    heard: Instant,
    asked: Instant,
    blocked: Option<Instant>,
}

impl Pulse {
    pub(crate) fn new(settings: Heartbeat) -> Self {
        let shortest = settings
            .ping_after
            .min(settings.silence_timeout)
            .min(settings.write_timeout);
        let mut tick =
            interval((shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(5)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        Self {
            settings,
            tick,
            heard: now,
            asked: now,
            blocked: None,
        }
    }

    pub(crate) fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// The other end takes what is written, or does not.
    pub(crate) fn writing(&mut self, blocked: bool) {
        if !blocked {
            self.blocked = None;
        } else if self.blocked.is_none() {
            self.blocked = Some(Instant::now());
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Sign> {
        while self.tick.poll_tick(context).is_ready() {
            let now = Instant::now();
            if self
                .blocked
                .is_some_and(|since| now - since >= self.settings.write_timeout)
            {
                return Poll::Ready(Sign::Stalled);
            }
            let silence = now - self.heard;
            if silence >= self.settings.silence_timeout {
                return Poll::Ready(Sign::Silent);
            }
            if silence >= self.settings.ping_after && now - self.asked >= self.settings.ping_after {
                self.asked = now;
                return Poll::Ready(Sign::Ask);
            }
        }
        Poll::Pending
    }
}
