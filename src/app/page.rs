//! The web page of `skills serve`: what it needs of the rest of the program.

use std::sync::Arc;

use axum::Router;
use serde_json::json;
use skills_access::AccessPolicy;
use skills_iii::client::Handler;
use skills_mcp::{ClientCard, RegistryServer};
use skills_web::limits::MAX_PAGE_STREAMS;
use skills_web::{Events, McpClient, PageOptions};
use tokio_util::sync::CancellationToken;

use super::embedded_registry::EmbeddedRegistry;
use super::triggers::subscribe;

/// The routes of the page, until `stop`. It shows the clients of `server`, and may keep some of the
/// connections open.
pub fn router(
    local: &EmbeddedRegistry,
    access: &AccessPolicy,
    server: RegistryServer,
    worker_url: String,
    max_connections: usize,
    stop: &CancellationToken,
) -> Router {
    let events = Events::new(MAX_PAGE_STREAMS.min(max_connections / 4), stop.clone());
    let told = events.clone();
    let functions_changed: Handler = Arc::new(move |_| {
        told.functions_changed();
        Box::pin(std::future::ready(Ok(None)))
    });
    subscribe(
        &local.client,
        "page-functions-changed",
        "engine::functions-available",
        &json!({}),
        functions_changed,
    );
    skills_web::router(PageOptions {
        registry: Arc::clone(&local.registry),
        access: access.clone(),
        version: env!("CARGO_PKG_VERSION"),
        events,
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
