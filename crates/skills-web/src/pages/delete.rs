//! `/delete/{id}`: asks before a registered skill is removed.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::{Value, json};
use skills_core::{Kind, Skill, SkillId};

use super::edit::registered;
use super::editor::digest;
use super::folder::path;
use super::versions;
use crate::Web;
use crate::fields::Fields;
use crate::format::count;
use crate::layout::{Page, Section};
use crate::problem::Problem;
use crate::response::see_other;

/// `GET /delete/{id}`.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
) -> Result<Response, Problem> {
    let id: SkillId = asked.parse()?;
    let skill = registered(&web, &id).await?;
    ask(&web, &skill, None).await
}

/// `POST /delete/{id}`: removes the text that was shown, and no other.
pub async fn write(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    body: Body,
) -> Result<Response, Response> {
    let fields = Fields::of_form(&web.forms, body).await?;
    delete(&web, &asked, fields.text("base"))
        .await
        .map_err(Problem::into_response)
}

async fn delete(web: &Web, asked: &str, shown: &str) -> Result<Response, Problem> {
    let id: SkillId = asked.parse()?;
    let input = json!({ "id": id.as_str(), "if_match": shown });
    match web.run::<Value>("skills::unregister", input).await {
        Ok(_) => {
            let tree = web.tree().await?;
            let parent = id.as_str().rsplit_once('/').map(|(parent, _)| parent);
            let folder = parent.map(|parent| format!("{parent}/"));
            let folder = folder.filter(|folder| tree.has_folder(folder));
            let next = folder.map_or("/".into(), |folder| format!("/skills/{folder}"));
            Ok(see_other(&next))
        }
        Err(error) if error.kind() == Kind::Conflict => {
            let skill = registered(web, &id).await?;
            let problem = Problem {
                message: "It was not deleted: another text was registered meanwhile.".into(),
                hint: Some("this is what it says now".into()),
                ..error.into()
            };
            ask(web, &skill, Some(problem)).await
        }
        Err(error) => match web.registry().registered_skill(&id).await {
            Ok(Some(skill)) => ask(web, &skill, Some(error.into())).await,
            _ => Err(error.into()),
        },
    }
}

async fn ask(web: &Web, skill: &Skill, problem: Option<Problem>) -> Result<Response, Problem> {
    let id = &skill.id;
    let below = web.tree().await?.below(&format!("{id}/"));
    let status = problem
        .as_ref()
        .map_or(StatusCode::OK, |problem| problem.status);
    let title = format!("Delete {id}");
    let main = html! {
        (path(id.as_str(), false))
        h1 { (title) }
        @if let Some(problem) = &problem { (problem.in_place()) }
        p.lead { "Agents will not be able to read " code { "iii://" (id) } " any more. Its " a href=(versions::address(id)) { "versions" } " are kept, and one of them can be brought back." }
        @if below > 0 { p { (count(below, "skill")) " below it " @if below == 1 { "stays" } @else { "stay" } "." } }
        form.editor method="post" action=(format!("/delete/{id}")) data-send {
            input type="hidden" name="base" value=(digest(skill));
            div.actions {
                button.bad type="submit" { "Delete" }
                a.button.quiet href=(format!("/skills/{id}")) { "Keep it" }
            }
        }
        h2 { "What is deleted" }
        pre.source tabindex="0" { code { (skill.body) } }
    };
    Ok(Page::new(&title, Section::Skills, main)
        .live()
        .respond(web, status))
}
