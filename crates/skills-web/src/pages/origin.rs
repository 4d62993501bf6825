//! `/skills/{id}?origin=files`: the text that a skill has in one origin, although another may hide
//! it.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use skills_core::{Head, Kind, Origin, ResourceUri, SCHEME, SkillId};

use super::folder::{beside, path};
use crate::Web;
use crate::format::size;
use crate::layout::{Page, Section};
use crate::links::Links;
use crate::markdown::render;
use crate::problem::Problem;
use crate::tree::Tree;

/// The page of the text of one origin.
pub fn address(origin: Origin, id: &SkillId) -> String {
    format!(
        "/skills/{id}?origin={}",
        origin.address().trim_start_matches('@')
    )
}

/// `GET /skills/{id}?origin=`.
pub async fn show(
    web: &Web,
    tree: &Tree,
    id: &str,
    origin: &str,
    is_source: bool,
) -> Result<Response, Problem> {
    let uri: ResourceUri = format!("{SCHEME}@{origin}/{id}").parse()?;
    let ResourceUri::SkillFrom(origin, id) = &uri else {
        return Err(Problem::no_page(&format!("/skills/{id}")));
    };
    let content = web.registry().read_uncounted(&uri).await;
    let content = content.map_err(|error| Problem {
        nearest: tree.nearest(id.as_str()),
        ..error.into()
    })?;
    let body = content.text()?;
    let served = match web.registry().skill_details(id).await {
        Ok(details) => Some(details.card.origin),
        Err(error) if error.kind() == Kind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    // Only what is served has its files beside it.
    let links = match served {
        Some(served) if served == *origin => Links::of_skill(tree, id),
        _ => Links::of_draft(tree, Some(id)),
    };
    let head = Head::of(body);
    let title = head.title.as_deref().unwrap_or(id.as_str());
    let main = html! {
        (path(id.as_str(), false))
        h1 { (title) }
        @if let Some(description) = &head.description { p.lead { (description) } }
        (mark(*origin, served, id))
        p.facts { span { (size(body.len())) } }
        (views(*origin, id, is_source))
        @if is_source {
            pre.source tabindex="0" { code { (body) } }
        } @else {
            div.reading {
                article { (render(body, Some(title), &links)) }
            }
        }
    };
    Ok(Page::new(title, Section::Skills, main)
        .beside(beside(tree, id.as_str()))
        .live()
        .respond(web, StatusCode::OK))
}

/// What a text of one origin is, in words.
pub const fn words(origin: Origin) -> &'static str {
    match origin {
        Origin::State => "what is registered",
        Origin::Fs => "the file",
        Origin::Agent3md => "the skill of the 3md document",
    }
}

/// Whether it is what is served.
fn mark(origin: Origin, served: Option<Origin>, id: &SkillId) -> Markup {
    let skill = format!("/skills/{id}");
    let of = html! { (words(origin)) " with the id " code { (id) } };
    html! {
        @match served {
            Some(served) if served == origin => {
                p.place { "This is " (of) ", which is " a href=(skill) { "served" } "." }
            },
            Some(served) => {
                p.note { strong { "This is " (of) ", which is hidden." } " Served is " a href=(skill) { (words(served)) } "." }
            },
            None => { p.note { "This is " (of) ". It is not served." } },
        }
    }
}

fn views(origin: Origin, id: &SkillId, is_source: bool) -> Markup {
    let text = address(origin, id);
    let source = format!("{text}&view=source");
    html! {
        nav.views aria-label="Views" {
            a href=(text) aria-current=[(!is_source).then_some("true")] { "Text" }
            a href=(source) aria-current=[is_source.then_some("true")] { "Source" }
            code.address { (SCHEME) (origin.address()) "/" (id) }
        }
    }
}
