//! Gives memory back after a burst.

use std::time::Duration;

/// How often the memory of the process is looked at.
const INTERVAL: Duration = Duration::from_secs(2);

/// A smaller process is left alone.
const MIN_RESIDENT_BYTES: usize = 64 << 20;

/// Gives free memory back now and then; runs until it is dropped.
pub async fn give_back_memory() {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let work = || {
            let resident = skills_allocator::resident_bytes();
            if resident.is_some_and(|bytes| bytes >= MIN_RESIDENT_BYTES) {
                skills_allocator::return_free_memory();
            }
        };
        if tokio::task::spawn_blocking(work).await.is_err() {
            return;
        }
    }
}
