//! Messages are unchanged by a round trip, whatever they contain.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// One message of every type, with every field.
fn samples() -> Vec<Value> {
    let id = "9ea4c9a0-5a33-4c3f-8a55-0d2c1f8e7a10";
    vec![
        json!({ "type": "workerregistered", "worker_id": "w", "reattach_token": "t",
            "features": ["observe.v1"] }),
        json!({ "type": "registerfunction", "id": "a::b", "description": "d",
            "request_format": { "type": "object" }, "response_format": true,
            "metadata": { "x": 1 }, "invocation": { "url": "http://x" } }),
        json!({ "type": "unregisterfunction", "id": "a::b" }),
        json!({ "type": "registertriggertype", "id": "on-x", "description": "fires",
            "trigger_request_format": {}, "call_request_format": {}, "namespace": "n" }),
        json!({ "type": "unregistertriggertype", "id": "on-x" }),
        json!({ "type": "registertrigger", "id": "t", "trigger_type": "on-x",
            "function_id": "a::b", "config": { "k": 1 }, "metadata": { "m": 1 },
            "namespace": "n", "trigger_namespace": "m" }),
        json!({ "type": "triggerregistrationresult", "id": "t", "trigger_type": "on-x",
            "function_id": "a::b", "error": { "code": "c", "message": "m" } }),
        json!({ "type": "unregistertrigger", "id": "t", "trigger_type": "on-x" }),
        json!({ "type": "invokefunction", "invocation_id": id, "function_id": "a::b",
            "data": { "a": 1 }, "action": { "type": "void" }, "metadata": { "tenant": "x" },
            "namespace": "n", "traceparent": "p", "baggage": "b" }),
        json!({ "type": "invokefunction", "invocation_id": null, "function_id": "a::b",
            "data": null, "action": { "type": "enqueue", "queue": "q" } }),
        json!({ "type": "invocationresult", "invocation_id": id, "function_id": "a::b",
            "result": { "hi": 1 }, "traceparent": "p", "baggage": "b" }),
        json!({ "type": "invocationresult", "invocation_id": id, "function_id": "a::b",
            "error": { "code": "c", "message": "m\u{1}\"\\\n", "stacktrace": "s" } }),
        json!({ "type": "registerservice", "id": "s", "name": "n", "description": "d",
            "parent_service_id": "p" }),
        json!({ "type": "ping" }),
        json!({ "type": "pong" }),
        json!({ "type": "reattach", "previous_worker_id": "w", "reattach_token": "t" }),
        json!({ "type": "registrationrejected", "code": "FUNCTION_NAMESPACE_CONFLICT",
            "namespace": "default", "worker_name": "n", "function_id": "a::b",
            "owner_worker_id": "o" }),
        json!({ "type": "fromthefuture", "anything": [1, { "x": null }] }),
    ]
}

/// The text of a message, with its payload copied and not.
fn encoded_text(message: Message) -> String {
    let copied = message.clone().encode(usize::MAX);
    assert!(copied.large.is_none());
    let Encoded { mut text, large } = message.encode(0);
    if let Some(LargePayload { payload, len, end }) = large {
        text.extend_from_slice(&payload.as_ref()[..len]);
        text.extend(end.into_bytes());
    }
    assert_eq!(text, copied.text);
    String::from_utf8(text).unwrap()
}

fn round_trip(text: &str) -> Value {
    serde_json::from_str(&encoded_text(Message::parse(text).unwrap())).unwrap()
}

/// The text of an object with its fields in the given order.
fn text_of(fields: &[(String, Value)]) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(key, value)| format!("{}:{value}", json!(key)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

#[test]
fn every_type_survives_a_round_trip() {
    for sample in samples() {
        assert_eq!(round_trip(&sample.to_string()), sample);
        assert!(
            matches!(Message::parse(&sample.to_string()), Ok(Message::Unknown(_)))
                == (sample["type"] == "fromthefuture" || sample["type"] == "registerservice"),
            "{sample}"
        );
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let got = match Message::parse(text) {
        Ok(message) => encoded_text(message),
        Err(bad) => format!("bad: {bad}"),
    };
    assert_eq!(got, expected, "for {text}");
}

#[test]
fn invalid_frames() {
    for text in [
        "",
        "[1]",
        r#"["ping"]"#,
        r#"{"type":"ping""#,
        "{}",
        r#"{"type":7}"#,
    ] {
        let problem = Message::parse(text).unwrap_err().to_string();
        let expected = "not a JSON object with a `type`: ";
        assert!(problem.starts_with(expected), "{text}: {problem}");
    }
    check(
        r#"{"type":"invokefunction","function_id":"f"}"#,
        "bad: invalid `invokefunction` message: missing field `data` at line 1 column 43",
    );
    check(
        r#"{"type":"invokefunction","function_id":"f","data":1,"invocation_id":"7"}"#,
        "bad: invalid `invokefunction` message: UUID parsing failed: invalid length: found 1 at \
         line 1 column 71",
    );
    check(
        r#"{"type":"invocationresult","function_id":"f"}"#,
        "bad: invalid `invocationresult` message: missing field `invocation_id` at line 1 column 45",
    );
}

#[test]
fn an_error_of_any_form_is_an_error() {
    let id = "9ea4c9a0-5a33-4c3f-8a55-0d2c1f8e7a10";
    for (error, expected) in [
        (r#"{"code":"c","message":"m","stacktrace":"s"}"#, "c: m"),
        (r#""it broke""#, "error: it broke"),
        (r#"{"code":7,"message":"m"}"#, ": m"),
        ("7", ": "),
    ] {
        let text =
            format!(r#"{{"type":"invocationresult","invocation_id":"{id}","error":{error}}}"#);
        let Ok(Message::InvocationResult(result)) = Message::parse(&text) else {
            panic!("{text}")
        };
        assert_eq!(result.error.unwrap().to_string(), expected);
    }
}

#[test]
fn payloads_keep_their_text() {
    let data = r#"{"n":123456789012345678901234567890.5e300,"z":1, "a":"\u00e9\/"}"#;
    let text = format!(r#"{{"type":"invokefunction","function_id":"f","data":{data}}}"#);
    let Ok(Message::InvokeFunction(call)) = Message::parse(&text) else {
        panic!("a call")
    };
    assert_eq!(call.data.get(), data);
    assert!(encoded_text(Message::InvokeFunction(call)).contains(data));
}

#[test]
fn a_missing_result_and_null_are_different() {
    let id = "9ea4c9a0-5a33-4c3f-8a55-0d2c1f8e7a10";
    for (field, expected) in [("", None), (r#","result":null"#, Some("null"))] {
        let text = format!(
            r#"{{"type":"invocationresult","invocation_id":"{id}","function_id":"f"{field}}}"#
        );
        let Ok(Message::InvocationResult(answer)) = Message::parse(&text) else {
            panic!("{text}")
        };
        assert_eq!(answer.result.as_ref().map(|raw| raw.get()), expected);
        assert_eq!(encoded_text(Message::InvocationResult(answer)), text);
    }
}

#[test]
fn the_caller_is_written_into_objects_only() {
    let check = |data: &str, expected: &str| {
        let raw: Raw = serde_json::from_str(data).unwrap();
        let mut call = InvokeFunction::new("f", raw);
        call.caller = Some("me".into());
        assert_eq!(with_caller(&mut call.clone()).get(), expected, "for {data}");
        let text = encoded_text(Message::InvokeFunction(Box::new(call)));
        assert!(text.contains(&format!(r#""data":{expected}"#)), "{text}");
    };
    check("{}", r#"{"_caller_worker_id":"me"}"#);
    check("{ }", r#"{ "_caller_worker_id":"me"}"#);
    check(r#"{"a":1}"#, r#"{"a":1,"_caller_worker_id":"me"}"#);
    check(
        r#"{"a":{"_caller_worker_id":1}}"#,
        r#"{"a":{"_caller_worker_id":1},"_caller_worker_id":"me"}"#,
    );
    check(
        r#"{"_caller_worker_id":"you","a":1}"#,
        r#"{"a":1,"_caller_worker_id":"me"}"#,
    );
    check(
        r#"{"_c\u0061ller_worker_id":"you"}"#,
        r#"{"_caller_worker_id":"me"}"#,
    );
    check("[{}]", "[{}]");
    check("null", "null");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|map| Value::Object(Map::from_iter(map))),
        ]
    })
}

proptest! {
    #[test]
    fn the_order_of_fields_does_not_matter(
        (sample, order) in prop::sample::select(samples()).prop_flat_map(|sample| {
            let fields: Vec<_> = sample.as_object().unwrap().clone().into_iter().collect();
            (Just(sample), Just(fields).prop_shuffle())
        })
    ) {
        prop_assert_eq!(round_trip(&text_of(&order)), sample);
    }

    #[test]
    fn messages_of_unknown_types_are_kept_whole(
        kind in "[a-z]{1,12}x-new", fields in prop::collection::btree_map("[a-z]{1,8}", any_json(), 0..5)
    ) {
        let mut message = Map::from_iter(fields);
        message.insert("type".to_owned(), kind.into());
        let message = Value::Object(message);
        prop_assert_eq!(round_trip(&message.to_string()), message);
    }

    #[test]
    fn unknown_fields_are_kept_in_messages_that_are_passed_on(
        sample in prop::sample::select(samples()), key in "x_[a-z]{1,8}", extra in any_json()
    ) {
        let mut message = sample.clone();
        message[&key] = extra;
        let passed_on = matches!(sample["type"].as_str().unwrap(), "registertrigger" | "registerfunction"
            | "registertriggertype" | "triggerregistrationresult" | "invokefunction"
            | "invocationresult" | "fromthefuture" | "registerservice");
        let expected = if passed_on { &message } else { &sample };
        prop_assert_eq!(&round_trip(&message.to_string()), expected);
    }

    #[test]
    fn payloads_are_unchanged(data in any_json(), caller in "[ -~]{1,8}") {
        let mut call = InvokeFunction::new("f", serde_json::value::to_raw_value(&data).unwrap());
        call.caller = Some(caller.as_str().into());
        let text = encoded_text(Message::InvokeFunction(Box::new(call)));
        let sent: Value = serde_json::from_str(&text).unwrap();
        let mut expected = data;
        if let Value::Object(fields) = &mut expected {
            fields.insert("_caller_worker_id".to_owned(), caller.into());
        }
        prop_assert_eq!(&sent["data"], &expected);
    }

    #[test]
    fn parsing_never_panics(text in ".*") {
        let _ = Message::parse(&text);
    }
}
