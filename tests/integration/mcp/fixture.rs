//! A registry with an embedded engine and a data directory of its own, the MCP server of it, and a
//! peer on the engine.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::to_raw_value;
use skills::app::EmbeddedRegistry;
use skills::config::{Config, LoadedConfig};
use skills::engine::ClientEngine;
use skills_access::AccessPolicy;
use skills_core::Registry;
use skills_iii::ClientOptions;
use skills_iii::client::{FunctionSpec, Handler};
use skills_mcp::{McpSettings, RegistryServer};
use skills_test_support::engine::Peer;
use skills_test_support::test_client::TestClient;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Fixture {
    pub embedded: EmbeddedRegistry,
    pub peer: Peer,
    pub handler: RegistryServer,
    pub stop: CancellationToken,
    _data: TempDir,
}

impl Fixture {
    pub async fn new() -> Self {
        Self::with(McpSettings::default()).await
    }

    pub async fn with(settings: McpSettings) -> Self {
        Self::with_config(settings, LoadedConfig::default()).await
    }

    /// Serves the markdown below a folder.
    pub async fn with_files(base: &Path) -> Self {
        let config = Config {
            skills: vec!["**/*.md".into()],
            agents: vec!["*.3md".into()],
            prompts: vec!["prompts/*.md".into()],
            ..Config::default()
        };
        let loaded = LoadedConfig {
            config,
            base: base.to_owned(),
            ..LoadedConfig::default()
        };
        Self::with_config(McpSettings::default(), loaded).await
    }

    async fn with_config(settings: McpSettings, loaded: LoadedConfig) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut embedded =
            EmbeddedRegistry::open(data.path(), AccessPolicy::default(), &loaded).unwrap();
        assert!(embedded.ready().await);
        let peer = embedded.hub.attach_with(ClientOptions::named("peer"));
        peer.wait_connected().await.unwrap();
        let engine = Arc::new(ClientEngine::new(embedded.client.clone()));
        let stop = CancellationToken::new();
        let handler = RegistryServer::new(
            Arc::clone(&embedded.registry),
            engine,
            settings,
            stop.clone(),
        );
        Self {
            embedded,
            peer: Peer(peer),
            handler,
            stop,
            _data: data,
        }
    }

    pub fn registry(&self) -> &Registry {
        &self.embedded.registry
    }

    pub async fn register_skill(&self, id: &str, body: &str) {
        let id = id.parse().unwrap();
        self.registry()
            .register_skill(id, body.into())
            .await
            .unwrap();
    }

    /// A client whose session is not initialized.
    pub fn connect(&self) -> TestClient {
        TestClient::serve(self.handler.clone(), self.stop.clone())
    }

    /// A client whose session is initialized with protocol version 2025-06-18.
    pub async fn client(&self) -> TestClient {
        let mut client = self.connect();
        client.initialize("2025-06-18").await;
        client
    }

    /// Registers a function that `spec` describes, and waits until the engine has it.
    pub async fn register_function(&self, spec: Value, handler: Handler) {
        let text = |key: &str| spec[key].as_str().map(str::to_owned);
        let raw = |key: &str| spec.get(key).map(|value| to_raw_value(value).unwrap());
        let spec = FunctionSpec {
            id: text("id").unwrap(),
            description: text("description"),
            request_format: raw("request"),
            response_format: raw("response"),
            metadata: raw("metadata"),
            ..FunctionSpec::default()
        };
        self.peer.register_function_spec(spec, handler).await;
    }
}
