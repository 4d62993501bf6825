//! `/skills/{id}`: the body of a skill, and what is known of it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use skills_core::index::TOKEN_BYTES;
use skills_core::{Error, FilePath, Kind, SKILL_MD, SkillDetails, SkillId};

use super::folder::{List, View, beside, folder, path};
use super::versions::{self, History};
use super::{origin, skill_links};
use crate::Web;
use crate::fields::Fields;
use crate::format::{count, lease, origin, size, time};
use crate::layout::{Page, Section};
use crate::links::Links;
use crate::markdown::render;
use crate::problem::Problem;
use crate::tree::Tree;

/// `GET /skills/{id}` and `GET /skills/{folder}/`.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let (tree, fields) = (web.tree().await?, Fields::of_query(&uri));
    if asked.ends_with('/') && tree.has_folder(&asked) {
        return Ok(folder(&web, &tree, &asked, &fields));
    }
    let name = asked.trim_end_matches('/');
    let is_source = fields.text("view") == "source";
    if let Some(origin) = fields.find("origin") {
        return origin::show(&web, &tree, name, origin, is_source).await;
    }
    let details = match details(&web, name).await {
        Ok(details) => details,
        Err(error) if error.kind() == Kind::NotFound && tree.has_folder(&format!("{name}/")) => {
            return Ok(Redirect::temporary(&format!("/skills/{name}/")).into_response());
        }
        Err(error) => return Err(no_skill(&web, &tree, name, error).await?),
    };
    let history = History::find(&web, &details.card.id).await?;
    let text = if is_source {
        Some(source(&web, &details).await?)
    } else {
        None
    };
    let links = skill_links::sections(&web, &tree, &details.card.id).await?;
    let main = html! {
        (path(name, false))
        (heading(&details))
        (views(&details, history.as_ref(), is_source))
        div.reading {
            @match &text {
                Some(text) => { pre.source tabindex="0" { code { (text) } } },
                None => {
                    article {
                        (render(&details.body, Some(&details.card.title), &Links::of_skill(&tree, &details.card.id)))
                    }
                }
            }
            div.facts { (facts(&tree, &details, &links)) }
        }
    };
    Ok(Page::new(&details.card.title, Section::Skills, main)
        .beside(beside(&tree, name))
        .live()
        .respond(&web, StatusCode::OK))
}

async fn details(web: &Web, id: &str) -> Result<SkillDetails, Error> {
    let id: SkillId = id.parse()?;
    web.registry().skill_details(&id).await
}

/// Why there is no such skill, and its versions if it was unregistered.
async fn no_skill(web: &Web, tree: &Tree, name: &str, error: Error) -> Result<Problem, Problem> {
    let id = name.parse::<SkillId>();
    let history = match (error.kind(), id) {
        (Kind::NotFound, Ok(id)) => History::find(web, &id).await?,
        _ => None,
    };
    let problem = Problem::from(error);
    Ok(match history {
        Some(history) if history.current().is_none() => Problem {
            message: format!("skill `{}` was unregistered", history.id),
            hint: Some("its versions are kept: they can be read and brought back".into()),
            versions: Some(history.id),
            ..problem
        },
        _ => Problem {
            nearest: tree.nearest(name),
            ..problem
        },
    })
}

/// The text as it is stored: a skill folder has the whole `SKILL.md`.
async fn source(web: &Web, details: &SkillDetails) -> Result<Arc<str>, Error> {
    if details.card.files.is_none() {
        return Ok(Arc::clone(&details.body));
    }
    let path = FilePath::in_skill(&details.card.id, SKILL_MD)?;
    let content = web.registry().read_file(&path).await?;
    Ok(String::from_utf8_lossy(&content.bytes).into())
}

fn heading(details: &SkillDetails) -> Markup {
    let card = &details.card;
    html! {
        h1 { (card.title) }
        @if let Some(description) = &card.description { p.lead { (description) } }
        p.facts {
            span.origin { (origin(card)) }
            span { (size(card.bytes)) }
            span { "about " (count(card.bytes.div_ceil(TOKEN_BYTES), "token")) }
            @if !card.modified.is_empty() { span { "changed " (time(&card.modified)) } }
            @if let Some(held) = &card.lease { (lease(held)) }
        }
        @if let Some(place) = &details.place {
            p.place { "Read-only here. It is read from " code { (place) } }
        }
    }
}

fn views(details: &SkillDetails, history: Option<&History>, is_source: bool) -> Markup {
    let address = format!("/skills/{}", details.card.id);
    let source = format!("{address}?view=source");
    html! {
        nav.views aria-label="Views" {
            a href=(address) aria-current=[(!is_source).then_some("true")] { "Text" }
            a href=(source) aria-current=[is_source.then_some("true")] { "Source" }
            @if details.digest.is_some() {
                a href=(format!("/edit/{}", details.card.id)) { "Edit" }
                a href=(format!("/delete/{}", details.card.id)) { "Delete" }
            }
            @if let Some(history) = history {
                a href=(versions::address(&history.id)) {
                    "Versions"
                    @if let Some(current) = history.current() { " (now " (current.version) ")" }
                }
            }
            code.address { "iii://" (details.card.id) }
        }
    }
}

fn facts(tree: &Tree, details: &SkillDetails, links: &Markup) -> Markup {
    let card = &details.card;
    let below = format!("{}/", card.id);
    let list = List {
        tree,
        view: View::Names,
        current: None,
    };
    html! {
        (model_view(details))
        @if card.files.is_some() { (files(details)) }
        (links)
        @if !card.hides.is_empty() {
            section {
                h2 { "Hidden by this skill" }
                ul.plain {
                    @for origin in &card.hides {
                        li {
                            a href=(origin::address(*origin, &card.id)) {
                                code { "iii://" (origin.address()) "/" (card.id) }
                            }
                        }
                    }
                }
            }
        }
        @if tree.has_folder(&below) {
            section {
                h2 { "Below this skill" }
                (list.entries(&below, None))
            }
        }
    }
}

/// What a model is shown of the skill.
fn model_view(details: &SkillDetails) -> Markup {
    let triggers = details.head.triggers.as_deref().unwrap_or_default();
    html! {
        section {
            h2 { "What a model is shown" }
            @match &details.index_line {
                Some(line) => { pre.line tabindex="0" { code { (line) } } },
                None => { p { "The index leaves it out." } }
            }
            dl {
                dt { "Visibility" } dd { (details.card.visibility.as_str()) }
                dt { "Triggers" }
                dd {
                    @if triggers.is_empty() { "none" }
                    @else { ul.plain { @for trigger in triggers { li { (trigger) } } } }
                }
                dt { "Text" }
                dd { (details.card.bytes) " bytes, about " (count(details.card.bytes.div_ceil(TOKEN_BYTES), "token")) }
            }
        }
    }
}

fn files(details: &SkillDetails) -> Markup {
    let id = &details.card.id;
    html! {
        section {
            h2 { "Files" }
            @if let Some(problem) = &details.files_problem { p.problem { (problem) } }
            ul.plain.files {
                @for file in &*details.files {
                    @if let Ok(path) = FilePath::in_skill(id, file.path.as_str()) {
                        li {
                            a href=(format!("/files/{}", path.encoded())) { (file.path) }
                            span.size { (size(file.bytes as usize)) }
                        }
                    }
                }
            }
        }
    }
}
