//! `/route?text=`: which skill a request is sent to, and why.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use skills_core::{Match, Routing};

use super::search::entry;
use crate::Web;
use crate::fields::Fields;
use crate::format::percent;
use crate::layout::{Page, Section};
use crate::problem::Problem;

/// `GET /route?text=`.
pub async fn show(State(web): State<Arc<Web>>, uri: Uri) -> Response {
    let fields = Fields::of_query(&uri);
    let text = fields.text("text");
    let routing = if text.is_empty() {
        None
    } else {
        let routing = web.registry().route_uncounted(text, None).await;
        Some(routing.map_err(Problem::from))
    };
    let status = match &routing {
        Some(Err(problem)) => problem.status,
        _ => StatusCode::OK,
    };
    let main = html! {
        h1 { "Route a request" }
        p.lead { "Type what a user would ask an agent. The registry answers with the skill that it sends the agent to." }
        form.try action="/route" {
            label for="text" { "Request" }
            textarea #text name="text" rows="3" required { (text) }
            button type="submit" { "Route" }
        }
        @match &routing {
            None => {},
            Some(Err(problem)) => (problem.in_place()),
            Some(Ok(routing)) => (answer(routing))
        }
    };
    Page::new("Route a request", Section::Route, main).respond(&web, status)
}

fn answer(routing: &Routing) -> Markup {
    html! {
        section.answer {
            @if routing.abstained {
                h2 { "No skill is good enough" }
                @if let Some(advice) = &routing.advice {
                    p { "The agent is told: " q { (advice) } }
                }
            } @else {
                h2 { "An agent is sent to" }
                ol.matches.routed { @for found in &routing.matches { li { (routed(found)) } } }
            }
            @if !routing.close.is_empty() {
                h2 { "Came close" }
                ol.matches.routed { @for found in &routing.close { li { (routed(found)) } } }
            }
        }
    }
}

fn routed(found: &Match) -> Markup {
    let score = percent(found.score);
    html! {
        (entry(found))
        dl.why {
            dt { "Score" }
            dd { meter min="0" max="100" value=(score) aria-hidden="true" {} " " (score) " %" }
            @if !found.matched.is_empty() {
                dt { "Triggers" }
                dd { ul.chips { @for trigger in &found.matched { li { (trigger) } } } }
            }
            @if !found.why.is_empty() {
                dt { "Words" }
                dd {
                    ul.chips {
                        @for reason in &found.why {
                            li { mark { (reason.word) } " in " (reason.fields.join(", ")) }
                        }
                    }
                }
            }
        }
    }
}
