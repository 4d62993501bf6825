//! `/new`: a skill that does not exist yet.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde_json::{Value, json};
use skills_core::{Kind, SkillId};

use super::edit::after_save;
use super::editor::{Editor, taken};
use crate::Web;
use crate::fields::Fields;
use crate::problem::Problem;

/// Where the form is.
const PATH: &str = "/new";

/// `GET /new`, with `?id=` for a first value.
pub async fn show(State(web): State<Arc<Web>>, uri: Uri) -> Response {
    let fields = Fields::of_query(&uri);
    editor(fields.text("id"), "", None).respond(&web).await
}

/// `POST /new`: shows a preview, or saves.
pub async fn write(State(web): State<Arc<Web>>, body: Body) -> Result<Response, Response> {
    let fields = Fields::of_form(&web.forms, body).await?;
    let (id, text) = (fields.text("id").trim(), fields.lines("text"));
    let is_preview = fields.text("action") == "preview";
    let result = if is_preview {
        check(&web, id).await.map(|()| None)
    } else {
        save(&web, id, &text).await.map(Some)
    };
    match result {
        Ok(Some(saved)) => Ok(saved),
        Ok(None) => Ok(editor(id, &text, None).respond(&web).await),
        Err(mut problem) => {
            if is_preview {
                problem.status = axum::http::StatusCode::OK;
            }
            Ok(editor(id, &text, Some(problem)).respond(&web).await)
        }
    }
}

fn editor<'a>(id: &'a str, text: &'a str, problem: Option<Problem>) -> Editor<'a> {
    Editor {
        address: PATH.into(),
        id,
        text,
        existing: None,
        problem,
    }
}

/// The problem of an id, unless it is still empty.
async fn check(web: &Web, id: &str) -> Result<(), Problem> {
    if id.is_empty() {
        return Ok(());
    }
    let id: SkillId = id.parse()?;
    taken(web, &id).await?.map_or(Ok(()), Err)
}

async fn save(web: &Web, id: &str, text: &str) -> Result<Response, Problem> {
    let id: SkillId = id.parse()?;
    if let Some(problem) = taken(web, &id).await? {
        return Err(problem);
    }
    let input = json!({ "id": id.as_str(), "skill": text, "if_match": null });
    match web.run::<Value>("skills::register", input).await {
        Ok(_) => Ok(after_save(web, &id).await),
        // Another client was faster.
        Err(error) if error.kind() == Kind::Conflict => {
            Err(taken(web, &id).await?.unwrap_or_else(|| error.into()))
        }
        Err(error) => Err(error.into()),
    }
}
