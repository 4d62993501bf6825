//! Bad input and faults: none ends the hub, stalls others or grows without bound.

use std::time::Duration;

use crate::common::{Bare, ID, LONG, Served, raw, soon, still_works};
use futures_util::SinkExt;
use serde_json::json;
use skills_iii::{CallError, Client, ClientOptions, Event, Heartbeat};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};

#[tokio::test]
async fn frames_that_are_not_messages_are_ignored() {
    let served = Served::start().await;
    let mut bare = Bare::named(served.address, "bare").await;
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
        bare.say_text(text).await;
    }
    // An array so deep that a careless reader runs out of stack.
    bare.say_text(&format!(
        r#"{{"type":"x","y":{}1{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    ))
    .await;
    bare.0
        .send(Frame::binary(vec![0_u8, 159, 146, 150]))
        .await
        .unwrap();
    bare.settled().await;
    still_works(&served).await;
}

#[tokio::test]
async fn binary_frames_of_json_are_messages() {
    let served = Served::start().await;
    let mut bare = Bare::connect(served.address).await;
    bare.0
        .send(Frame::binary(br#"{"type":"ping"}"#.to_vec()))
        .await
        .unwrap();
    assert_eq!(bare.hear().await, json!({ "type": "pong" }));
}

#[tokio::test]
async fn ids_that_are_not_uuids_and_calls_without_data_get_no_answer() {
    let served = Served::start().await;
    let mut bare = Bare::named(served.address, "bare").await;
    bare.call("seven", "state::list_groups", &json!({})).await;
    let mut no_data = json!({ "type": "invokefunction", "invocation_id": ID });
    no_data["function_id"] = json!("state::list_groups");
    bare.say(&no_data).await;
    bare.say(&json!({ "type": "ping" })).await;
    assert_eq!(
        bare.hear().await,
        json!({ "type": "pong" }),
        "nothing came before it"
    );
}

#[tokio::test]
async fn an_answer_to_no_call_or_to_somebody_elses_reaches_nobody() {
    let served = Served::start().await;
    let mut worker = Bare::named(served.address, "callee").await;
    worker.offer("job").await;
    worker.settled().await;
    let mut caller = Bare::named(served.address, "caller").await;
    let mut thief = Bare::named(served.address, "thief").await;
    caller.call(ID, "job", &json!([])).await;
    assert_eq!(worker.hear().await["invocation_id"], ID);
    let answer = |result: &str| {
        json!({ "type": "invocationresult", "invocation_id": ID, "function_id": "job",
            "result": result })
    };
    thief.say(&answer("stolen")).await;
    thief.settled().await;
    worker.say(&answer("right")).await;
    worker.say(&answer("twice")).await;
    worker.settled().await;
    assert_eq!(caller.hear().await["result"], "right");
    caller.say(&json!({ "type": "ping" })).await;
    assert_eq!(caller.hear().await["type"], "pong", "only one answer came");
}

#[tokio::test]
async fn callers_that_choose_the_same_id_each_get_their_answer() {
    let served = Served::start().await;
    let mut worker = Bare::named(served.address, "callee").await;
    worker.offer("job").await;
    worker.settled().await;
    let mut callers = [
        Bare::named(served.address, "one").await,
        Bare::named(served.address, "two").await,
    ];
    let mut calls = Vec::new();
    for (number, caller) in callers.iter_mut().enumerate() {
        caller.call(ID, "job", &json!([number])).await;
        calls.push(worker.hear().await);
    }
    assert_ne!(calls[0]["invocation_id"], calls[1]["invocation_id"]);
    for call in calls {
        worker
            .say(
                &json!({ "type": "invocationresult", "invocation_id": call["invocation_id"],
                "function_id": "job", "result": call["data"] }),
            )
            .await;
    }
    for (number, caller) in callers.iter_mut().enumerate() {
        let answer = caller.hear().await;
        assert_eq!(
            (&answer["invocation_id"], &answer["result"]),
            (&json!(ID), &json!([number]))
        );
    }
}

#[tokio::test]
async fn a_callee_that_vanishes_stops_its_calls() {
    let served = Served::start().await;
    let caller = served.worker("caller").await;
    let mut worker = Bare::named(served.address, "callee").await;
    worker.offer("job").await;
    worker.settled().await;
    let payload = raw(&json!({}));
    let call = caller.call("job", payload, LONG);
    let vanish = async {
        worker.hear().await;
        drop(worker);
    };
    let (answer, ()) = tokio::join!(call, vanish);
    let Err(CallError::Remote(error)) = answer else {
        panic!("it must fail")
    };
    assert_eq!(error.code, "invocation_stopped");
    let later = caller.call("job", raw(&json!({})), LONG).await.unwrap_err();
    assert_eq!(later, CallError::NotFound("job".to_owned()));
}

#[tokio::test]
async fn enqueueing_without_a_queue_is_an_error() {
    let served = Served::start().await;
    let mut bare = Bare::named(served.address, "bare").await;
    bare.say(
        &json!({ "type": "invokefunction", "invocation_id": ID, "function_id": "f",
        "data": {}, "action": { "type": "enqueue", "queue": "q" } }),
    )
    .await;
    assert_eq!(bare.hear().await["error"]["code"], "enqueue_error");
    bare.say(
        &json!({ "type": "invokefunction", "invocation_id": ID, "function_id": "f",
        "data": {}, "namespace": " " }),
    )
    .await;
    assert_eq!(bare.hear().await["error"]["code"], "INVALID_NAMESPACE");
}

#[tokio::test]
async fn a_connection_gone_silent_is_dropped_on_either_end() {
    let quick = Heartbeat {
        ping_after: Duration::from_millis(200),
        silence_timeout: Duration::from_millis(1500),
        write_timeout: LONG,
    };
    let mut options = crate::common::options();
    options.heartbeat = quick;
    let served = Served::with(options).await;
    let caller = served.hub.attach("caller");
    caller.wait_connected().await.unwrap();
    // It offers something and is never polled again: no pong ever leaves.
    let mut silent = Bare::named(served.address, "silent").await;
    silent.offer("job").await;
    silent.settled().await;
    let gone = async {
        let error = loop {
            match caller
                .call("job", raw(&json!({})), Duration::from_millis(20))
                .await
            {
                Err(CallError::TimedOut { .. }) => {}
                Err(error) => break error,
                Ok(_) => panic!("nobody answers"),
            }
        };
        assert!(
            matches!(error, CallError::NotFound(_) | CallError::Remote(_)),
            "{error}"
        );
    };
    soon("the hub to notice", gone).await;

    // An engine that says hello and then nothing.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = crate::common::quick("worker");
    options.heartbeat = quick;
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let worker = Client::connect(&url, options).unwrap();
    for _ in 0..2 {
        let (stream, _) = soon("a connection", listener.accept()).await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let hello = json!({ "type": "workerregistered", "worker_id": "w" });
        socket.send(Frame::text(hello.to_string())).await.unwrap();
        std::mem::forget(socket);
    }
    drop(worker);
}

#[tokio::test]
async fn sockets_that_never_speak_or_speak_nonsense_do_no_harm() {
    let served = Served::start().await;
    let _silent = TcpStream::connect(served.address).await.unwrap();
    let mut nonsense = TcpStream::connect(served.address).await.unwrap();
    nonsense.write_all(&[0xFF; 4096]).await.unwrap();
    // Half a frame, then nothing.
    let mut half = Bare::named(served.address, "half").await;
    half.0
        .get_mut()
        .write_all(&[0x81, 0xFE, 0x10])
        .await
        .unwrap();
    still_works(&served).await;
    served.stop().await;
}

#[tokio::test]
async fn plain_http_is_told_that_this_is_a_websocket() {
    let served = Served::start().await;
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
        let mut page = TcpStream::connect(served.address).await.unwrap();
        page.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("an answer", page.read_to_string(&mut answer))
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
    still_works(&served).await;
    served.stop().await;
}

#[tokio::test]
async fn telemetry_is_taken_and_dropped() {
    let served = Served::start().await;
    let url = format!("ws://{}/otel", served.address);
    let stream = TcpStream::connect(served.address).await.unwrap();
    let (mut socket, response) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    assert_eq!(response.headers()["x-iii-capabilities"], "tcp-nodelay");
    socket
        .send(Frame::binary(b"OTLP...".to_vec()))
        .await
        .unwrap();
    still_works(&served).await;
}

async fn status(served: &Served, header: Option<(&'static str, &str)>) -> u16 {
    let mut request = served.url().into_client_request().expect("an address");
    if let Some((name, value)) = header {
        request
            .headers_mut()
            .insert(name, value.parse().expect("a header"));
    }
    let stream = TcpStream::connect(served.address).await.expect("a port");
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn foreign_pages_and_wrong_tokens_are_refused() {
    let served = Served::start().await;
    assert_eq!(status(&served, None).await, 101);
    assert_eq!(
        status(&served, Some(("origin", "http://127.0.0.1:8080"))).await,
        101
    );
    assert_eq!(
        status(&served, Some(("origin", "https://evil.example"))).await,
        403
    );
    assert_eq!(status(&served, Some(("host", "evil.example"))).await, 403);

    let mut options = crate::common::options();
    options.access.token = Some("secret".to_owned());
    let served = Served::with(options).await;
    assert_eq!(status(&served, None).await, 401);
    assert_eq!(
        status(&served, Some(("authorization", "Bearer wrong"))).await,
        401
    );
    assert_eq!(
        status(&served, Some(("authorization", "Bearer secret"))).await,
        101
    );
    let options = ClientOptions {
        token: Some("secret".to_owned()),
        ..crate::common::quick("worker")
    };
    let worker = Client::connect(&served.url(), options).unwrap();
    soon("a connection", worker.wait_connected()).await.unwrap();
    let stranger = Client::connect(&served.url(), crate::common::quick("stranger")).unwrap();
    let told = soon("the refusal", stranger.events().recv()).await.unwrap();
    assert_eq!(told, Event::ConnectionRefused { status: 401 });
}
