//! The pages, one file each.

mod connect;
mod delete;
mod edit;
mod editor;
mod file;
mod folder;
mod functions;
mod health;
mod new;
pub mod origin;
mod prompts;
mod route;
mod search;
pub mod sign_in;
mod skill;
mod skill_links;
mod version;
pub mod versions;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::routing::{get, post};

use crate::problem::Problem;
use crate::{Web, assets, events};

/// The first segments of all addresses of the page.
pub const FIRST_SEGMENTS: &[&str] = &[
    "assets",
    "connect",
    "delete",
    "edit",
    "events",
    "files",
    "functions",
    "health",
    "new",
    "prompts",
    "raw",
    "route",
    "search",
    "sign-in",
    "sign-out",
    "skills",
    "tree",
    "versions",
];

/// Every address of the page.
pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/", get(folder::home))
        .route("/skills/", get(folder::home))
        .route("/skills/{*path}", get(skill::show))
        .route("/new", get(new::show).post(new::write))
        .route("/edit/{*path}", get(edit::show).post(edit::write))
        .route("/delete/{*path}", get(delete::show).post(delete::write))
        .route(
            "/versions/{*path}",
            get(versions::show).post(version::bring_back),
        )
        .route("/events", get(events::serve))
        .route("/tree", get(folder::fragment))
        .route("/search", get(search::show))
        .route("/search/results", get(search::fragment))
        .route("/route", get(route::show))
        .route("/prompts", get(prompts::list))
        .route("/prompts/{name}", get(prompts::show).post(prompts::render))
        .route("/functions", get(functions::list))
        .route("/functions/{*id}", get(functions::show))
        .route("/health", get(health::show))
        .route("/connect", get(connect::show))
        .route("/files/{*path}", get(file::show))
        .route("/raw/{*path}", get(file::raw))
        .route("/assets/{name}", get(assets::serve))
        .route(sign_in::PATH, get(sign_in::show).post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .fallback(not_found)
}

/// Any other address.
async fn not_found(State(web): State<Arc<Web>>, uri: Uri) -> Result<(), Problem> {
    let tree = web.tree().await?;
    let path = uri.path();
    Err(Problem {
        nearest: tree.nearest(path.trim_matches('/')),
        ..Problem::no_page(path)
    })
}
