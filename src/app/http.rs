//! The HTTP listener: whether we are well, and MCP.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::json;
use skills_core::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

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
    if is_foreign(request.headers()) {
        let message =
            "only pages and programs of this machine may ask (Host and Origin are checked)";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let foreign_host = text(header::HOST).is_some_and(|host| !is_loopback(host));
    let foreign_origin = text(header::ORIGIN).is_some_and(|origin| {
        !origin
            .split_once("://")
            .is_some_and(|(_, authority)| is_loopback(authority))
    });
    foreign_host || foreign_origin
}

/// Whether `host[:port]` is this machine by a name nobody else can point elsewhere.
fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_by_name() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:49135",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "10.0.0.1",
            "[::2]",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
