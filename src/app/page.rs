//! The web page of `skills serve`: what it needs of the rest of the program.

use std::sync::Arc;

use axum::Router;
use skills_access::AccessPolicy;
use skills_core::Registry;
use skills_mcp::{ClientCard, RegistryServer};
use skills_web::limits::MAX_PAGE_STREAMS;
use skills_web::{McpClient, PageOptions};
use tokio_util::sync::CancellationToken;

/// The routes of the page, until `stop`. It shows the clients of `server`, and may keep some of the
/// connections open.
pub fn router(
    registry: &Arc<Registry>,
    access: &AccessPolicy,
    server: RegistryServer,
    worker_url: String,
    max_connections: usize,
    stop: &CancellationToken,
) -> Router {
    skills_web::router(PageOptions {
        registry: Arc::clone(registry),
        access: access.clone(),
        version: env!("CARGO_PKG_VERSION"),
        max_streams: MAX_PAGE_STREAMS.min(max_connections / 4),
        stop: stop.clone(),
        worker_url,
        mcp_clients: Box::new(move || server.clients().into_iter().map(shown).collect()),
    })
}

fn shown(client: ClientCard) -> McpClient {
    McpClient {
        name: client.name,
        version: client.version,
        connected_for: client.since.elapsed(),
    }
}
