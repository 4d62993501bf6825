//! `GET /metrics`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use skills_access::AccessPolicy;
use skills_core::Registry;
use skills_iii::Hub;
use skills_mcp::RegistryServer;
use skills_mcp::http::check_access;

use super::metrics::{CONTENT_TYPE, Gauges, Metrics};
use super::sources::FileCounts;

/// What `/metrics` is answered from.
#[derive(Clone)]
pub struct MetricsRoute {
    /// What was counted.
    pub metrics: Arc<Metrics>,
    /// The engine, with its workers.
    pub hub: Hub,
    /// The server of MCP clients.
    pub server: RegistryServer,
    /// The registry.
    pub registry: Arc<Registry>,
    /// What the last walk found.
    pub files: Arc<FileCounts>,
    /// Where the database is.
    pub data_dir: PathBuf,
    /// Who may connect.
    pub access: AccessPolicy,
}

impl MetricsRoute {
    /// Serves `/metrics`.
    pub fn router(self) -> Router {
        Router::new().route("/metrics", get(show)).with_state(self)
    }
}

/// No walk of files: their numbers are known.
async fn show(State(route): State<MetricsRoute>, uri: Uri, headers: HeaderMap) -> Response {
    if let Err(refusal) = check_access(&route.access, &uri, &headers) {
        return *refusal;
    }
    let registered = route.registry.sizes().await.ok();
    let damaged = route.registry.registered_skill_counts().await;
    let files = &route.files;
    let skipped = files.skipped.load(Ordering::Relaxed);
    let gauges = Gauges {
        workers: route.hub.worker_count(),
        sessions: route.server.clients().len(),
        registered,
        files: [&files.skills, &files.prompts].map(|count| count.load(Ordering::Relaxed)),
        not_served: skipped + damaged.map_or(0, |(_, damaged)| damaged),
        data_dir: route.data_dir,
    };
    let reads = |from| route.registry.reads(from);
    let text = route.metrics.to_text(reads, &gauges);
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}
