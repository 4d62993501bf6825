//! Engines: one in the test's own process with a worker on it, and `skills serve`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use skills_iii::client::{FunctionSpec, Handler};
use skills_iii::{Client, ClientOptions, Hub, HubOptions, MemoryState};
use tokio::net::TcpListener;

use super::transcript::Transcript;

/// An engine with state in memory that lives as long as this value.
pub struct Engine {
    hub: Hub,
    pub url: String,
    serving: tokio::task::JoinHandle<()>,
}

impl Engine {
    pub async fn start() -> Self {
        Self::with_token(None).await
    }

    /// One that lets only those in who know the token.
    pub async fn with_token(token: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        let mut options = HubOptions::new(Arc::new(MemoryState::default()));
        options.access.token = token.map(str::to_owned);
        let hub = Hub::new(options);
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
        // CommandOutput in order on one link: whoever asks later finds them.
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

/// `skills serve` on the data directory of a session.
pub struct Serve {
    child: std::process::Child,
    pub url: String,
}

impl Serve {
    pub fn start(session: &Transcript) -> Self {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};
        let mut child = Command::new(env!("CARGO_BIN_EXE_skills"))
            .args([
                "serve",
                "--url",
                "ws://127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
            ])
            .args(["--log-format", "json", "--data-dir"])
            .arg(session.path("data"))
            .current_dir(session.path("."))
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.by_ref().map(Result::unwrap).find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            Some(line["workers"].as_str()?.to_owned())
        });
        // What it says from here on must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            url: url.expect("it says where it listens"),
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
