//! `/search?q=`: the skills and prompts that a text matches, best first.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use skills_core::{Match, Search, SearchResult};

use crate::Web;
use crate::fields::{Fields, query};
use crate::format::{count, marked};
use crate::layout::{Page, Section};
use crate::problem::Problem;
use crate::response::html as page;

/// How many matches are on a page.
const ON_PAGE: usize = 20;
/// How many matches are shown while a text is typed.
const WHILE_TYPING: usize = 8;

/// `GET /search?q=`.
pub async fn show(State(web): State<Arc<Web>>, uri: Uri) -> Result<Response, Problem> {
    let fields = Fields::of_query(&uri);
    let text = fields.text("q").trim();
    let found = if text.is_empty() {
        None
    } else {
        Some(search(&web, text, ON_PAGE, fields.find("cursor")).await)
    };
    let status = match &found {
        Some(Err(problem)) => problem.status,
        _ => StatusCode::OK,
    };
    let main = html! {
        h1 { "Search" }
        @match &found {
            None => p.lead { "Type words into the field above: they are looked for in every skill and prompt, by word and by meaning." },
            Some(Err(problem)) => { (problem.in_place()) p { a href=(address(text, None)) { "Search again" } } },
            Some(Ok(found)) => (results(text, found, fields.find("cursor").is_some()))
        }
    };
    let title = if text.is_empty() {
        "Search".to_owned()
    } else {
        format!("{text} \u{b7} search")
    };
    Ok(Page::new(&title, Section::None, main)
        .searched(text)
        .respond(&web, status))
}

/// `GET /search/results?q=`: the best matches, without a page around them.
pub async fn fragment(State(web): State<Arc<Web>>, uri: Uri) -> Response {
    let fields = Fields::of_query(&uri);
    let text = fields.text("q").trim();
    if text.is_empty() {
        return page(StatusCode::OK, html! {});
    }
    match search(&web, text, WHILE_TYPING, None).await {
        Ok(found) => page(StatusCode::OK, brief(text, &found)),
        // Shown below the field, where the results would be.
        Err(problem) => page(StatusCode::OK, problem.in_place()),
    }
}

async fn search(
    web: &Web,
    text: &str,
    limit: usize,
    cursor: Option<&str>,
) -> Result<SearchResult, Problem> {
    let search = Search {
        text,
        limit: Some(limit),
        cursor,
        completes: true,
        ..Search::default()
    };
    Ok(web.registry().search_uncounted(&search).await?)
}

fn address(text: &str, cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| ("cursor", cursor));
    format!("/search?{}", query([("q", text)].into_iter().chain(cursor)))
}

fn results(text: &str, found: &SearchResult, is_later_page: bool) -> Markup {
    html! {
        @if found.total == 0 {
            p.lead { "Nothing matches \u{201c}" (text) "\u{201d}. Search with other words, or " a href="/" { "browse all skills" } "." }
        } @else {
            p.lead { (count(found.total, "result")) " for \u{201c}" (text) "\u{201d}" }
            ul.matches {
                @if is_later_page { li.page { a href=(address(text, None)) { "From the beginning" } } }
                @for found in &found.matches { li { (entry(found)) } }
                @if let Some(cursor) = &found.cursor {
                    li.page { a href=(address(text, Some(cursor))) { "More" } }
                }
            }
        }
    }
}

/// The list below the search field.
fn brief(text: &str, found: &SearchResult) -> Markup {
    let all = address(text, None);
    html! {
        @if found.total == 0 {
            p { "Nothing matches." }
        } @else {
            ul data-total=(count(found.total, "result")) {
                @for found in &found.matches {
                    li {
                        a href=(place(found)) {
                            span.title { (marked(&found.title, found)) }
                            span.id { (kind(found)) (marked(&found.id, found)) }
                            @if let Some(description) = &found.description {
                                span.about { (marked(description, found)) }
                            }
                        }
                    }
                }
                li { a.all href=(all) { "All " (count(found.total, "result")) } }
            }
        }
    }
}

/// A match: title, id and description with the words that matched.
pub fn entry(found: &Match) -> Markup {
    html! {
        a.title href=(place(found)) { (marked(&found.title, found)) }
        code.id { (kind(found)) (marked(&found.id, found)) }
        @if let Some(description) = &found.description { p { (marked(description, found)) } }
    }
}

/// The page of a match.
fn place(found: &Match) -> String {
    let folder = if found.uri.is_some() {
        "skills"
    } else {
        "prompts"
    };
    format!("/{folder}/{}", found.id)
}

/// Prompts are marked as such.
fn kind(found: &Match) -> &'static str {
    if found.uri.is_some() { "" } else { "prompt " }
}
