//! Keeps a registry's image of state current by the engine's `state` trigger.

use std::sync::Arc;

use serde_json::json;
use skills_core::Registry;
use skills_iii::client::Handler;
use skills_iii::{Client, ErrorBody};

use super::engine_events::EngineListener;
use super::triggers::{subscribe, wait_subscribed};

/// Follows the scopes of state that hold a registry.
pub struct StateFollower {
    client: Client,
    registry: Arc<Registry>,
    triggers: Vec<String>,
}

impl StateFollower {
    /// Subscribes to every write to the scopes.
    pub fn new(client: Client, registry: Arc<Registry>, scopes: &[String]) -> Self {
        let followed = Arc::clone(&registry);
        let handler: Handler = Arc::new(move |event| {
            let registry = Arc::clone(&followed);
            Box::pin(async move {
                if let Err(error) = registry.apply_state_event(&event).await {
                    tracing::warn!("{}", error.to_text());
                }
                Ok(None)
            })
        });
        let subscribe_to = |scope: &String| {
            let config = json!({ "scope": scope });
            let handler = Arc::clone(&handler);
            subscribe(&client, "state-event", "state", &config, handler)
        };
        let triggers = scopes.iter().map(subscribe_to).collect();
        Self {
            client,
            registry,
            triggers,
        }
    }
}

impl EngineListener for StateFollower {
    async fn connected(&self) {
        let watched = wait_subscribed(&self.client, "state", &self.triggers).await;
        if watched.is_err() {
            tracing::warn!("the engine sends no state events; every read asks it");
        }
        self.registry.connected(watched.is_ok());
        if let Err(error) = self.registry.load().await {
            tracing::warn!("{}", error.to_text());
        }
    }

    fn disconnected(&self) {
        self.registry.disconnected();
    }

    fn trigger_refused(&self, id: &str, trigger_type: &str, error: &ErrorBody) {
        if self.triggers.iter().any(|trigger| trigger == id) {
            tracing::warn!(trigger_type, %error, "refused; every read asks the engine");
            self.registry.connected(false);
        } else {
            tracing::warn!(trigger_type, %error, "refused");
        }
    }
}
