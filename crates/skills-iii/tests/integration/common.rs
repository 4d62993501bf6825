//! Test helpers: a hub on its own port, workers on it, and a worker that sends raw frames.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_iii::state::StoreOptions;
use skills_iii::{CallError, Client, ClientOptions, ErrorBody, Hub, HubOptions, Raw, SqliteState};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// The timeout of every wait, long enough for a busy machine.
pub const TIMEOUT: Duration = Duration::from_mins(2);

pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(TIMEOUT, future).await;
    waited.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

pub fn raw(value: &Value) -> Raw {
    RawValue::from_string(value.to_string()).unwrap()
}

pub fn value(raw: Option<Raw>) -> Value {
    raw.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap())
}

/// A hub that serves a port.
pub struct TestHub {
    pub hub: Hub,
    pub address: SocketAddr,
    pub state: Arc<SqliteState>,
    _dir: TempDir,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl TestHub {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// With options that differ from the defaults.
    pub async fn with(change: impl FnOnce(&mut HubOptions)) -> Self {
        Self::serve("127.0.0.1:0".parse().unwrap(), change).await
    }

    /// On an address that another hub has left.
    pub async fn at(address: SocketAddr) -> Self {
        Self::serve(address, |_| {}).await
    }

    async fn serve(address: SocketAddr, change: impl FnOnce(&mut HubOptions)) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let state = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        let state = Arc::new(state);
        let mut options = HubOptions::new(Arc::clone(&state));
        change(&mut options);
        let hub = Hub::new(options);
        let (stop, stopped) = oneshot::channel();
        let serving = hub.clone();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            serving.serve(listener, stopped).await;
        });
        Self {
            hub,
            address,
            state,
            _dir: dir,
            stop: Some(stop),
            task,
        }
    }

    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// A connected worker.
    pub async fn worker(&self, name: &str) -> Client {
        let client = Client::connect(&self.url(), fast_options(name)).unwrap();
        in_time("a connection", client.wait_connected())
            .await
            .unwrap();
        client
    }

    pub async fn stop(mut self) -> SocketAddr {
        let _ = self.stop.take().unwrap().send(());
        in_time("the hub to stop", &mut self.task).await.unwrap();
        self.address
    }
}

pub fn fast_options(name: &str) -> ClientOptions {
    let mut options = ClientOptions::named(name);
    options.reconnect = (Duration::from_millis(5), Duration::from_millis(50));
    options
}

pub fn handler<F>(answer: impl Fn(Value) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<Option<Value>, ErrorBody>> + Send + 'static,
{
    Arc::new(move |payload| {
        let answer = answer(serde_json::from_str(payload.get()).unwrap());
        Box::pin(async move { Ok(answer.await?.map(|value| raw(&value))) })
    })
}

pub fn function(id: &str) -> FunctionSpec {
    FunctionSpec {
        id: id.to_owned(),
        ..FunctionSpec::default()
    }
}

pub fn echo() -> Handler {
    handler(|payload| async { Ok(Some(payload)) })
}

/// A handler, and the payloads of its calls.
pub fn recorder() -> (Handler, mpsc::Receiver<Value>) {
    let (payloads, calls) = mpsc::channel(1024);
    let handler = handler(move |payload| {
        payloads.try_send(payload).unwrap();
        async { Ok(None) }
    });
    (handler, calls)
}

pub fn trigger(id: &str, trigger_type: &str, function_id: &str, config: &Value) -> TriggerSpec {
    TriggerSpec {
        id: id.to_owned(),
        trigger_type: trigger_type.to_owned(),
        function_id: function_id.to_owned(),
        config: raw(config),
        metadata: None,
        ..TriggerSpec::default()
    }
}

/// Waits until the hub lists a function.
pub async fn wait_for_function(client: &Client, function_id: &str) {
    let ask = json!({ "function_id": function_id });
    let listed = async {
        while client
            .call("engine::functions::info", raw(&ask), TIMEOUT)
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
    };
    in_time(function_id, listed).await;
}

/// A provider that records its triggers: `+id` or `-id`.
pub struct RecordingProvider {
    records: mpsc::Sender<String>,
    reject: bool,
}

impl RecordingProvider {
    pub fn new(reject: bool) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (records, received) = mpsc::channel(1024);
        (Arc::new(Self { records, reject }), received)
    }
}

impl TriggerProvider for RecordingProvider {
    fn on_register(&self, trigger: TriggerSpec) -> Result<(), ErrorBody> {
        self.records
            .try_send(format!(
                "+{} {} {}",
                trigger.id, trigger.function_id, trigger.config
            ))
            .ok();
        if self.reject {
            Err(ErrorBody::new("no", "not today"))
        } else {
            Ok(())
        }
    }

    fn on_unregister(&self, trigger_id: &str) {
        self.records.try_send(format!("-{trigger_id}")).ok();
    }
}

/// An id of a call.
pub const ID: &str = "00000000-0000-4000-8000-000000000001";

/// Checks that the hub still routes calls.
pub async fn assert_hub_works(hub: &TestHub) {
    let name = format!("probe-{}", hub.address);
    let probe = hub.hub.attach(&name);
    probe.wait_connected().await.unwrap();
    probe.register_function(function(&name), echo());
    let answer = probe.call(&name, raw(&json!([1])), TIMEOUT).await.unwrap();
    assert_eq!(value(answer), json!([1]));
    probe.shutdown(TIMEOUT).await;
}

/// Calls a function that exists; returns its result or its error.
pub async fn call(client: &Client, function_id: &str, data: Value) -> Result<Value, ErrorBody> {
    match client.call(function_id, raw(&data), TIMEOUT).await {
        Ok(answer) => Ok(value(answer)),
        Err(CallError::Remote(error)) => Err(error),
        Err(error) => panic!("{function_id}: {error}"),
    }
}

pub fn trigger_type(id: &str) -> TriggerTypeSpec {
    TriggerTypeSpec {
        id: id.to_owned(),
        description: "fires".to_owned(),
        ..Default::default()
    }
}

/// A worker that sends and receives raw frames.
pub struct RawWorker(pub WebSocketStream<TcpStream>);

impl RawWorker {
    /// Connects and receives the first message of the engine.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let config = tokio_tungstenite::tungstenite::protocol::WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let url = format!("ws://{address}/");
        let (socket, _) = client_async_with_config(url, stream, Some(config))
            .await
            .unwrap();
        let mut raw_worker = Self(socket);
        assert_eq!(raw_worker.receive().await["type"], "workerregistered");
        raw_worker
    }

    /// Connects and introduces itself.
    pub async fn named(address: SocketAddr, name: &str) -> Self {
        let mut raw_worker = Self::connect(address).await;
        raw_worker.introduce(name).await;
        raw_worker
    }

    pub async fn introduce(&mut self, name: &str) {
        self.send_json(&json!({
            "type": "invokefunction", "invocation_id": null,
            "function_id": "engine::workers::register",
            "data": { "name": name, "runtime": "raw_worker" }, "action": { "type": "void" },
        }))
        .await;
    }

    pub async fn send_json(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        in_time("sending a frame", self.0.send(Frame::text(text)))
            .await
            .unwrap();
    }

    pub async fn register(&mut self, id: &str) {
        self.send_json(&json!({ "type": "registerfunction", "id": id }))
            .await;
    }

    pub async fn call(&mut self, id: &str, function_id: &str, data: &Value) {
        self.send_json(&json!({
            "type": "invokefunction", "invocation_id": id,
            "function_id": function_id, "data": data,
        }))
        .await;
    }

    /// The next message. Pings of the socket are skipped.
    pub async fn receive(&mut self) -> Value {
        loop {
            let frame = in_time("a frame", self.0.next()).await;
            match frame.expect("the connection ended").unwrap() {
                Frame::Text(text) => return serde_json::from_str(&text).unwrap(),
                Frame::Close(_) => panic!("the connection was closed"),
                _ => {}
            }
        }
    }

    /// Waits for the end of the connection.
    pub async fn wait_closed(&mut self) {
        let end = async { while let Some(Ok(_)) = self.0.next().await {} };
        in_time("the connection to end", end).await;
    }

    /// Waits until the hub has handled everything sent so far.
    pub async fn flush(&mut self) {
        self.send_json(&json!({ "type": "ping" })).await;
        while self.receive().await["type"] != "pong" {}
    }
}
