//! An engine in the test's own process, and peers connected to it.

use std::future::ready;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::state::StoreOptions;
use skills_iii::{CallError, Client, ClientOptions, Hub, HubOptions, SqliteState};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::TIMEOUT;

/// The time between two attempts where nothing reports the event that is waited for.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// An engine on a loopback port, stopped when dropped.
pub struct TestEngine {
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    _dir: TempDir,
    /// Where workers connect.
    pub url: String,
}

impl TestEngine {
    /// On a free port.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0").await
    }

    /// On this address.
    pub async fn start_at(address: &str) -> Self {
        Self::serve(address, |_| {}).await
    }

    /// On a free port, with state that is closed: every read and write fails.
    pub async fn without_state() -> Self {
        Self::serve("127.0.0.1:0", |options| options.state.close()).await
    }

    /// On a free port, for workers that have the token.
    pub async fn with_token(token: &str) -> Self {
        let token = Some(token.to_owned());
        Self::serve("127.0.0.1:0", |options| options.access.token = token).await
    }

    async fn serve(address: &str, change: impl FnOnce(&mut HubOptions)) -> Self {
        let listener = timeout(TIMEOUT, listen(address)).await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        let dir = tempfile::tempdir().unwrap();
        let state = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        let mut options = HubOptions::new(Arc::new(state));
        change(&mut options);
        let hub = Hub::new(options);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            hub.serve(listener, async { drop(stopped.await) }).await;
        });
        Self {
            stop: Some(stop),
            serving,
            _dir: dir,
            url,
        }
    }

    /// Stops it and returns its address, which is free afterwards.
    pub async fn stop(mut self) -> String {
        drop(self.stop.take());
        timeout(TIMEOUT, &mut self.serving).await.unwrap().unwrap();
        self.url.strip_prefix("ws://").unwrap().to_owned()
    }

    /// Connects a peer.
    pub async fn peer(&self, name: &str) -> Peer {
        Peer::connect(&self.url, name).await
    }
}

/// A process that another test is starting holds every socket of this process until it runs, so an
/// address that was closed can still be in use.
async fn listen(address: &str) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            listener => return listener.unwrap(),
        }
    }
}

/// A worker that calls and registers functions.
pub struct Peer(pub Client);

impl Peer {
    /// Connects to the engine at `url`.
    pub async fn connect(url: &str, name: &str) -> Self {
        let client = Client::connect(url, ClientOptions::named(name)).unwrap();
        let connected = timeout(TIMEOUT, client.wait_connected()).await;
        connected.unwrap().unwrap();
        Self(client)
    }

    /// Calls a function; an error is its code and message.
    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, String> {
        let payload = to_raw_value(&payload).unwrap();
        match self.0.call(function, payload, TIMEOUT).await {
            Ok(result) => {
                Ok(result.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap()))
            }
            Err(CallError::Remote(body)) => Err(format!("{}: {}", body.code, body.message)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Calls a function until it succeeds, for one that is about to be registered.
    pub async fn call_until_ok(&self, function: &str, payload: Value) -> Value {
        let succeeded = timeout(TIMEOUT, async {
            loop {
                match self.call(function, payload.clone()).await {
                    Ok(result) => return result,
                    Err(_) => tokio::time::sleep(RETRY_INTERVAL).await,
                }
            }
        });
        succeeded.await.expect("the function is registered")
    }

    /// Registers a skill.
    pub async fn register_skill(&self, id: &str, skill: &str) -> Value {
        let payload = json!({ "id": id, "skill": skill });
        self.call("skills::register", payload).await.unwrap()
    }

    /// The ids of all skills.
    pub async fn skill_ids(&self) -> Vec<String> {
        let list = self.call("skills::list", json!({})).await.unwrap();
        let id = |skill: &Value| skill["id"].as_str().unwrap().to_owned();
        list["skills"].as_array().unwrap().iter().map(id).collect()
    }

    /// Reads a resource.
    pub async fn read(&self, uri: &str) -> Result<String, String> {
        let payload = json!({ "uri": uri });
        let result = self.call("skills::resources-read", payload).await?;
        Ok(result["contents"][0]["text"].as_str().unwrap().to_owned())
    }

    /// Registers a function and waits until the engine has it.
    pub async fn register_function(&self, id: &str, handler: Handler) {
        let spec = FunctionSpec {
            id: id.into(),
            ..FunctionSpec::default()
        };
        self.register_function_spec(spec, handler).await;
    }

    /// Registers a function with its description and schemas, and waits until the engine has it.
    pub async fn register_function_spec(&self, spec: FunctionSpec, handler: Handler) {
        let id = spec.id.clone();
        self.0.register_function(spec, handler);
        // The engine handles the messages of one worker in order.
        let info = json!({ "function_id": id });
        self.call("engine::functions::info", info).await.unwrap();
    }

    /// Subscribes `function` to a trigger type; its events arrive in the receiver.
    pub fn subscribe(&self, trigger_type: &str, function: &str) -> mpsc::UnboundedReceiver<Value> {
        let (sender, events) = mpsc::unbounded_channel();
        let spec = FunctionSpec {
            id: function.into(),
            ..FunctionSpec::default()
        };
        let handler: Handler = Arc::new(move |payload| {
            let _ = sender.send(serde_json::from_str(payload.get()).unwrap());
            Box::pin(ready(Ok(None)))
        });
        self.0.register_function(spec, handler);
        self.0.register_trigger(TriggerSpec {
            id: uuid::Uuid::new_v4().to_string(),
            trigger_type: trigger_type.into(),
            function_id: function.into(),
            config: to_raw_value(&json!({})).unwrap(),
            metadata: None,
            ..TriggerSpec::default()
        });
        events
    }
}

/// The next event, without the field that the engine adds.
pub async fn next_event(events: &mut mpsc::UnboundedReceiver<Value>) -> Value {
    let event = timeout(TIMEOUT, events.recv()).await;
    let mut event = event.expect("an event in time").unwrap();
    event.as_object_mut().unwrap().remove("_caller_worker_id");
    event
}
