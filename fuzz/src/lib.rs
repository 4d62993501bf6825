//! What the fuzz targets share: a runtime, and registries to send input to.

use std::future::Future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memory_engine::Memory;
use serde_json::json;
use skills_core::{Engine, Registry, RegistrySettings};
use skills_mcp::{McpSettings, RegistryServer};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Input that takes longer than this is a finding.
const TIMEOUT: Duration = Duration::from_secs(10);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(async { timeout(TIMEOUT, future).await.expect("an end in time") })
}

/// A registry on an engine in memory, with one skill.
pub fn registry(engine: &Memory) -> Registry {
    let row = json!({ "id": "a", "skill": "# A\n\nText.", "registered_at": "t" });
    engine.put("skills", "a", &row);
    let settings = RegistrySettings {
        skills_scope: "skills".into(),
        prompts_scope: "prompts".into(),
        timeout: Duration::from_secs(1),
        ..RegistrySettings::default()
    };
    let link: Arc<dyn Engine> = engine.connect();
    Registry::new(link, Vec::new(), settings, || "2026-01-01T00:00:00Z".into())
}

/// The MCP server of a registry. Must be called inside the runtime.
pub fn mcp_server() -> RegistryServer {
    let engine = Memory::new();
    let registry = Arc::new(registry(&engine));
    let link: Arc<dyn Engine> = engine.connect();
    RegistryServer::new(registry, link, McpSettings::default(), CancellationToken::new())
}
