//! A hub on a port of its own, workers of ours, and a worker made of bare frames.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerProvider, TriggerSpec, TriggerTypeSpec};
use skills_iii::{CallError, Client, ClientOptions, ErrorBody, Hub, HubOptions, MemoryState, Raw};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// The longest any test waits for anything: longer than it takes on a busy machine.
pub const LONG: Duration = Duration::from_mins(2);

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(LONG, future).await;
    waited.unwrap_or_else(|_| panic!("waited too long for {what}"))
}

pub fn raw(value: &Value) -> Raw {
    RawValue::from_string(value.to_string()).unwrap()
}

pub fn value(raw: Option<Raw>) -> Value {
    raw.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap())
}

pub fn options() -> HubOptions {
    HubOptions::new(Arc::new(MemoryState::default()))
}

/// A hub that is being served.
pub struct Served {
    pub hub: Hub,
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Served {
    pub async fn start() -> Self {
        Self::with(options()).await
    }

    pub async fn with(options: HubOptions) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), options).await
    }

    pub async fn at(address: SocketAddr, options: HubOptions) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let hub = Hub::new(options);
        let (stop, stopped) = oneshot::channel();
        let serving = hub.clone();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _gone = stopped.await;
            };
            serving.serve(listener, stopped).await;
        });
        Self {
            hub,
            address,
            stop: Some(stop),
            task,
        }
    }

    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// A worker of ours, connected.
    pub async fn worker(&self, name: &str) -> Client {
        let client = Client::connect(&self.url(), quick(name)).unwrap();
        soon("a connection", client.wait_connected()).await.unwrap();
        client
    }

    pub async fn stop(mut self) -> SocketAddr {
        let _ = self.stop.take().unwrap().send(());
        soon("the hub to stop", &mut self.task).await.unwrap();
        self.address
    }
}

pub fn quick(name: &str) -> ClientOptions {
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

/// A function that hands every payload to the test.
pub fn listener() -> (Handler, mpsc::UnboundedReceiver<Value>) {
    let (heard, calls) = mpsc::unbounded_channel();
    let handler = handler(move |payload| {
        heard.send(payload).ok();
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
pub async fn offered(client: &Client, function_id: &str) {
    let ask = json!({ "function_id": function_id });
    let listed = async {
        while client
            .call("engine::functions::info", raw(&ask), LONG)
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
    };
    soon(function_id, listed).await;
}

/// What a provider was told: `+id` or `-id`.
pub struct Notes {
    told: mpsc::UnboundedSender<String>,
    refuse: bool,
}

impl Notes {
    pub fn new(refuse: bool) -> (Arc<Self>, mpsc::UnboundedReceiver<String>) {
        let (told, notes) = mpsc::unbounded_channel();
        (Arc::new(Self { told, refuse }), notes)
    }
}

impl TriggerProvider for Notes {
    fn on_register(&self, trigger: TriggerSpec) -> Result<(), ErrorBody> {
        self.told
            .send(format!(
                "+{} {} {}",
                trigger.id, trigger.function_id, trigger.config
            ))
            .ok();
        if self.refuse {
            Err(ErrorBody::new("no", "not today"))
        } else {
            Ok(())
        }
    }

    fn on_unregister(&self, trigger_id: &str) {
        self.told.send(format!("-{trigger_id}")).ok();
    }
}

/// An id for a call.
pub const ID: &str = "00000000-0000-4000-8000-000000000001";

/// The hub still routes calls.
pub async fn still_works(served: &Served) {
    let name = format!("probe-{}", served.address);
    let probe = served.hub.attach(&name);
    probe.wait_connected().await.unwrap();
    probe.register_function(function(&name), echo());
    let answer = probe.call(&name, raw(&json!([1])), LONG).await.unwrap();
    assert_eq!(value(answer), json!([1]));
    probe.shutdown(LONG).await;
}

/// Calls a function that exists; a failure of its own is an answer too.
pub async fn ask(client: &Client, function_id: &str, data: Value) -> Result<Value, ErrorBody> {
    match client.call(function_id, raw(&data), LONG).await {
        Ok(answer) => Ok(value(answer)),
        Err(CallError::Remote(error)) => Err(error),
        Err(error) => panic!("{function_id}: {error}"),
    }
}

pub fn kind(id: &str) -> TriggerTypeSpec {
    TriggerTypeSpec {
        id: id.to_owned(),
        description: "fires".to_owned(),
        ..Default::default()
    }
}

/// A worker made of bare frames.
pub struct Bare(pub WebSocketStream<TcpStream>);

impl Bare {
    /// Connects and takes the engine's first words.
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
        let mut bare = Self(socket);
        assert_eq!(bare.hear().await["type"], "workerregistered");
        bare
    }

    /// Connects and introduces itself.
    pub async fn named(address: SocketAddr, name: &str) -> Self {
        let mut bare = Self::connect(address).await;
        bare.introduce(name).await;
        bare
    }

    pub async fn introduce(&mut self, name: &str) {
        self.say(&json!({
            "type": "invokefunction", "invocation_id": null,
            "function_id": "engine::workers::register",
            "data": { "name": name, "runtime": "bare" }, "action": { "type": "void" },
        }))
        .await;
    }

    pub async fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string()).await;
    }

    pub async fn say_text(&mut self, text: &str) {
        soon("a frame to leave", self.0.send(Frame::text(text)))
            .await
            .unwrap();
    }

    pub async fn offer(&mut self, id: &str) {
        self.say(&json!({ "type": "registerfunction", "id": id }))
            .await;
    }

    pub async fn call(&mut self, id: &str, function_id: &str, data: &Value) {
        self.say(&json!({
            "type": "invokefunction", "invocation_id": id,
            "function_id": function_id, "data": data,
        }))
        .await;
    }

    /// The next message; pings of the socket are not messages.
    pub async fn hear(&mut self) -> Value {
        loop {
            let frame = soon("a frame", self.0.next()).await;
            match frame.expect("the connection ended").unwrap() {
                Frame::Text(text) => return serde_json::from_str(&text).unwrap(),
                Frame::Close(_) => panic!("the connection was closed"),
                _ => {}
            }
        }
    }

    /// Waits for the end, however it comes.
    pub async fn ended(&mut self) {
        let end = async { while let Some(Ok(_)) = self.0.next().await {} };
        soon("the connection to end", end).await;
    }

    /// Everything said so far has been taken.
    pub async fn settled(&mut self) {
        self.say(&json!({ "type": "ping" })).await;
        while self.hear().await["type"] != "pong" {}
    }
}
