//! Logs the findings in registered skills in the background, never during a registration.

use std::time::{Duration, Instant};

use skills_api::log_findings;
use skills_core::Registry;

/// How long the first findings of a registration may be missing from the log. A skill that is
/// registered again meanwhile is checked once.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// After so long, requests get their turn.
const CHECK_TIME: Duration = Duration::from_millis(1);

/// How many times as long as a check requests have the processor for themselves. Nobody waits for
/// a line in the log, and whoever registers many skills waits for each of them.
const PAUSE_TIMES: u32 = 49;

/// Checks what was registered, again and again; never ends.
pub async fn keep_findings(registry: &Registry) {
    registry.defer_lint();
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let mut began = Instant::now();
        for id in registry.take_unlinted() {
            log_findings(registry, &id).await;
            let took = began.elapsed();
            if took >= CHECK_TIME {
                tokio::time::sleep(took * PAUSE_TIMES).await;
                began = Instant::now();
            }
        }
    }
}

/// Checks the rest before the program stops.
pub async fn finish_findings(registry: &Registry) {
    for id in registry.take_unlinted() {
        log_findings(registry, &id).await;
    }
}
