//! The HTTP listener: `/healthz`, MCP and the web page.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use skills_access::{AccessPolicy, Connections, Refusal};
use skills_core::{Kind, Registry};
use skills_iii::SqliteState;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::sources::FileCounts;

/// What `/healthz` is answered from.
#[derive(Clone)]
pub struct Health {
    /// The registry.
    pub registry: Arc<Registry>,
    /// Its state.
    pub store: Arc<SqliteState>,
    /// What the last walk found.
    pub files: Arc<FileCounts>,
    /// Who may connect, and who sees the details.
    pub access: AccessPolicy,
}

/// Serves HTTP on `listener` until `stop`, then lets requests in progress finish.
pub async fn serve(
    listener: TcpListener,
    health: Health,
    routes: Router,
    connections: Arc<Connections>,
    stop: CancellationToken,
) {
    let all = Router::new()
        .route("/healthz", get(healthz))
        .with_state(health)
        .merge(routes);
    skills_mcp::http::serve(listener, all, connections, stop).await;
}

/// Constant time: counts that are known, and no walk. Details need the token, if there is
/// one.
async fn healthz(State(health): State<Health>, uri: Uri, headers: HeaderMap) -> Response {
    let details = match health.access.check(&uri, &headers) {
        Ok(()) => true,
        Err(Refusal::Token) => false,
        Err(refusal) => return (refusal.status(), refusal.to_string()).into_response(),
    };
    let counts = health.registry.registered_skill_counts().await;
    let counts = counts.map_err(|error| (error.kind(), error.to_text()));
    let problem = health.store.write_problem();
    let problem = problem.map(|error| (Kind::Unavailable, error.with_cause_and_hint()));
    match problem.map_or(counts, Err) {
        Ok((registered, damaged)) => {
            let mut body = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
            if details {
                let FileCounts {
                    skills, skipped, ..
                } = &*health.files;
                body["skills"] = json!(registered + skills.load(Ordering::Relaxed));
                body["skipped"] = json!(damaged + skipped.load(Ordering::Relaxed));
            }
            Json(body).into_response()
        }
        Err((kind, message)) => {
            let mut body = json!({ "status": kind.name() });
            if details {
                body["message"] = json!(message);
            }
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::Value;
    use serde_json::value::to_raw_value;
    use skills_core::{
        Error, FoundDocument, Listing, Origin, Pending, PromptName, PromptText, SkillId, Source,
        SourcePrompt, SourceSkill,
    };

    use super::*;
    use crate::config::LoadedConfig;
    use crate::engine::LocalEngine;
    use skills_iii::state::StoreOptions;

    /// A source that must not be read.
    struct Unread;

    impl Source for Unread {
        fn skills(&self) -> Pending<'_, Result<Listing<SourceSkill>, Error>> {
            panic!("the skills were listed");
        }

        fn skill<'a>(&'a self, _: &'a SkillId) -> Pending<'a, Result<Option<Arc<str>>, Error>> {
            panic!("a skill was read");
        }

        fn document<'a>(
            &'a self,
            _: &'a SkillId,
            _: Origin,
        ) -> Pending<'a, Result<Option<FoundDocument>, Error>> {
            panic!("a document was read");
        }

        fn prompt_place<'a>(
            &'a self,
            _: &'a PromptName,
        ) -> Pending<'a, Result<Option<String>, Error>> {
            panic!("a prompt was looked for");
        }

        fn prompts(&self) -> Pending<'_, Result<Listing<SourcePrompt>, Error>> {
            panic!("the prompts were listed");
        }

        fn prompt<'a>(
            &'a self,
            _: &'a PromptName,
            _: &'a serde_json::Map<String, Value>,
        ) -> Pending<'a, Result<Option<PromptText>, Error>> {
            panic!("a prompt was read");
        }
    }

    async fn get_health(health: &Health, token: Option<&str>) -> (StatusCode, Value) {
        let mut headers = HeaderMap::new();
        headers.insert("host", "localhost".parse().unwrap());
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().unwrap();
            headers.insert("authorization", value);
        }
        let response = healthz(State(health.clone()), Uri::from_static("/healthz"), headers).await;
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 16).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn health_reads_no_source_and_shows_details_only_with_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let engine = LocalEngine::open(dir.path()).unwrap();
        let loaded = LoadedConfig::default();
        let sources: Vec<Arc<dyn Source>> = vec![Arc::new(Unread)];
        let registry = super::super::registry(Arc::clone(&engine) as _, &loaded, sources);
        let id = "a".parse().unwrap();
        registry.register_skill(id, "# A".into()).await.unwrap();
        let files = Arc::new(FileCounts::default());
        files.skills.store(2, Ordering::Relaxed);
        files.skipped.store(1, Ordering::Relaxed);
        let store = SqliteState::open(dir.path(), StoreOptions::default()).unwrap();
        let mut health = Health {
            registry,
            store: Arc::new(store),
            files,
            access: AccessPolicy::default(),
        };
        let version = env!("CARGO_PKG_VERSION");
        let brief = json!({ "status": "ok", "version": version });
        let full = json!({ "status": "ok", "version": version, "skills": 3, "skipped": 1 });
        assert_eq!(
            get_health(&health, None).await,
            (StatusCode::OK, full.clone())
        );
        health.access.token = Some("secret".into());
        assert_eq!(
            get_health(&health, None).await,
            (StatusCode::OK, brief.clone())
        );
        assert_eq!(
            get_health(&health, Some("wrong")).await,
            (StatusCode::OK, brief)
        );
        assert_eq!(
            get_health(&health, Some("secret")).await,
            (StatusCode::OK, full)
        );
        engine.store().close();
        let (status, body) = get_health(&health, None).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body, json!({ "status": "unavailable" }));
        let (_, body) = get_health(&health, Some("secret")).await;
        assert!(
            body["message"]
                .as_str()
                .unwrap()
                .contains("count the skills"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn a_full_disk_is_unhealthy_until_a_write_succeeds() {
        let dir = tempfile::tempdir().unwrap();
        let engine = LocalEngine::open(dir.path()).unwrap();
        let registry = super::super::registry(engine, &LoadedConfig::default(), Vec::new());
        let small = StoreOptions {
            max_pages: Some(50),
            log_bytes: 1,
            ..StoreOptions::default()
        };
        let store = Arc::new(SqliteState::open(dir.path(), small).unwrap());
        let health = Health {
            registry,
            store: Arc::clone(&store),
            files: Arc::default(),
            access: AccessPolicy::default(),
        };
        let large = to_raw_value(&"x".repeat(100_000)).unwrap();
        let set = |key: &str| store.set("s".into(), key.into(), large.clone());
        let mut rows = 0;
        while set(&rows.to_string()).await.is_ok() {
            assert_eq!(get_health(&health, None).await.0, StatusCode::OK);
            rows += 1;
        }
        let (status, body) = get_health(&health, None).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(body["status"], "unavailable");
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("no space left to write"), "{message}");
        store.delete("s".into(), "0".into()).await.unwrap();
        assert_eq!(get_health(&health, None).await.0, StatusCode::OK);
    }
}
