//! The HTTP listener: `/healthz` and MCP.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::json;
use skills_access::{AccessPolicy, Refusal};
use skills_core::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::sources::FileCounts;

/// What `/healthz` is answered from.
#[derive(Clone)]
pub struct Health {
    /// The registry.
    pub registry: Arc<Registry>,
    /// What the last walk found.
    pub files: Arc<FileCounts>,
    /// Who may connect, and who sees the details.
    pub access: AccessPolicy,
}

/// Serves HTTP on `listener` until `stop`, then lets requests in progress finish.
pub async fn serve(listener: TcpListener, health: Health, mcp: Router, stop: CancellationToken) {
    let router = Router::new()
        .route("/healthz", get(healthz))
        .with_state(health)
        .merge(mcp);
    // A response takes several writes; Nagle's algorithm would delay all but the first.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
    });
    if let Err(error) = axum::serve(listener, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
    {
        tracing::error!(%error, "HTTP failed");
    }
}

/// Constant time: counts that are known, and no walk. Details need the token, if there is
/// one.
async fn healthz(State(health): State<Health>, uri: Uri, headers: HeaderMap) -> Response {
    let details = match health.access.check(&uri, &headers) {
        Ok(()) => true,
        Err(Refusal::Token) => false,
        Err(refusal) => return (refusal.status(), refusal.to_string()).into_response(),
    };
    match health.registry.registered_skill_counts().await {
        Ok((registered, damaged)) => {
            let mut body = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
            if details {
                let FileCounts { skills, skipped } = &*health.files;
                body["skills"] = json!(registered + skills.load(Ordering::Relaxed));
                body["skipped"] = json!(damaged + skipped.load(Ordering::Relaxed));
            }
            Json(body).into_response()
        }
        Err(error) => {
            let mut body = json!({ "status": error.kind().name() });
            if details {
                body["message"] = json!(error.to_text());
            }
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}
