//! Following an engine: its state, so that the registry's picture stays right, and
//! whatever else it rings for.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::Registry;
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::{CallError, Client, ErrorBody};
use uuid::Uuid;

/// How long the engine may take to answer a question about itself.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before asking again whether the engine has taken what we said.
const AGAIN: Duration = Duration::from_millis(20);
/// How often that is asked before the answer counts.
const ATTEMPTS: usize = 50;

/// Keeps a registry's picture of state right.
pub struct Follower {
    client: Client,
    registry: Arc<Registry>,
    triggers: Vec<String>,
}

impl Follower {
    /// Has the engine call a doorbell of our own for every write to the scopes.
    pub fn new(client: Client, registry: Arc<Registry>, scopes: &[&str]) -> Self {
        let doorbell = format!("skills::doorbell-{}", Uuid::new_v4());
        let followed = Arc::clone(&registry);
        let ring: Handler = Arc::new(move |event| {
            let registry = Arc::clone(&followed);
            Box::pin(async move {
                if let Err(error) = registry.apply_state_event(&event).await {
                    tracing::warn!("{}", error.to_text());
                }
                Ok(None)
            })
        });
        offer_bell(&client, &doorbell, "A row of state changed.", ring);
        let trigger = |scope: &&str| {
            let config = json!({ "scope": scope });
            register_trigger(&client, "state", &doorbell, &config)
        };
        let triggers = scopes.iter().map(trigger).collect();
        Self {
            client,
            registry,
            triggers,
        }
    }

    /// A connection begins: look whether state can be followed, and load.
    pub async fn arrived(&self) {
        let watched = self.is_followed().await;
        if !watched {
            tracing::warn!("the engine does not ring for state; every read will ask it");
        }
        self.registry.connected(watched);
        if let Err(error) = self.registry.load().await {
            tracing::warn!("{}", error.to_text());
        }
    }

    /// The connection is gone.
    pub fn left(&self) {
        self.registry.disconnected();
    }

    /// The engine refused a trigger; if it was ours, it will not ring.
    pub fn refused(&self, id: &str, trigger_type: &str, error: &ErrorBody) {
        if self.triggers.iter().any(|ours| ours == id) {
            tracing::warn!(trigger_type, %error, "refused; every read will ask the engine");
            self.registry.connected(false);
        } else {
            tracing::warn!(trigger_type, %error, "refused");
        }
    }

    /// Whether the engine has taken our triggers on state.
    async fn is_followed(&self) -> bool {
        #[derive(Deserialize)]
        struct Listed {
            id: String,
        }
        #[derive(Deserialize)]
        struct Types {
            triggers: Vec<Listed>,
        }
        #[derive(Deserialize)]
        struct Registered {
            #[serde(alias = "triggers")]
            registered_triggers: Vec<Listed>,
        }
        for _ in 0..ATTEMPTS {
            let nothing = json!({});
            let types = ask::<Types>(&self.client, "engine::triggers::list", &nothing).await;
            if let Ok(Some(types)) = types
                && !types.triggers.iter().any(|kind| kind.id == "state")
            {
                return false;
            }
            let asked = "engine::registered-triggers::list";
            match ask::<Registered>(&self.client, asked, &nothing).await {
                Ok(Some(Registered {
                    registered_triggers: all,
                })) => {
                    let known = |id: &String| all.iter().any(|trigger| trigger.id == *id);
                    if self.triggers.iter().all(known) {
                        return true;
                    }
                }
                Ok(None) | Err(CallError::Remote(_)) => {}
                Err(_) => return false,
            }
            tokio::time::sleep(AGAIN).await;
        }
        false
    }
}

/// Whoever has the engine's address does not let us in.
pub fn say_turned_away(status: u16) {
    let hint = "is it an iii engine, and is the token right?";
    tracing::warn!("the engine does not let us in (HTTP {status}); {hint} trying again");
}

/// Has the engine call `bell`, a function of ours alone, when something of this type
/// happens.
pub fn ring_for(client: &Client, trigger_type: &str, bell: &str, ring: Handler) {
    offer_bell(client, bell, "Something happened on the engine.", ring);
    register_trigger(client, trigger_type, bell, &json!({}));
}

/// A function for the engine to call, not for anybody else.
fn offer_bell(client: &Client, id: &str, about: &str, ring: Handler) {
    let spec = FunctionSpec {
        id: id.into(),
        description: Some(about.into()),
        metadata: Some(raw(&json!({ "internal": true }))),
        ..FunctionSpec::default()
    };
    client.register_function(spec, ring);
}

fn register_trigger(
    client: &Client,
    trigger_type: &str,
    function: &str,
    config: &serde_json::Value,
) -> String {
    let id = Uuid::new_v4().to_string();
    client.register_trigger(TriggerSpec {
        id: id.clone(),
        trigger_type: trigger_type.into(),
        function_id: function.into(),
        config: raw(config),
        metadata: None,
        ..TriggerSpec::default()
    });
    id
}

/// Asks the engine about itself; none where the answer is another than expected.
pub async fn ask<T: for<'de> Deserialize<'de>>(
    client: &Client,
    function: &str,
    input: &serde_json::Value,
) -> Result<Option<T>, CallError> {
    let answer = client
        .call_idempotent(function, raw(input), PATIENCE)
        .await?;
    Ok(answer.and_then(|answer| serde_json::from_str(answer.get()).ok()))
}

/// A value as text.
pub fn raw(value: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value is JSON")
}
