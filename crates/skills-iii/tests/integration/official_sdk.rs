//! The official Rust SDK as a worker on the hub, beside one of ours.
#![expect(
    deprecated,
    reason = "trigger types are deprecated in the SDK, and in use"
)]

use std::pin::Pin;
use std::time::Duration;

use crate::common::{
    LONG, Served, echo, function, handler, listener, offered, raw, soon, trigger, value,
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

async fn sdk_worker(served: &Served, name: &str) -> IIIClient {
    let metadata = WorkerMetadata {
        name: name.to_owned(),
        ..Default::default()
    };
    let options = InitOptions {
        metadata: Some(metadata),
        ..Default::default()
    };
    let worker = register_worker(&served.url(), options);
    let registered = worker.wait_until_registered(LONG).await;
    registered.expect("the hub takes the worker");
    worker
}

fn offer_echo(worker: &IIIClient, id: &str) {
    let echo = |payload: Value| async move { Ok::<_, Error>(payload) };
    worker.register_function(id, RegisterFunction::new_async(echo));
}

async fn ask(worker: &IIIClient, id: &str, payload: Value) -> Result<Value, Error> {
    // Without a word the SDK waits half a minute, which 20 MiB may take on a busy machine.
    let timeout_ms = u64::try_from(LONG.as_millis()).ok();
    let request = TriggerRequest::new(id, payload);
    let request = TriggerRequest {
        timeout_ms,
        ..request
    };
    soon(id, worker.trigger(request)).await
}

type Told<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Hands every trigger to the test.
struct Provider(mpsc::UnboundedSender<(bool, TriggerConfig)>);

impl TriggerHandler for Provider {
    fn register_trigger<'a, 'b>(&'a self, config: TriggerConfig) -> Told<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        self.0.send((true, config)).ok();
        Box::pin(async { Ok(()) })
    }

    fn unregister_trigger<'a, 'b>(&'a self, config: TriggerConfig) -> Told<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        self.0.send((false, config)).ok();
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn calls_errors_and_large_payloads_in_both_directions() {
    let served = Served::start().await;
    let (sdk, ours) = (
        sdk_worker(&served, "sdk").await,
        served.worker("ours").await,
    );
    offer_echo(&sdk, "sdk::echo");
    let fails = |_: Value| async { Err::<Value, _>(Error::Handler("broken".to_owned())) };
    sdk.register_function("sdk::fails", RegisterFunction::new_async(fails));
    ours.register_function(function("ours::echo"), echo());
    let teapot = || Err(ErrorBody::new("TEAPOT", "short and stout"));
    ours.register_function(
        function("ours::fails"),
        handler(move |_| async move { teapot() }),
    );
    offered(&ours, "sdk::fails").await;
    offered(&ours, "ours::fails").await;

    let answer = ours
        .call("sdk::echo", raw(&json!([1])), LONG)
        .await
        .unwrap();
    assert_eq!(value(answer), json!([1]));
    assert_eq!(
        ask(&sdk, "ours::echo", json!([2])).await.unwrap(),
        json!([2])
    );

    let error = ours
        .call("sdk::fails", raw(&json!({})), LONG)
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
    match ask(&sdk, "nobody", json!({})).await.unwrap_err() {
        Error::Remote { code, .. } => assert_eq!(code, "function_not_found"),
        other => panic!("{other}"),
    }

    let big = json!(["x".repeat(20 << 20)]);
    let answer = ours.call("sdk::echo", raw(&big), LONG).await.unwrap();
    assert!(
        value(answer) == big,
        "what came back from the SDK is what went"
    );
    assert!(
        ask(&sdk, "ours::echo", big.clone()).await.unwrap() == big,
        "and the other way"
    );
    sdk.shutdown_async().await;
}

#[tokio::test]
async fn void_calls_and_state_from_the_sdk() {
    let served = Served::start().await;
    let (sdk, ours) = (
        sdk_worker(&served, "sdk").await,
        served.worker("ours").await,
    );
    let (hear, mut heard) = listener();
    ours.register_function(function("ours::hear"), hear);
    offered(&ours, "ours::hear").await;
    let mut request = TriggerRequest::new("ours::hear", json!(["void"]));
    request.action = Some(TriggerAction::Void);
    soon("void", sdk.trigger(request)).await.unwrap();
    assert_eq!(soon("the call", heard.recv()).await, Some(json!(["void"])));

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
    let served = Served::start().await;
    let (sdk, ours) = (
        sdk_worker(&served, "sdk").await,
        served.worker("ours").await,
    );
    let (told, mut wishes) = mpsc::unbounded_channel();
    sdk.register_trigger_type(RegisterTriggerType::new(
        "sdk::on-x",
        "fires",
        Provider(told),
    ));
    ours.register_trigger(trigger("t1", "sdk::on-x", "ours::hear", &json!({ "k": 1 })));
    let (registered, config) = soon("the trigger", wishes.recv()).await.unwrap();
    assert!(registered);
    assert_eq!(
        (config.id.as_str(), &config.config),
        ("t1", &json!({ "k": 1 }))
    );
    assert_eq!(config.function_id, "ours::hear");
    ours.unregister_trigger("t1");
    assert!(!soon("its end", wishes.recv()).await.unwrap().0);

    let (provider, mut noted) = crate::common::Notes::new(false);
    let kind = TriggerTypeSpec {
        id: "ours::on-y".to_owned(),
        ..Default::default()
    };
    ours.register_trigger_type(kind, provider);
    let (heard, mut events) = mpsc::unbounded_channel();
    sdk.register_function(
        "sdk::hear",
        RegisterFunction::new_async(move |payload: Value| {
            heard.send(payload).ok();
            async { Ok::<_, Error>(Value::Null) }
        }),
    );
    let wish = |kind: &str| RegisterTriggerInput::new(kind, "sdk::hear", json!({ "scope": "s" }));
    let wanted = sdk.register_trigger(wish("ours::on-y")).unwrap();
    let note = soon("the trigger", noted.recv()).await.unwrap();
    assert!(note.ends_with(r#" sdk::hear {"scope":"s"}"#), "{note}");
    ours.send("sdk::hear", raw(&json!(["event"])));
    assert_eq!(
        soon("the event", events.recv()).await,
        Some(json!(["event"]))
    );
    wanted.unregister();
    assert!(
        soon("its end", noted.recv())
            .await
            .unwrap()
            .starts_with('-')
    );

    let _state = sdk.register_trigger(wish("state")).unwrap();
    let listed = async {
        let list = || ours.call("engine::registered-triggers::list", raw(&json!({})), LONG);
        while value(list().await.unwrap())["registered_triggers"] == json!([]) {}
    };
    soon("the state trigger", listed).await;
    let row = json!({ "scope": "s", "key": "k", "value": 7 });
    ours.call("state::set", raw(&row), LONG).await.unwrap();
    let event = soon("the event", events.recv()).await.unwrap();
    assert_eq!(
        (&event["event_type"], &event["new_value"]),
        (&json!("state:created"), &json!(7))
    );
    sdk.shutdown_async().await;
}

#[tokio::test]
async fn two_sdk_workers_call_each_other_and_come_back_after_a_restart() {
    let served = Served::start().await;
    let (one, two) = (
        sdk_worker(&served, "one").await,
        sdk_worker(&served, "two").await,
    );
    offer_echo(&one, "one::echo");
    let ours = served.worker("ours").await;
    ours.register_function(function("ours::echo"), echo());
    offered(&ours, "one::echo").await;
    assert_eq!(
        ask(&two, "one::echo", json!([1])).await.unwrap(),
        json!([1])
    );

    let address = served.stop().await;
    let _served = Served::at(address, crate::common::options()).await;
    soon("our return", ours.wait_connected()).await.unwrap();
    offered(&ours, "one::echo").await;
    let answer = ours
        .call("one::echo", raw(&json!([2])), LONG)
        .await
        .unwrap();
    assert_eq!(value(answer), json!([2]));
    // The other may still be on its way.
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
    assert_eq!(soon("the other's return", back).await, json!([3]));
    one.shutdown_async().await;
    two.shutdown_async().await;
}
