//! The official Rust SDK as a worker on the hub, together with our own client.
#![expect(
    deprecated,
    reason = "trigger types are deprecated in the SDK, and in use"
)]

use std::pin::Pin;
use std::time::Duration;

use crate::common::{
    TIMEOUT, TestHub, echo, function, handler, in_time, raw, recorder, trigger, value,
    wait_for_function,
};
use iii_sdk::protocol::{RegisterTriggerInput, TriggerAction, TriggerRequest};
use iii_sdk::runtime::WorkerMetadata;
use iii_sdk::trigger::{TriggerConfig, TriggerHandler};
use iii_sdk::{
    Error, IIIClient, InitOptions, RegisterFunction, RegisterTriggerType, register_worker,
};
use serde_json::{Value, json};
use skills_iii::client::TriggerTypeSpec;
use skills_iii::{CallError, ErrorBody};
use tokio::sync::mpsc;

async fn sdk_worker(hub: &TestHub, name: &str) -> IIIClient {
    let metadata = WorkerMetadata {
        name: name.to_owned(),
        ..Default::default()
    };
    let options = InitOptions {
        metadata: Some(metadata),
        ..Default::default()
    };
    let worker = register_worker(&hub.url(), options);
    let registered = worker.wait_until_registered(TIMEOUT).await;
    registered.expect("the hub takes the worker");
    worker
}

fn offer_echo(worker: &IIIClient, id: &str) {
    let echo = |payload: Value| async move { Ok::<_, Error>(payload) };
    worker.register_function(id, RegisterFunction::new_async(echo));
}

async fn ask(worker: &IIIClient, id: &str, payload: Value) -> Result<Value, Error> {
    // The default of the SDK is half a minute, which 20 MiB may take on a busy machine.
    let timeout_ms = u64::try_from(TIMEOUT.as_millis()).ok();
    let request = TriggerRequest::new(id, payload);
    let request = TriggerRequest {
        timeout_ms,
        ..request
    };
    in_time(id, worker.trigger(request)).await
}

type Registered<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Records every trigger.
struct Provider(mpsc::Sender<(bool, TriggerConfig)>);

impl TriggerHandler for Provider {
    fn register_trigger<'a, 'b>(&'a self, config: TriggerConfig) -> Registered<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        self.0.try_send((true, config)).ok();
        Box::pin(async { Ok(()) })
    }

    fn unregister_trigger<'a, 'b>(&'a self, config: TriggerConfig) -> Registered<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        self.0.try_send((false, config)).ok();
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn calls_errors_and_large_payloads_in_both_directions() {
    let hub = TestHub::start().await;
    let (sdk, ours) = (sdk_worker(&hub, "sdk").await, hub.worker("ours").await);
    offer_echo(&sdk, "sdk::echo");
    let fails = |_: Value| async { Err::<Value, _>(Error::Handler("broken".to_owned())) };
    sdk.register_function("sdk::fails", RegisterFunction::new_async(fails));
    ours.register_function(function("ours::echo"), echo());
    let teapot = || Err(ErrorBody::new("TEAPOT", "short and stout"));
    ours.register_function(
        function("ours::fails"),
        handler(move |_| async move { teapot() }),
    );
    wait_for_function(&ours, "sdk::fails").await;
    wait_for_function(&ours, "ours::fails").await;

    let answer = ours
        .call("sdk::echo", raw(&json!([1])), TIMEOUT)
        .await
        .unwrap();
    assert_eq!(value(answer), json!([1]));
    assert_eq!(
        ask(&sdk, "ours::echo", json!([2])).await.unwrap(),
        json!([2])
    );

    let error = ours
        .call("sdk::fails", raw(&json!({})), TIMEOUT)
        .await
        .unwrap_err();
    let CallError::Remote(error) = error else {
        panic!("{error}")
    };
    assert!(error.message.contains("broken"), "{error}");
    match ask(&sdk, "ours::fails", json!({})).await.unwrap_err() {
        Error::Remote { code, message, .. } => {
            assert_eq!(
                (code.as_str(), message.as_str()),
                ("TEAPOT", "short and stout")
            );
        }
        other => panic!("{other}"),
    }
    match ask(&sdk, "unknown", json!({})).await.unwrap_err() {
        Error::Remote { code, .. } => assert_eq!(code, "function_not_found"),
        other => panic!("{other}"),
    }

    let big = json!(["x".repeat(20 << 20)]);
    let answer = ours.call("sdk::echo", raw(&big), TIMEOUT).await.unwrap();
    assert!(value(answer) == big, "the SDK's reply is not the payload");
    assert!(
        ask(&sdk, "ours::echo", big.clone()).await.unwrap() == big,
        "the reply to the SDK is not its payload"
    );
    sdk.shutdown_async().await;
}

#[tokio::test]
async fn void_calls_and_state_from_the_sdk() {
    let hub = TestHub::start().await;
    let (sdk, ours) = (sdk_worker(&hub, "sdk").await, hub.worker("ours").await);
    let (record, mut calls) = recorder();
    ours.register_function(function("ours::receive"), record);
    wait_for_function(&ours, "ours::receive").await;
    let mut request = TriggerRequest::new("ours::receive", json!(["void"]));
    request.action = Some(TriggerAction::Void);
    in_time("void", sdk.trigger(request)).await.unwrap();
    assert_eq!(
        in_time("the call", calls.recv()).await,
        Some(json!(["void"]))
    );

    let row = json!({ "scope": "s", "key": "k", "value": { "n": 1 } });
    let written = ask(&sdk, "state::set", row).await.unwrap();
    assert_eq!(
        written,
        json!({ "old_value": null, "new_value": { "n": 1 } })
    );
    let row = json!({ "scope": "s", "key": "k" });
    assert_eq!(
        ask(&sdk, "state::get", row).await.unwrap(),
        json!({ "n": 1 })
    );
    let miss = json!({ "scope": "s", "key": "?" });
    assert_eq!(ask(&sdk, "state::get", miss).await.unwrap(), Value::Null);
    sdk.shutdown_async().await;
}

#[tokio::test]
async fn trigger_types_and_triggers_in_both_directions() {
    let hub = TestHub::start().await;
    let (sdk, ours) = (sdk_worker(&hub, "sdk").await, hub.worker("ours").await);
    let (triggers, mut registrations) = mpsc::channel(1024);
    sdk.register_trigger_type(RegisterTriggerType::new(
        "sdk::on-x",
        "fires",
        Provider(triggers),
    ));
    ours.register_trigger(trigger(
        "t1",
        "sdk::on-x",
        "ours::receive",
        &json!({ "k": 1 }),
    ));
    let (registered, config) = in_time("the trigger", registrations.recv()).await.unwrap();
    assert!(registered);
    assert_eq!(
        (config.id.as_str(), &config.config),
        ("t1", &json!({ "k": 1 }))
    );
    assert_eq!(config.function_id, "ours::receive");
    ours.unregister_trigger("t1");
    assert!(!in_time("its end", registrations.recv()).await.unwrap().0);

    let (provider, mut records) = crate::common::RecordingProvider::new(false);
    let kind = TriggerTypeSpec {
        id: "ours::on-y".to_owned(),
        ..Default::default()
    };
    ours.register_trigger_type(kind, provider);
    let (payloads, mut events) = mpsc::channel(1024);
    sdk.register_function(
        "sdk::receive",
        RegisterFunction::new_async(move |payload: Value| {
            payloads.try_send(payload).unwrap();
            async { Ok::<_, Error>(Value::Null) }
        }),
    );
    let trigger_input =
        |kind: &str| RegisterTriggerInput::new(kind, "sdk::receive", json!({ "scope": "s" }));
    let registered = sdk.register_trigger(trigger_input("ours::on-y")).unwrap();
    let record = in_time("the trigger", records.recv()).await.unwrap();
    assert!(
        record.ends_with(r#" sdk::receive {"scope":"s"}"#),
        "{record}"
    );
    ours.send("sdk::receive", raw(&json!(["event"])));
    assert_eq!(
        in_time("the event", events.recv()).await,
        Some(json!(["event"]))
    );
    registered.unregister();
    assert!(
        in_time("its end", records.recv())
            .await
            .unwrap()
            .starts_with('-')
    );

    let _state = sdk.register_trigger(trigger_input("state")).unwrap();
    let listed = async {
        let list = || {
            ours.call(
                "engine::registered-triggers::list",
                raw(&json!({})),
                TIMEOUT,
            )
        };
        while value(list().await.unwrap())["registered_triggers"] == json!([]) {}
    };
    in_time("the state trigger", listed).await;
    let row = json!({ "scope": "s", "key": "k", "value": 7 });
    ours.call("state::set", raw(&row), TIMEOUT).await.unwrap();
    let event = in_time("the event", events.recv()).await.unwrap();
    assert_eq!(
        (&event["event_type"], &event["new_value"]),
        (&json!("state:created"), &json!(7))
    );
    sdk.shutdown_async().await;
}

#[tokio::test]
async fn two_sdk_workers_call_each_other_and_reconnect_after_a_restart() {
    let hub = TestHub::start().await;
    let (one, two) = (sdk_worker(&hub, "one").await, sdk_worker(&hub, "two").await);
    offer_echo(&one, "one::echo");
    let ours = hub.worker("ours").await;
    ours.register_function(function("ours::echo"), echo());
    wait_for_function(&ours, "one::echo").await;
    assert_eq!(
        ask(&two, "one::echo", json!([1])).await.unwrap(),
        json!([1])
    );

    let address = hub.stop().await;
    let _served = TestHub::at(address).await;
    in_time("our return", ours.wait_connected()).await.unwrap();
    wait_for_function(&ours, "one::echo").await;
    let answer = ours
        .call("one::echo", raw(&json!([2])), TIMEOUT)
        .await
        .unwrap();
    assert_eq!(value(answer), json!([2]));
    // The other worker may still be reconnecting.
    let back = async {
        loop {
            let request = TriggerRequest {
                timeout_ms: Some(500),
                ..TriggerRequest::new("ours::echo", json!([3]))
            };
            match two.trigger(request).await {
                Ok(answer) => return answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    assert_eq!(in_time("the other's return", back).await, json!([3]));
    one.shutdown_async().await;
    two.shutdown_async().await;
}
