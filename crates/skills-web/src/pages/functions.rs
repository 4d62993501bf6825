//! `/functions` and `/functions/{id}`: what workers offer on the engine.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use skills_core::{FunctionCard, Json, nearest};

use crate::Web;
use crate::fields::{Fields, query};
use crate::format::{count, json_text};
use crate::layout::{Page, Section};
use crate::links::encode_segment;
use crate::problem::Problem;

/// How many functions are on a page.
const ON_PAGE: usize = 50;
/// The most bytes of a schema in the list. The page of the function has all of it.
const SHOWN_BYTES: usize = 8 * 1_024;

/// `GET /functions?after=`.
pub async fn list(State(web): State<Arc<Web>>, uri: Uri) -> Result<Response, Problem> {
    let all = web.registry().functions().await?;
    let fields = Fields::of_query(&uri);
    let after = fields.text("after");
    let start = all.partition_point(|card| *card.id <= *after);
    let ids = all[start..].iter().take(ON_PAGE).map(|card| &*card.id);
    let ids: Vec<&str> = ids.collect();
    let cards = web.registry().describe_functions(&ids).await?;
    let last = ids.last().filter(|_| start + ids.len() < all.len());
    let main = html! {
        h1 { "Functions" }
        p.lead { (count(all.len(), "function")) " on the engine. MCP clients see those of workers as tools." }
        ul.matches {
            @if start > 0 { li.page { a href="/functions" { "From the beginning" } } }
            @for card in &cards { li { (row(card)) } }
            @if let Some(last) = last {
                li.page { a href=(format!("/functions?{}", query([("after", *last)]))) { "More" } }
            }
        }
    };
    Ok(Page::new("Functions", Section::Functions, main)
        .live()
        .respond(&web, StatusCode::OK))
}

/// `GET /functions/{id}`.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let found = web.registry().describe_functions(&[&id]).await?;
    let Some(card) = found.into_iter().next() else {
        let all = web.registry().functions().await?;
        let near = nearest(&id, all.iter().map(|card| &*card.id));
        return Err(Problem {
            status: StatusCode::NOT_FOUND,
            message: format!("no worker offers the function {id}"),
            hint: near.map(|near| format!("did you mean `{near}`?")),
            nearest: Vec::new(),
            versions: None,
        });
    };
    let main = html! {
        nav.path aria-label="Above" {
            a href="/functions" { "Functions" }
            span aria-hidden="true" { " / " }
            span aria-current="page" { (card.id) }
        }
        h1 { (card.id) }
        @if let Some(description) = &card.description { p.lead { (description) } }
        p.facts { span { "offered by " (card.worker) } }
        @for (name, schema) in [("Input", &card.input), ("Output", &card.output)] {
            h2 { (name) }
            @match schema {
                Some(schema) => pre.source tabindex="0" { code { (json_text(schema)) } },
                None => p { "The worker gives no schema." }
            }
        }
    };
    Ok(Page::new(&card.id, Section::Functions, main)
        .live()
        .respond(&web, StatusCode::OK))
}

/// The page of a function.
pub fn address(id: &str) -> String {
    format!("/functions/{}", encode_segment(id))
}

fn row(card: &FunctionCard) -> Markup {
    html! {
        a.title href=(address(&card.id)) { code { (card.id) } }
        span.id { (card.worker) }
        @if let Some(description) = &card.description { p { (description) } }
        @if let Some(input) = &card.input {
            details {
                summary { "Input" }
                (schema(input))
            }
        }
    }
}

fn schema(schema: &Json) -> Markup {
    let text = json_text(schema);
    let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
    html! {
        pre.source tabindex="0" { code { (shown) @if shown.len() < text.len() { " ..." } } }
    }
}
