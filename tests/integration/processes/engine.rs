//! An engine in the test's own process, and a worker on it to ask things.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_iii::client::{FunctionSpec, Handler, TriggerSpec};
use skills_iii::{CallError, Client, ClientOptions, Hub, HubOptions, MemoryState, StateStore};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::process::TIMEOUT;

/// An engine, with state in memory unless it is told otherwise.
pub struct Engine {
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    pub url: String,
}

impl Engine {
    /// On an address of the form `127.0.0.1:0`.
    pub async fn start(address: &str) -> Self {
        Self::keeping(address, Arc::new(MemoryState::default())).await
    }

    /// The same with state of its own.
    pub async fn keeping(address: &str, state: Arc<dyn StateStore>) -> Self {
        let listener = timeout(TIMEOUT, listen(address)).await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        let hub = Hub::new(HubOptions::new(state));
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            hub.serve(listener, async { drop(stopped.await) }).await;
        });
        Self {
            stop: Some(stop),
            serving,
            url,
        }
    }

    /// Ends it; its address is free afterwards.
    pub async fn end(mut self) -> String {
        drop(self.stop.take());
        timeout(TIMEOUT, &mut self.serving).await.unwrap().unwrap();
        self.url.strip_prefix("ws://").unwrap().to_owned()
    }
}

/// Another test may be starting a program: until that runs, it holds every socket of this
/// process, and an address that was let go is still taken.
async fn listen(address: &str) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            listener => return listener.unwrap(),
        }
    }
}

/// Somebody on the engine.
pub struct Peer(pub Client);

impl Peer {
    pub async fn connect(url: &str, name: &str) -> Self {
        let client = Client::connect(url, ClientOptions::named(name)).unwrap();
        timeout(TIMEOUT, client.wait_connected())
            .await
            .unwrap()
            .unwrap();
        Self(client)
    }

    pub async fn call(&self, function: &str, payload: Value) -> Result<Value, String> {
        let payload = to_raw_value(&payload).unwrap();
        match self.0.call(function, payload, TIMEOUT).await {
            Ok(answer) => {
                Ok(answer.map_or(Value::Null, |a| serde_json::from_str(a.get()).unwrap()))
            }
            Err(CallError::Remote(body)) => Err(format!("{}: {}", body.code, body.message)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Calls until it works: the function may be about to be offered.
    pub async fn call_soon(&self, function: &str, payload: Value) -> Value {
        let tried = timeout(TIMEOUT, async {
            loop {
                match self.call(function, payload.clone()).await {
                    Ok(answer) => return answer,
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        });
        tried.await.expect("it is offered in the end")
    }

    pub async fn register(&self, id: &str, skill: &str) -> Value {
        self.call("skills::register", json!({ "id": id, "skill": skill }))
            .await
            .unwrap()
    }

    pub async fn ids(&self) -> Vec<String> {
        let list = self.call("skills::list", json!({})).await.unwrap();
        let id = |skill: &Value| skill["id"].as_str().unwrap().to_owned();
        list["skills"].as_array().unwrap().iter().map(id).collect()
    }

    pub async fn read(&self, uri: &str) -> Result<String, String> {
        let answer = self
            .call("skills::resources-read", json!({ "uri": uri }))
            .await?;
        Ok(answer["contents"][0]["text"].as_str().unwrap().to_owned())
    }

    /// Offers a function, and waits until the engine has it.
    pub async fn offer_now(&self, id: &str, handler: Handler) {
        self.offer(id, handler);
        self.call_soon("engine::functions::info", json!({ "function_id": id }))
            .await;
    }

    pub fn offer(&self, id: &str, handler: Handler) {
        self.0.register_function(
            FunctionSpec {
                id: id.into(),
                ..FunctionSpec::default()
            },
            handler,
        );
    }

    /// Subscribes to a trigger type; the notices arrive in the receiver.
    pub fn subscribe(&self, trigger_type: &str, function: &str) -> mpsc::UnboundedReceiver<Value> {
        let (heard, notices) = mpsc::unbounded_channel();
        self.offer(
            function,
            Arc::new(move |payload| {
                let _ = heard.send(serde_json::from_str(payload.get()).unwrap());
                Box::pin(std::future::ready(Ok(None)))
            }),
        );
        self.0.register_trigger(TriggerSpec {
            id: uuid::Uuid::new_v4().to_string(),
            trigger_type: trigger_type.into(),
            function_id: function.into(),
            config: to_raw_value(&json!({})).unwrap(),
            metadata: None,
        });
        notices
    }
}

/// The next notice, without what the engine adds.
pub async fn next(notices: &mut mpsc::UnboundedReceiver<Value>) -> Value {
    let mut notice = timeout(TIMEOUT, notices.recv())
        .await
        .expect("a notice in time")
        .unwrap();
    notice.as_object_mut().unwrap().remove("_caller_worker_id");
    notice
}
