//! Clients that use a server as no client should. Each runs until it is dropped, and connects again
//! when it is disconnected.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;
use uuid::Uuid;

use crate::raw_socket::{
    RawSocket, call, frame_header, introduction, json_frame, ping_frame, text_frame, void_call,
};

/// The pause before an abuser connects again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);
/// The scope of state that abusers write to.
const SCOPE: &str = "abuse";
const MIB: usize = 1 << 20;

/// Where a server listens.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// For workers.
    pub workers: SocketAddr,
    /// For HTTP.
    pub http: SocketAddr,
}

type Attempt = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// One kind of abuse.
pub struct Abuse {
    /// Its name.
    pub name: &'static str,
    /// How many clients do it.
    pub clients: usize,
    /// What a client does on one connection.
    attempt: fn(Target) -> Attempt,
}

macro_rules! abuses {
    ($($name:literal, $clients:literal, $attempt:ident;)*) => {
        &[$(Abuse { name: $name, clients: $clients, attempt: |target| Box::pin($attempt(target)) }),*]
    };
}

/// Every kind of abuse.
pub const ABUSES: &[Abuse] = abuses![
    "pipelined-flood", 1, pipelined_flood;
    "unread-pongs", 1, unread_pongs;
    "unread-telemetry-pongs", 1, unread_telemetry_pongs;
    "void-updates", 1, void_updates;
    "many-triggers", 1, many_triggers;
    "unlimited-lists", 1, unlimited_lists;
    "bad-frames", 1, bad_frames;
    "announced-frames", 64, announced_frames;
    "silent-sockets", 1100, silent_socket;
    "silent-http", 1100, silent_http;
    "deaf-readers", 12, deaf_reader;
    "slow-bodies", 200, slow_body;
    "large-client-names", 60, large_client_name;
    "reconnect-storm", 100, connect_and_drop;
];

/// The abuse of this name.
pub fn named(name: &str) -> Option<&'static Abuse> {
    ABUSES.iter().find(|abuse| abuse.name == name)
}

impl Abuse {
    /// Abuses the server until it is dropped.
    pub async fn run(&'static self, target: Target) {
        let mut clients = JoinSet::new();
        for _ in 0..self.clients {
            clients.spawn(async move {
                loop {
                    // Being disconnected is the expected end of an attempt.
                    let _ = (self.attempt)(target).await;
                    sleep(RECONNECT_PAUSE).await;
                }
            });
        }
        while clients.join_next().await.is_some() {}
    }
}

/// Calls without a pause; the answers are read.
async fn pipelined_flood(target: Target) -> io::Result<()> {
    let socket = RawSocket::connect(target.workers).await?;
    let (mut sender, _reading) = socket.discard_received();
    loop {
        let calls = (0..1000).map(|_| call("skills::resolve", &json!({ "id": "good" })));
        sender
            .write_all(&calls.collect::<Vec<_>>().concat())
            .await?;
    }
}

/// Pings without a pause; nothing is read.
async fn unread_pongs(target: Target) -> io::Result<()> {
    send_pings(RawSocket::connect(target.workers).await?).await
}

async fn unread_telemetry_pongs(target: Target) -> io::Result<()> {
    send_pings(RawSocket::connect_to(target.workers, "/otel").await?).await
}

async fn send_pings(mut socket: RawSocket) -> io::Result<()> {
    let pings = ping_frame().repeat(1000);
    loop {
        socket.send(&pings).await?;
    }
}

/// Updates of 4 MB without a result.
async fn void_updates(target: Target) -> io::Result<()> {
    let socket = RawSocket::connect(target.workers).await?;
    let (mut sender, _reading) = socket.discard_received();
    let value = "x".repeat(4_000_000);
    loop {
        // Few keys, so that the disk does not fill.
        for key in 0..4 {
            let set = json!({ "type": "set", "path": "", "value": value });
            let data = json!({ "scope": SCOPE, "key": format!("void-{key}"), "ops": [set] });
            sender.write_all(&void_call("state::update", &data)).await?;
        }
    }
}

/// 3,000 triggers, and values of 1 MB that fire them.
async fn many_triggers(target: Target) -> io::Result<()> {
    let socket = RawSocket::connect(target.workers).await?;
    let (mut sender, _reading) = socket.discard_received();
    let function = format!("abuse::{}", Uuid::new_v4());
    let mut messages = introduction(&function);
    messages.extend(json_frame(
        &json!({ "type": "registerfunction", "id": function }),
    ));
    for _ in 0..3000 {
        messages.extend(json_frame(
            &json!({ "type": "registertrigger", "id": Uuid::new_v4(),
            "trigger_type": "state", "function_id": function, "config": { "scope": SCOPE } }),
        ));
    }
    sender.write_all(&messages).await?;
    let value = "x".repeat(MIB);
    let set = json!({ "scope": SCOPE, "key": "fires", "value": value });
    loop {
        sender.write_all(&call("state::set", &set)).await?;
    }
}

/// Lists of 16 MB without a limit and without a pause.
async fn unlimited_lists(target: Target) -> io::Result<()> {
    let socket = RawSocket::connect(target.workers).await?;
    let (mut sender, _reading) = socket.discard_received();
    sender.write_all(&rows_of_16_mib()).await?;
    loop {
        let list = call("state::list", &json!({ "scope": SCOPE }));
        sender.write_all(&list).await?;
    }
}

fn rows_of_16_mib() -> Vec<u8> {
    let value = "x".repeat(MIB);
    let row = |key: usize| {
        let data = json!({ "scope": SCOPE, "key": format!("row-{key}"), "value": value });
        void_call("state::set", &data)
    };
    (0..16).flat_map(row).collect()
}

/// Frames that are not messages, without a pause.
async fn bad_frames(target: Target) -> io::Result<()> {
    let mut socket = RawSocket::connect(target.workers).await?;
    let frames = text_frame("{ not a message").repeat(1000);
    loop {
        socket.send(&frames).await?;
    }
}

/// The header of a frame of 255 MB, and then nothing.
async fn announced_frames(target: Target) -> io::Result<()> {
    let mut socket = RawSocket::connect(target.workers).await?;
    socket.send(&frame_header(0x81, 255_000_000)).await?;
    wait_for_end(socket.split().0).await
}

/// A connection without a handshake.
async fn silent_socket(target: Target) -> io::Result<()> {
    wait_for_end(TcpStream::connect(target.workers).await?).await
}

/// A connection without a request.
async fn silent_http(target: Target) -> io::Result<()> {
    wait_for_end(TcpStream::connect(target.http).await?).await
}

async fn wait_for_end(mut stream: impl AsyncReadExt + Unpin) -> io::Result<()> {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).await? > 0 {}
    Ok(())
}

/// Asks for much and reads nothing.
async fn deaf_reader(target: Target) -> io::Result<()> {
    let mut socket = RawSocket::connect(target.workers).await?;
    socket.send(&rows_of_16_mib()).await?;
    for _ in 0..64 {
        socket
            .send(&call("state::list", &json!({ "scope": SCOPE })))
            .await?;
    }
    // Sends on, so that it is noticed when the server disconnects.
    loop {
        sleep(Duration::from_secs(1)).await;
        socket.send(&text_frame(r#"{"type":"ping"}"#)).await?;
    }
}

/// A body of which the last bytes arrive one by one.
async fn slow_body(target: Target) -> io::Result<()> {
    let length = 9_000_000;
    let mut stream = TcpStream::connect(target.http).await?;
    stream
        .write_all(mcp_head(target.http, length).as_bytes())
        .await?;
    stream.write_all(&vec![b' '; length - 1000]).await?;
    for _ in 0..999 {
        sleep(Duration::from_millis(500)).await;
        stream.write_all(b" ").await?;
    }
    Ok(())
}

/// A session whose client has a name of 9 MB.
async fn large_client_name(target: Target) -> io::Result<()> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "x".repeat(9_000_000), "version": "1" } } });
    let body = body.to_string();
    let mut stream = TcpStream::connect(target.http).await?;
    stream
        .write_all(mcp_head(target.http, body.len()).as_bytes())
        .await?;
    stream.write_all(body.as_bytes()).await?;
    wait_for_end(stream).await
}

fn mcp_head(address: SocketAddr, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// A worker that connects, registers and leaves.
async fn connect_and_drop(target: Target) -> io::Result<()> {
    let mut socket = RawSocket::connect(target.workers).await?;
    let name = format!("storm-{}", Uuid::new_v4());
    socket.send(&introduction(&name)).await?;
    let function = json_frame(&json!({ "type": "registerfunction", "id": name }));
    socket.send(&function).await
}

/// Abuses a server as the process of its own that `arguments` describe: the name of an abuse, the
/// address for workers and the one for HTTP. Returns false if they describe none.
///
/// A process of its own, so that the abuser does not take the time of the client that is measured.
pub fn run_as_process(arguments: &[String]) -> bool {
    let [name, workers, http] = arguments else {
        return false;
    };
    let (Some(abuse), Ok(workers), Ok(http)) = (named(name), workers.parse(), http.parse()) else {
        return false;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .unwrap()
        .block_on(abuse.run(Target { workers, http }));
    true
}
