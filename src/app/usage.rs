//! Writes the counts of use in the background, never during a request.

use std::time::Duration;

use skills_core::Registry;

use super::SHUTDOWN_TIMEOUT;

/// How often the counts are written. A process that is killed loses at most these.
const WRITE_INTERVAL: Duration = Duration::from_secs(10);

/// Writes the counts again and again; never ends.
pub async fn keep_usage(registry: &Registry) {
    loop {
        tokio::time::sleep(WRITE_INTERVAL).await;
        write(registry).await;
    }
}

/// Writes the counts before the program stops.
pub async fn finish_usage(registry: &Registry) {
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, write(registry))
        .await
        .is_err()
    {
        tracing::debug!("the counts of use could not be written in time");
    }
}

/// A failure is not a failure of a request: the counts are kept for the next time.
async fn write(registry: &Registry) {
    if let Err(error) = registry.write_usage().await {
        tracing::debug!("{}", error.to_text());
    }
}
