//! Removes entries past their leases, when they are due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use skills_core::{Error, ExpirySchedule, Registry};
use tokio::sync::{Notify, watch};

/// The pause after a failure, and after an entry that could not be removed.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Removes entries past their leases for as long as this instance serves. Never ends, unless the
/// worker does. Without leases it waits for the first one.
pub async fn remove_expired(registry: &Arc<Registry>, mut serving: watch::Receiver<bool>) {
    let settings = registry.lease_settings();
    if !settings.remove {
        return std::future::pending().await;
    }
    let changed = Arc::new(Notify::new());
    let notify = Arc::clone(&changed);
    // A permit is kept for a change that comes while nothing waits.
    registry.listen_to_leases(Arc::new(move || notify.notify_one()));
    let began = Instant::now();
    while serving.wait_for(|serving| *serving).await.is_ok() {
        // Owners could not renew while this instance did not serve: the grace periods begin anew.
        let mut schedule = ExpirySchedule::new(settings.grace);
        let serves = async {
            loop {
                let wait = step(registry, &mut schedule, began.elapsed()).await;
                let wait = wait.unwrap_or_else(|error| {
                    tracing::warn!("{}", error.to_text());
                    Some(RETRY_PAUSE)
                });
                match wait {
                    Some(wait) => drop(tokio::time::timeout(wait, changed.notified()).await),
                    None => changed.notified().await,
                }
            }
        };
        let mut stops = serving.clone();
        tokio::select! {
            () = serves => {}
            stopped = stops.wait_for(|serving| !*serving) => if stopped.is_err() {
                return;
            },
        }
    }
}

/// Removes what is due. Returns how long to wait, unless a lease changes before; none if no lease
/// ends.
async fn step(
    registry: &Registry,
    schedule: &mut ExpirySchedule,
    elapsed: Duration,
) -> Result<Option<Duration>, Error> {
    let plan = registry.plan_expiry(schedule, elapsed).await?;
    let mut left = false;
    for entry in &plan.due {
        left |= !registry.remove_expired(entry).await?;
    }
    // What is left was renewed, and this instance hears of it soon.
    let retry = left.then_some(RETRY_PAUSE);
    Ok(match (plan.next, retry) {
        (Some(next), Some(retry)) => Some(next.min(retry)),
        (next, retry) => next.or(retry),
    })
}
