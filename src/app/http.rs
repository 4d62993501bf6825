//! The HTTP listener: whether we are well, and MCP.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::json;
use skills_core::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use skills_access::AccessPolicy;

use skills_mcp::http::check_access;

/// Serves HTTP on `listener` until `stop`, then lets what was asked finish. `mcp` has
/// a door of its own.
pub async fn serve(
    listener: TcpListener,
    registry: Arc<Registry>,
    mcp: Router,
    stop: CancellationToken,
) {
    let router = Router::new()
        .route("/healthz", get(health))
        .layer(middleware::from_fn(refuse_foreign))
        .with_state(registry)
        .merge(mcp);
    // An answer goes out in several writes; the system would hold back all but the first.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers may be late");
        }
    });
    if let Err(error) = axum::serve(listener, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
    {
        tracing::error!(%error, "HTTP ended");
    }
}

async fn health(State(registry): State<Arc<Registry>>) -> Response {
    match registry.skills().await {
        Ok(listing) => {
            let version = env!("CARGO_PKG_VERSION");
            let answer = json!({
                "status": "ok", "version": version,
                "skills": listing.entries.len(), "skipped": listing.skipped.len(),
            });
            Json(answer).into_response()
        }
        Err(error) => {
            let answer = json!({ "status": error.kind().name(), "message": error.to_text() });
            (StatusCode::SERVICE_UNAVAILABLE, Json(answer)).into_response()
        }
    }
}

/// A web page somewhere must not reach this machine's registry through a browser.
async fn refuse_foreign(request: Request, next: Next) -> Response {
    let policy = AccessPolicy::default();
    match check_access(&policy, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => *refused,
    }
}
