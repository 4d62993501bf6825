//! Invalid input and faults: the hub keeps running and delays no other worker.

use std::time::Duration;

use crate::common::{ID, RawWorker, TIMEOUT, TestHub, assert_hub_works, in_time, raw};
use futures_util::SinkExt;
use serde_json::json;
use skills_iii::{CallError, Client, ClientOptions, Event, Heartbeat};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};

#[tokio::test]
async fn invalid_messages_are_ignored() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    for text in [
        "",
        "nonsense",
        "{",
        "[]",
        "null",
        "{}",
        r#"{"type":null}"#,
        r#"{"type":"invokefunction"}"#,
        r#"{"type":"whatever","x":1}"#,
        r#"{"type":"registerfunction"}"#,
        r#"{"type":"registerfunction","id":7}"#,
        r#"{"type":"registertrigger","id":"x"}"#,
        r#"{"type":"unregisterfunction","id":"not there"}"#,
        r#"{"type":"unregistertrigger","id":"not there"}"#,
        r#"{"type":"unregistertriggertype","id":"not there"}"#,
        r#"{"type":"triggerregistrationresult","id":"not there","error":{"code":"x"}}"#,
        r#"{"type":"reattach","previous_worker_id":"x","reattach_token":"y"}"#,
        r#"{"type":"invocationresult","invocation_id":"not a uuid","function_id":"f"}"#,
        r#"{"type":"registerservice","id":"s","name":"s"}"#,
        r#"{"type":"workerregistered","worker_id":"x"}"#,
    ] {
        raw_worker.send_text(text).await;
    }
    // An array so deep that a recursive parser overflows the stack.
    raw_worker
        .send_text(&format!(
            r#"{{"type":"x","y":{}1{}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        ))
        .await;
    raw_worker
        .0
        .send(Frame::binary(vec![0_u8, 159, 146, 150]))
        .await
        .unwrap();
    raw_worker.flush().await;
    assert_hub_works(&hub).await;
}

#[tokio::test]
async fn binary_frames_of_json_are_messages() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::connect(hub.address).await;
    raw_worker
        .0
        .send(Frame::binary(br#"{"type":"ping"}"#.to_vec()))
        .await
        .unwrap();
    assert_eq!(raw_worker.receive().await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn calls_with_invalid_ids_or_without_data_get_no_reply() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    raw_worker
        .call("seven", "state::list_groups", &json!({}))
        .await;
    let mut no_data = json!({ "type": "invokefunction", "invocation_id": ID });
    no_data["function_id"] = json!("state::list_groups");
    raw_worker.send_json(&no_data).await;
    raw_worker.send_json(&json!({ "type": "ping" })).await;
    assert_eq!(
        raw_worker.receive().await,
        json!({ "type": "pong" }),
        "the first reply is the pong"
    );
}

#[tokio::test]
async fn a_result_without_a_call_or_of_another_workers_call_is_ignored() {
    let hub = TestHub::start().await;
    let mut worker = RawWorker::named(hub.address, "callee").await;
    worker.register("job").await;
    worker.flush().await;
    let mut caller = RawWorker::named(hub.address, "caller").await;
    let mut thief = RawWorker::named(hub.address, "thief").await;
    caller.call(ID, "job", &json!([])).await;
    assert_eq!(worker.receive().await["invocation_id"], ID);
    let answer = |result: &str| {
        json!({ "type": "invocationresult", "invocation_id": ID, "function_id": "job",
            "result": result })
    };
    thief.send_json(&answer("stolen")).await;
    thief.flush().await;
    worker.send_json(&answer("right")).await;
    worker.send_json(&answer("twice")).await;
    worker.flush().await;
    assert_eq!(caller.receive().await["result"], "right");
    caller.send_json(&json!({ "type": "ping" })).await;
    assert_eq!(
        caller.receive().await["type"],
        "pong",
        "there was only one result"
    );
}

#[tokio::test]
async fn callers_that_choose_the_same_id_each_get_their_reply() {
    let hub = TestHub::start().await;
    let mut worker = RawWorker::named(hub.address, "callee").await;
    worker.register("job").await;
    worker.flush().await;
    let mut callers = [
        RawWorker::named(hub.address, "one").await,
        RawWorker::named(hub.address, "two").await,
    ];
    let mut calls = Vec::new();
    for (number, caller) in callers.iter_mut().enumerate() {
        caller.call(ID, "job", &json!([number])).await;
        calls.push(worker.receive().await);
    }
    assert_ne!(calls[0]["invocation_id"], calls[1]["invocation_id"]);
    for call in calls {
        worker
            .send_json(
                &json!({ "type": "invocationresult", "invocation_id": call["invocation_id"],
                "function_id": "job", "result": call["data"] }),
            )
            .await;
    }
    for (number, caller) in callers.iter_mut().enumerate() {
        let answer = caller.receive().await;
        assert_eq!(
            (&answer["invocation_id"], &answer["result"]),
            (&json!(ID), &json!([number]))
        );
    }
}

#[tokio::test]
async fn the_calls_of_a_callee_that_disconnects_fail() {
    let hub = TestHub::start().await;
    let caller = hub.worker("caller").await;
    let mut worker = RawWorker::named(hub.address, "callee").await;
    worker.register("job").await;
    worker.flush().await;
    let payload = raw(&json!({}));
    let call = caller.call("job", payload, TIMEOUT);
    let vanish = async {
        worker.receive().await;
        drop(worker);
    };
    let (answer, ()) = tokio::join!(call, vanish);
    let Err(CallError::Remote(error)) = answer else {
        panic!("the call must fail")
    };
    assert_eq!(error.code, "invocation_stopped");
    let later = caller
        .call("job", raw(&json!({})), TIMEOUT)
        .await
        .unwrap_err();
    assert_eq!(later, CallError::NotFound("job".to_owned()));
}

#[tokio::test]
async fn enqueueing_without_a_queue_is_an_error() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    raw_worker
        .send_json(
            &json!({ "type": "invokefunction", "invocation_id": ID, "function_id": "f",
        "data": {}, "action": { "type": "enqueue", "queue": "q" } }),
        )
        .await;
    assert_eq!(raw_worker.receive().await["error"]["code"], "enqueue_error");
    raw_worker
        .send_json(
            &json!({ "type": "invokefunction", "invocation_id": ID, "function_id": "f",
        "data": {}, "namespace": " " }),
        )
        .await;
    assert_eq!(
        raw_worker.receive().await["error"]["code"],
        "INVALID_NAMESPACE"
    );
}

#[tokio::test]
async fn a_silent_connection_is_dropped_at_either_end() {
    let fast_options = Heartbeat {
        ping_after: Duration::from_millis(200),
        silence_timeout: Duration::from_millis(1500),
        write_timeout: TIMEOUT,
    };
    let hub = TestHub::with(|options| {
        options.heartbeat = fast_options;
    })
    .await;
    let caller = hub.hub.attach("caller");
    caller.wait_connected().await.unwrap();
    // Never polled again after its registration, so it sends no pong.
    let mut silent = RawWorker::named(hub.address, "silent").await;
    silent.register("job").await;
    silent.flush().await;
    let gone = async {
        let error = loop {
            match caller
                .call("job", raw(&json!({})), Duration::from_millis(20))
                .await
            {
                Err(CallError::TimedOut { .. }) => {}
                Err(error) => break error,
                Ok(_) => panic!("a silent worker cannot reply"),
            }
        };
        assert!(
            matches!(error, CallError::NotFound(_) | CallError::Remote(_)),
            "{error}"
        );
    };
    in_time("the hub to notice", gone).await;

    // An engine that sends nothing after its first message.
    let recorder = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = crate::common::fast_options("worker");
    options.heartbeat = fast_options;
    let url = format!("ws://{}", recorder.local_addr().unwrap());
    let worker = Client::connect(&url, options).unwrap();
    for _ in 0..2 {
        let (stream, _) = in_time("a connection", recorder.accept()).await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let hello = json!({ "type": "workerregistered", "worker_id": "w" });
        socket.send(Frame::text(hello.to_string())).await.unwrap();
        std::mem::forget(socket);
    }
    drop(worker);
}

#[tokio::test]
async fn silent_and_invalid_sockets_do_no_harm() {
    let hub = TestHub::start().await;
    let _silent = TcpStream::connect(hub.address).await.unwrap();
    let mut nonsense = TcpStream::connect(hub.address).await.unwrap();
    nonsense.write_all(&[0xFF; 4096]).await.unwrap();
    // A part of a frame only.
    let mut half = RawWorker::named(hub.address, "half").await;
    half.0
        .get_mut()
        .write_all(&[0x81, 0xFE, 0x10])
        .await
        .unwrap();
    assert_hub_works(&hub).await;
    hub.stop().await;
}

#[tokio::test]
async fn plain_http_gets_a_hint_to_use_websocket() {
    let hub = TestHub::start().await;
    let body = "x".repeat(100_000);
    let post = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for request in [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        &post,
    ] {
        let mut page = TcpStream::connect(hub.address).await.unwrap();
        page.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        in_time("an answer", page.read_to_string(&mut answer))
            .await
            .unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        assert!(head.starts_with("HTTP/1.1 426 Upgrade Required\r\n"));
        for header in ["Upgrade: websocket", "Connection: close"] {
            assert!(head.lines().any(|line| line == header), "{head}");
        }
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert!(body.contains("WebSocket"), "{body}");
    }
    assert_hub_works(&hub).await;
    hub.stop().await;
}

#[tokio::test]
async fn telemetry_is_accepted_and_discarded() {
    let hub = TestHub::start().await;
    let url = format!("ws://{}/otel", hub.address);
    let stream = TcpStream::connect(hub.address).await.unwrap();
    let (mut socket, response) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    assert_eq!(response.headers()["x-iii-capabilities"], "tcp-nodelay");
    socket
        .send(Frame::binary(b"OTLP...".to_vec()))
        .await
        .unwrap();
    assert_hub_works(&hub).await;
}

async fn status(hub: &TestHub, header: Option<(&'static str, &str)>) -> u16 {
    let mut request = hub.url().into_client_request().expect("an address");
    if let Some((name, value)) = header {
        request
            .headers_mut()
            .insert(name, value.parse().expect("a header"));
    }
    let stream = TcpStream::connect(hub.address).await.expect("a port");
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn foreign_origins_and_wrong_tokens_are_refused() {
    let hub = TestHub::start().await;
    assert_eq!(status(&hub, None).await, 101);
    assert_eq!(
        status(&hub, Some(("origin", "http://127.0.0.1:8080"))).await,
        101
    );
    assert_eq!(
        status(&hub, Some(("origin", "https://evil.example"))).await,
        403
    );
    assert_eq!(status(&hub, Some(("host", "evil.example"))).await, 403);

    let hub = TestHub::with(|options| {
        options.access.token = Some("secret".to_owned());
    })
    .await;
    assert_eq!(status(&hub, None).await, 401);
    assert_eq!(
        status(&hub, Some(("authorization", "Bearer wrong"))).await,
        401
    );
    assert_eq!(
        status(&hub, Some(("authorization", "Bearer secret"))).await,
        101
    );
    let options = ClientOptions {
        token: Some("secret".to_owned()),
        ..crate::common::fast_options("worker")
    };
    let worker = Client::connect(&hub.url(), options).unwrap();
    in_time("a connection", worker.wait_connected())
        .await
        .unwrap();
    let stranger = Client::connect(&hub.url(), crate::common::fast_options("stranger")).unwrap();
    let event = in_time("the refusal", stranger.events().recv())
        .await
        .unwrap();
    assert_eq!(event, Event::ConnectionRefused { status: 401 });
}
