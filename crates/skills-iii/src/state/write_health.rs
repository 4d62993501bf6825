//! Whether writes reach the disk: the state that a health check reads, and the log.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::StateError;
use crate::lock::lock;

/// The shortest time between two lines of the log about failing writes.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// The error of the last write; none if it succeeded.
#[derive(Debug, Default)]
pub(super) struct WriteHealth(Mutex<Option<StateError>>);

impl WriteHealth {
    pub(super) fn problem(&self) -> Option<StateError> {
        lock(&self.0).clone()
    }
}

/// The writer's end: records every attempt, and logs the first failure, a count of further ones
/// once a minute, and the recovery.
pub(super) struct WriteRecord {
    health: Arc<WriteHealth>,
    failing: Option<Failing>,
}

struct Failing {
    /// When the last line was logged, and the failures since then.
    logged: Instant,
    unlogged: u64,
}

impl WriteRecord {
    pub(super) fn new(health: Arc<WriteHealth>) -> Self {
        Self {
            health,
            failing: None,
        }
    }

    pub(super) fn succeeded(&mut self) {
        // Checked here, so that a write of a healthy store takes no lock.
        if self.failing.take().is_some() {
            *lock(&self.health.0) = None;
            tracing::info!("writes succeed again");
        }
    }

    pub(super) fn failed(&mut self, error: &StateError) {
        *lock(&self.health.0) = Some(error.clone());
        let due = match &mut self.failing {
            None => true,
            Some(failing) => {
                failing.unlogged += 1;
                failing.logged.elapsed() >= LOG_INTERVAL
            }
        };
        if due {
            let further = self.failing.as_ref().map_or(0, |failing| failing.unlogged);
            let error = error.with_cause_and_hint();
            tracing::error!(error, further, "writes fail; reads still work");
            self.failing = Some(Failing {
                logged: Instant::now(),
                unlogged: 0,
            });
        }
    }
}
