//! The loop that follows the connection to an engine.

use std::future::pending;
use std::pin::Pin;

use skills_iii::{Client, ErrorBody, Event};
use tokio::sync::broadcast::error::RecvError;

use super::connect::refusal_hint;

/// What to do when the connection to the engine begins, ends, or refuses a trigger.
pub trait EngineListener: Sync {
    /// A connection begins. Dropped if the connection ends before this completes.
    fn connected(&self) -> impl Future<Output = ()> + Send;

    /// The connection is lost; the client reconnects by itself.
    fn disconnected(&self);

    /// The engine refused a trigger.
    fn trigger_refused(&self, id: &str, trigger_type: &str, error: &ErrorBody);
}

/// Calls `listener` for as long as the client lives.
pub async fn follow_connection(client: &Client, listener: &impl EngineListener) {
    while follow_events(client, listener).await {
        // The event of a lost connection, or of a new one, may be among those that were lost.
        listener.disconnected();
    }
}

/// Returns true when events were lost, and false when the client has ended.
async fn follow_events(client: &Client, listener: &impl EngineListener) -> bool {
    let mut events = client.events();
    let mut unreachable = false;
    // A connection from before the subscription; its event may or may not follow.
    let mut known = client.worker_id();
    // Work for this connection: dropped with it, because its premises end with it.
    let mut work: Pin<Box<dyn Future<Output = ()> + Send + '_>> = match known {
        Some(_) => Box::pin(listener.connected()),
        None => Box::pin(pending()),
    };
    loop {
        let event = tokio::select! {
            biased;
            event = events.recv() => event,
            () = &mut work => {
                work = Box::pin(pending());
                continue;
            }
        };
        match event {
            Ok(Event::Connected { worker_id }) => {
                unreachable = false;
                if known.as_ref() != Some(&worker_id) {
                    known = Some(worker_id);
                    work = Box::pin(listener.connected());
                }
            }
            Ok(Event::Disconnected { reason }) => {
                tracing::warn!(reason, "the engine disconnected; reconnecting");
                // An engine may give the next connection the same id.
                known = None;
                work = Box::pin(pending());
                listener.disconnected();
            }
            Ok(Event::TriggerRejected {
                id,
                trigger_type,
                error,
                ..
            }) => listener.trigger_refused(&id, &trigger_type, &error),
            // One line for all attempts.
            Ok(Event::Unreachable { cause }) => {
                if !std::mem::replace(&mut unreachable, true) {
                    tracing::warn!(
                        cause,
                        "no engine can be reached; trying again until one can. `skills serve` needs no other engine"
                    );
                }
            }
            Ok(Event::ConnectionRefused { status }) => {
                let hint = refusal_hint(status);
                tracing::warn!(
                    "the engine refuses the connection (HTTP {status}); {hint}; trying again"
                );
            }
            Ok(Event::RegistrationRejected(rejected)) if rejected.function_id.is_none() => {
                tracing::warn!(name = rejected.worker_name, "another worker has this name");
            }
            // Functions that another worker owns show up when asking for the owner.
            Ok(Event::RegistrationRejected(_)) => {}
            Err(RecvError::Lagged(_)) => return true,
            Err(RecvError::Closed) => return false,
        }
    }
}
