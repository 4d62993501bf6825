//! A registry on an engine in this process, its data in a directory of its own, and
//! workers on it.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills::app::{LocalRegistry, Stay};
use skills::config::LoadedConfig;
use skills::engine::ClientEngine;
use skills_core::Registry;
use skills_iii::client::{FunctionSpec, Handler as Function};
use skills_iii::{Client, ClientOptions, ErrorBody};
use skills_mcp::{McpSettings, RegistryServer};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::test_client::TestClient;

pub struct Fixture {
    pub home: LocalRegistry,
    pub worker: Client,
    pub handler: RegistryServer,
    pub stop: CancellationToken,
    _data: TempDir,
}

impl Fixture {
    pub async fn open() -> Self {
        Self::with(McpSettings::default()).await
    }

    pub async fn with(settings: McpSettings) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut home = LocalRegistry::open(
            data.path(),
            None,
            &LoadedConfig::default(),
            None,
            Stay::Long,
        )
        .unwrap();
        assert!(home.ready().await);
        let worker = home
            .embedded
            .hub
            .attach_with(ClientOptions::named("worker"));
        worker.wait_connected().await.unwrap();
        let engine = Arc::new(ClientEngine::new(home.client.clone()));
        let stop = CancellationToken::new();
        let handler =
            RegistryServer::new(Arc::clone(&home.registry), engine, settings, stop.clone());
        Self {
            home,
            worker,
            handler,
            stop,
            _data: data,
        }
    }

    pub fn registry(&self) -> &Registry {
        &self.home.registry
    }

    pub async fn skill(&self, id: &str, body: &str) {
        let id = id.parse().unwrap();
        self.registry()
            .register_skill(id, body.into())
            .await
            .unwrap();
    }

    /// A client that does not say hello.
    pub fn connect(&self) -> TestClient {
        TestClient::with(self.handler.clone(), self.stop.clone())
    }

    /// A client of the old lifecycle, initialized.
    pub async fn client(&self) -> TestClient {
        let mut client = self.connect();
        client.initialize("2025-06-18").await;
        client
    }

    /// Offers a function and waits until the engine has it.
    pub async fn offer(&self, spec: Value, function: Function) {
        let text = |key: &str| spec[key].as_str().map(str::to_owned);
        let raw = |key: &str| spec.get(key).map(|value| to_raw_value(value).unwrap());
        let id = text("id").unwrap();
        self.worker.register_function(
            FunctionSpec {
                id: id.clone(),
                description: text("description"),
                request_format: raw("request"),
                response_format: raw("response"),
                metadata: raw("metadata"),
            },
            function,
        );
        // Registrations and calls of one worker are taken in order.
        let asked = to_raw_value(&json!({ "function_id": id })).unwrap();
        let known = self.worker.call(
            "engine::functions::info",
            asked,
            super::test_client::TIMEOUT,
        );
        known.await.unwrap();
    }

    /// Offers a function that always answers the same.
    pub async fn answers(&self, id: &str, answer: Value) {
        self.offer(json!({ "id": id }), always(answer)).await;
    }
}

pub fn always(answer: Value) -> Function {
    Arc::new(move |_| {
        let answer = to_raw_value(&answer).unwrap();
        Box::pin(std::future::ready(Ok(Some(answer))))
    })
}

pub fn echo() -> Function {
    Arc::new(|payload| Box::pin(std::future::ready(Ok(Some(payload)))))
}

pub fn failing(code: &str, message: &str) -> Function {
    let error = ErrorBody::new(code, message);
    Arc::new(move |_| Box::pin(std::future::ready(Err(error.clone()))))
}
