//! An error as a page: its message, what to do, and the nearest ids.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use skills_core::{Error, Kind, SkillId};

use crate::Web;
use crate::layout::{Page, Section};
use crate::pages::versions;

/// Why there is no page.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The ids of skills that the reader may have meant.
    pub nearest: Vec<String>,
    /// The skill whose versions are there instead.
    pub versions: Option<SkillId>,
}

impl Problem {
    /// An address without a page.
    pub fn no_page(path: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            message: format!("there is no page at {path}"),
            hint: None,
            nearest: Vec::new(),
            versions: None,
        }
    }

    /// The message and the hint, within a page.
    pub fn in_place(&self) -> Markup {
        html! {
            div.problem role="alert" {
                p { (self.message) }
                @if let Some(hint) = &self.hint { p.hint { (hint) } }
            }
        }
    }

    /// The same as plain text.
    pub fn into_plain(self) -> Response {
        let hint = self.hint.map(|hint| format!(" ({hint})"));
        let text = format!("{}{}", self.message, hint.unwrap_or_default());
        (self.status, text).into_response()
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self {
            status: status(error.kind()),
            message: error.to_string(),
            hint: error.hint(),
            nearest: Vec::new(),
            versions: None,
        }
    }
}

const fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Failed => StatusCode::BAD_GATEWAY,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Kind::Broken => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Handlers return a problem; [`show`] makes a page of it.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// Turns problems into pages.
pub async fn show(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let Some(problem) = response.extensions().get::<Arc<Problem>>() else {
        return response;
    };
    let title = match problem.status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::BAD_REQUEST => "Not valid",
        StatusCode::FORBIDDEN => "Read-only",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => "Not available",
        _ => "That did not work",
    };
    let main = html! {
        h1 { (title) }
        (problem.in_place())
        @if !problem.nearest.is_empty() {
            h2 { @if problem.status == StatusCode::FORBIDDEN { "Read it" } @else { "Did you mean" } }
            ul.plain {
                @for id in &problem.nearest {
                    li { a href=(format!("/skills/{id}")) { code { (id) } } }
                }
            }
        }
        @if let Some(id) = &problem.versions {
            p { a href=(versions::address(id)) { "All versions of " (id) } }
        }
        p { a href="/" { "All skills" } }
    };
    Page::new(title, Section::None, main)
        .live()
        .respond(&web, problem.status)
}
