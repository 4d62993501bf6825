//! Subscriptions: functions of this process that an engine calls when something happens.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::{CallError, Client};
use uuid::Uuid;

/// How long the engine may take to answer a question about itself.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two questions whether the engine has processed a registration.
pub(super) const RETRY_PAUSE: Duration = Duration::from_millis(20);
/// How many times that is asked.
pub(super) const RETRY_MAX: usize = 50;

/// Why the engine does not call a subscribed function.
#[derive(Debug)]
pub enum NotSubscribed {
    /// The engine does not know the type of the trigger.
    UnknownType,
    /// The engine did not list the trigger in time.
    NotListed,
    /// The engine could not be asked.
    Failed(CallError),
}

/// Has the engine call `handler` when a trigger of this type fires; returns the id of the
/// trigger. `name` shows up in the engine's list of functions.
pub fn subscribe(
    client: &Client,
    name: &str,
    trigger_type: &str,
    config: &Value,
    handler: Handler,
) -> String {
    let function_id = format!("skills::{name}-{}", Uuid::new_v4());
    let spec = FunctionSpec {
        id: function_id.clone(),
        description: Some(format!("Receives `{trigger_type}` for one process.")),
        metadata: Some(raw(&json!({ "internal": true }))),
        ..FunctionSpec::default()
    };
    client.register_listener(spec, handler);
    let id = Uuid::new_v4().to_string();
    client.register_trigger(TriggerSpec {
        id: id.clone(),
        trigger_type: trigger_type.into(),
        function_id,
        config: raw(config),
        ..TriggerSpec::default()
    });
    id
}

/// Waits until the engine has registered these triggers of one type: it processes
/// registrations after it has acknowledged the connection.
pub async fn wait_subscribed(
    client: &Client,
    trigger_type: &str,
    ids: &[String],
) -> Result<(), NotSubscribed> {
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
    let has = |listed: &[Listed], id: &str| listed.iter().any(|entry| entry.id == id);
    for _ in 0..RETRY_MAX {
        let types = ask::<Types>(client, "engine::triggers::list", &json!({})).await;
        if let Ok(Some(types)) = types
            && !has(&types.triggers, trigger_type)
        {
            return Err(NotSubscribed::UnknownType);
        }
        let function = "engine::registered-triggers::list";
        match ask::<Registered>(client, function, &json!({})).await {
            Ok(Some(all)) if ids.iter().all(|id| has(&all.registered_triggers, id)) => {
                return Ok(());
            }
            Ok(_) | Err(CallError::Remote(_)) => {}
            Err(error) => return Err(NotSubscribed::Failed(error)),
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
    Err(NotSubscribed::NotListed)
}

/// Calls a function of the engine itself; `None` if the answer has another form.
pub(super) async fn ask<T: for<'de> Deserialize<'de>>(
    client: &Client,
    function: &str,
    input: &Value,
) -> Result<Option<T>, CallError> {
    let answer = client
        .call_idempotent(function, raw(input), ENGINE_TIMEOUT)
        .await?;
    Ok(answer.and_then(|answer| serde_json::from_str(answer.get()).ok()))
}

/// A value as JSON text.
pub(super) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value is JSON")
}
