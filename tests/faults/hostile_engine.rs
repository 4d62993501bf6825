//! `skills --url` on an engine that breaks every rule: the worker lives, its memory stays bounded, and
//! it serves as soon as a good engine is there.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use skills_test_support::TIMEOUT;
use skills_test_support::engine::TestEngine;
use skills_test_support::process::SkillsProcess;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use uuid::Uuid;

const MIB: u64 = 1 << 20;
/// The most memory that the worker may use.
const MAX_MEMORY: u64 = 256 * MIB;

type Socket = WebSocketStream<TcpStream>;

/// Runs a worker on a hostile engine, then starts a good engine at the same address.
async fn survives<F: Future<Output = ()>>(config: &str, hostile: impl FnOnce(Engine) -> F) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.yaml");
    std::fs::write(&path, config).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("ws://{address}");
    let mut worker = SkillsProcess::worker(&url, &["--config", path.to_str().unwrap()]);
    let engine = Engine { listener };
    timeout(TIMEOUT, hostile(engine))
        .await
        .expect("the hostile engine ends");
    let engine = TestEngine::start_at(&address.to_string()).await;
    assert!(worker.try_wait().is_none(), "the worker ended");
    let peer = engine.peer("peer").await;
    // The last function that the worker registers.
    let last = json!({ "function_id": "prompts::mcp-get" });
    peer.call_until_ok("engine::functions::info", last).await;
    let skill = json!({ "id": "a", "skill": "# A" });
    peer.call_until_ok("skills::register", skill).await;
    assert_eq!(peer.read("iii://a").await.unwrap(), "# A");
    assert_eq!(peer.skill_ids().await, ["a"]);
    #[cfg(target_os = "linux")]
    {
        let usage = skills_test_support::usage::Usage::of(worker.pid()).unwrap();
        assert!(
            usage.peak_memory < MAX_MEMORY,
            "{} MiB",
            usage.peak_memory / MIB
        );
    }
    let (status, stderr) = worker.terminate().await;
    assert!(status.success(), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// The listener of an engine.
struct Engine {
    listener: TcpListener,
}

impl Engine {
    /// The next connection, with the first message of an engine sent.
    async fn accept(&self) -> Socket {
        let (stream, _) = self.listener.accept().await.unwrap();
        let config = WebSocketConfig::default().write_buffer_size(0);
        let socket = tokio_tungstenite::accept_async_with_config(stream, Some(config)).await;
        let mut socket = socket.unwrap();
        // The same id for every connection, which no good engine gives.
        send(
            &mut socket,
            &json!({ "type": "workerregistered", "worker_id": "same" }),
        )
        .await;
        socket
    }

    /// A connection, and the first call of the worker that is not void.
    async fn accept_call(&self) -> (Socket, Value) {
        let mut socket = self.accept().await;
        loop {
            let message = receive(&mut socket)
                .await
                .expect("the worker asks something");
            if message["type"] == "invokefunction" && message["invocation_id"].is_string() {
                return (socket, message);
            }
        }
    }
}

/// Sends a message; false when the worker has closed the connection.
async fn send(socket: &mut Socket, message: &Value) -> bool {
    socket.send(Frame::text(message.to_string())).await.is_ok()
}

/// The next message; none at the end of the connection.
async fn receive(socket: &mut Socket) -> Option<Value> {
    loop {
        match socket.next().await? {
            Ok(Frame::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

fn result_of(call: &Value, result: &Value) -> Value {
    json!({ "type": "invocationresult", "invocation_id": call["invocation_id"],
        "function_id": call["function_id"], "result": result })
}

/// Results of every JSON type, errors of the wrong form, and messages of the wrong form, for every
/// call of the worker on a few connections.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_types() {
    let wrong = [
        json!(null),
        json!(true),
        json!(-1.5e300),
        json!("text"),
        json!([]),
        json!([1, "a", null, { "id": [] }]),
        json!({ "skills": 5, "functions": "x", "worker_name": {} }),
        json!([{ "id": "a", "skill": 5, "registered_at": [] }]),
    ];
    // Each is ignored.
    let malformed = [
        json!({ "type": ["invocationresult"] }),
        json!({ "type": "invocationresult", "invocation_id": 5, "result": {} }),
        json!({ "type": "invocationresult", "invocation_id": Uuid::new_v4(), "error": 7 }),
    ];
    survives("state_timeout_ms: 200\n", |engine| async move {
        let mut socket = engine.accept().await;
        let mut answered = 0;
        while answered < 3 * wrong.len() {
            let Some(message) = receive(&mut socket).await else {
                break;
            };
            if !message["invocation_id"].is_string() {
                continue;
            }
            for message in &malformed {
                send(&mut socket, message).await;
            }
            let result = &wrong[answered % wrong.len()];
            send(&mut socket, &result_of(&message, result)).await;
            answered += 1;
        }
    })
    .await;
}

/// A message that never ends. The worker reads as much as its limit allows, and disconnects.
#[tokio::test(flavor = "multi_thread")]
async fn endless_answers() {
    survives("limits: {engine_message_bytes: 16777216}\nstate_timeout_ms: 200\n", |engine| async move {
        for _ in 0..3 {
            let (socket, call) = engine.accept_call().await;
            let id = &call["invocation_id"];
            let start = format!(
                r#"{{"type":"invocationresult","invocation_id":{id},"function_id":"x","result":""#
            );
            let mut stream = socket.into_inner();
            // The beginning of a text message in fragments, and then fragments until the worker
            // closes the connection. It discards what arrives while it closes.
            let mut frame = frame(0x01, start.as_bytes());
            let more = frame_of_mib(0x00);
            while stream.write_all(&frame).await.is_ok() {
                frame.clone_from(&more);
            }
        }
    })
    .await;
}

/// Large answers to every call, each below the limit of a message.
#[tokio::test(flavor = "multi_thread")]
async fn large_answers() {
    survives("state_timeout_ms: 200\n", |engine| async move {
        for _ in 0..2 {
            let (mut socket, call) = engine.accept_call().await;
            let text = "x".repeat(15 << 20);
            let row = json!([{ "id": "a", "skill": text, "registered_at": "t" }]);
            for _ in 0..2 {
                if !send(&mut socket, &result_of(&call, &row)).await {
                    break;
                }
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_calls_never_made() {
    survives("state_timeout_ms: 200\n", |engine| async move {
        let mut socket = engine.accept().await;
        for _ in 0..20_000 {
            let call = json!({ "invocation_id": Uuid::new_v4(), "function_id": "state::list" });
            if !send(&mut socket, &result_of(&call, &json!([]))).await {
                break;
            }
        }
    })
    .await;
}

/// Calls get no answer; then the connection is lost.
#[tokio::test(flavor = "multi_thread")]
async fn silence() {
    survives("state_timeout_ms: 50\n", |engine| async move {
        for _ in 0..2 {
            let (mut socket, _) = engine.accept_call().await;
            // A second call shows that the first one timed out.
            while let Some(message) = receive(&mut socket).await {
                if message["type"] == "invokefunction" {
                    break;
                }
            }
        }
    })
    .await;
}

/// Events for the functions that the worker subscribes, and rejections of everything.
#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_events() {
    survives("state_timeout_ms: 200\n", |engine| async move {
        let mut socket = engine.accept().await;
        let mut functions = Vec::new();
        // The worker's own functions for events are registered first.
        while functions.len() < 3 {
            let Some(message) = receive(&mut socket).await else {
                return;
            };
            if message["type"] == "registerfunction" {
                functions.push(message["id"].clone());
            }
        }
        for number in 0..20_000 {
            let function = &functions[number % functions.len()];
            let event = json!({ "type": "state", "event_type": "state:updated", "scope": "skills",
                "key": format!("k{number}"), "old_value": null, "new_value": { "id": number } });
            let message = match number % 3 {
                0 => json!({ "type": "invokefunction", "invocation_id": Uuid::new_v4(),
                    "function_id": function, "data": event }),
                1 => json!({ "type": "triggerregistrationresult", "id": format!("t{number}"),
                    "trigger_type": "state", "function_id": function,
                    "error": { "code": "no", "message": "no" } }),
                _ => json!({ "type": "registrationrejected", "code": "NO", "namespace": "default",
                    "function_id": function, "owner_worker_id": "other" }),
            };
            if !send(&mut socket, &message).await {
                break;
            }
        }
    })
    .await;
}

/// Frames that break the rules of WebSocket.
const INVALID_FRAMES: [&[u8]; 8] = [
    // Text that is not UTF-8.
    &[0x81, 0x02, 0xFF, 0xFE],
    // A length of 2^63.
    &[0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
    // A continuation of nothing.
    &[0x80, 0x01, 0x41],
    // Reserved opcodes and bits.
    &[0x83, 0x01, 0x00],
    &[0xF1, 0x01, 0x41],
    // A mask from a server.
    &[0x81, 0x81, 1, 2, 3, 4, 0x41],
    b"HTTP/1.1 500 What\r\n\r\n",
    &[0xFF; 4096],
];

/// Each on a connection of its own. The worker waits longer before each.
async fn survives_frames(frames: &[&[u8]]) {
    survives("state_timeout_ms: 200\n", |engine| async move {
        for frame in frames {
            let mut stream = engine.accept().await.into_inner();
            let _ = stream.write_all(frame).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_frames() {
    survives_frames(&INVALID_FRAMES[..3]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn more_invalid_frames() {
    survives_frames(&INVALID_FRAMES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_close_at_once() {
    survives("", |engine| async move {
        for number in 0..4 {
            let (mut stream, _) = engine.listener.accept().await.unwrap();
            let refusal: &[u8] = match number {
                0 => b"",
                1 => b"HTTP/1.1 503 Service Unavailable\r\n\r\n",
                _ => b"\x16\x03\x01 no HTTP at all\r\n\r\n",
            };
            let _ = stream.write_all(refusal).await;
        }
    })
    .await;
}

/// A frame of a server.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    let mut frame = vec![first];
    if length < 126 {
        frame.push(length);
    } else {
        frame.extend([126, 0, length]);
    }
    frame.extend(payload);
    frame
}

/// A frame of a server with a payload of 1 MiB.
fn frame_of_mib(first: u8) -> Vec<u8> {
    let mut frame = vec![first, 127];
    frame.extend(MIB.to_be_bytes());
    frame.resize(frame.len() + (1 << 20), b'x');
    frame
}
