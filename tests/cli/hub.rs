//! An engine in the test's own process, and a worker on it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use skills_iii::client::{FunctionSpec, Handler};
use skills_iii::{Client, ClientOptions, Hub, HubOptions, MemoryState};
use tokio::net::TcpListener;

/// An engine with state in memory that lives as long as this value.
pub struct Engine {
    hub: Hub,
    pub url: String,
    serving: tokio::task::JoinHandle<()>,
}

impl Engine {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        let hub = Hub::new(HubOptions::new(Arc::new(MemoryState::default())));
        let served = hub.clone();
        let serving = tokio::spawn(async move {
            served.serve(listener, std::future::pending()).await;
        });
        Self { hub, url, serving }
    }

    /// A worker that offers `functions`; `None` is one that never answers.
    pub async fn worker(&self, functions: &[(&str, Option<Value>)]) -> Client {
        let client = self.hub.attach_with(ClientOptions::named("a-worker"));
        client.wait_connected().await.unwrap();
        for (id, answer) in functions {
            let answer = answer.as_ref().map(|answer| to_raw_value(answer).unwrap());
            let handler: Handler = Arc::new(move |_| {
                let answer = answer.clone();
                Box::pin(async move {
                    match answer {
                        Some(answer) => Ok(Some(answer)),
                        None => std::future::pending().await,
                    }
                })
            });
            let id = (*id).to_owned();
            let spec = FunctionSpec {
                id,
                ..FunctionSpec::default()
            };
            client.register_function(spec, handler);
        }
        // Said in order on one link: whoever asks later finds them.
        let nothing = RawValue::from_string("{}".into()).unwrap();
        let long = Duration::from_secs(30);
        client
            .call("engine::functions::list", nothing, long)
            .await
            .unwrap();
        client
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
