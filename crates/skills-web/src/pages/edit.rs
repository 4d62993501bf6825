//! `/edit/{id}`: the text of a registered skill.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use skills_core::{Digest, Error, Kind, Skill, SkillDetails, SkillId};

use super::editor::{Editor, Existing, Now, digest, taken};
use crate::Web;
use crate::fields::Fields;
use crate::problem::Problem;
use crate::response::see_other;

/// `GET /edit/{id}`.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
) -> Result<Response, Problem> {
    let id: SkillId = asked.parse()?;
    let skill = registered(&web, &id).await?;
    let draft = Draft {
        text: &skill.body,
        base: &digest(&skill),
        problem: None,
    };
    Ok(draft.respond(&web, &id, Now::Registered(&skill)).await)
}

/// `POST /edit/{id}`: shows a preview, or saves unless another text was registered meanwhile.
pub async fn write(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    body: Body,
) -> Result<Response, Response> {
    let id: SkillId = asked
        .parse()
        .map_err(|error: Error| Problem::from(error).into_response())?;
    let fields = Fields::of_form(&web.forms, body).await?;
    let text = fields.lines("text");
    let expected = match fields.text("action") {
        "preview" => None,
        "overwrite" => Some(fields.text("current")),
        _ => Some(fields.text("base")),
    };
    let problem = match expected {
        None => None,
        Some(expected) => match save(&web, &id, &text, expected).await {
            Ok(()) => return Ok(after_save(&web, &id).await),
            Err(problem) => Some(problem),
        },
    };
    let now = web.registry().registered_skill(&id).await;
    let is_conflict = problem
        .as_ref()
        .is_some_and(|it| it.status == StatusCode::CONFLICT);
    let problem = match (problem, now.as_ref().err()) {
        // The page shows both texts, which tells more.
        (Some(problem), None) if is_conflict && problem.nearest.is_empty() => Some(Problem {
            message: "It was not saved: something else is registered now.".into(),
            hint: None,
            ..problem
        }),
        (None, Some(error)) => Some(Problem {
            status: StatusCode::OK,
            message: error.to_string(),
            hint: error.hint(),
            nearest: Vec::new(),
            versions: None,
        }),
        (problem, _) => problem,
    };
    let draft = Draft {
        text: &text,
        base: fields.text("base"),
        problem,
    };
    let now = match &now {
        Err(_) => Now::Unknown,
        Ok(None) => Now::Absent,
        Ok(Some(skill)) => Now::Registered(skill),
    };
    Ok(draft.respond(&web, &id, now).await)
}

struct Draft<'a> {
    text: &'a str,
    base: &'a str,
    problem: Option<Problem>,
}

impl Draft<'_> {
    async fn respond(self, web: &Web, id: &SkillId, now: Now<'_>) -> Response {
        let details = web.registry().skill_details(id).await.ok();
        let editor = Editor {
            address: format!("/edit/{id}"),
            id: id.as_str(),
            text: self.text,
            existing: Some(Existing {
                base: self.base,
                now,
                note: note(now, details.as_ref()),
            }),
            problem: self.problem,
        };
        editor.respond(web).await
    }
}

/// What to know before the text is replaced.
fn note(now: Now<'_>, details: Option<&SkillDetails>) -> Option<String> {
    let Now::Registered(_) = now else {
        return None;
    };
    let Some(details) = details else {
        return Some("This skill is off: no list shows it, and agents cannot read it.".into());
    };
    let lease = details.card.lease.as_ref()?;
    let owner = lease
        .owner
        .as_ref()
        .map(|owner| format!("`{owner}` registered this skill"));
    let owner = owner.unwrap_or_else(|| "This skill has a lease".into());
    Some(format!(
        "{owner}. What you save has no owner and no lease: it stays until it is deleted or a worker registers the skill again."
    ))
}

/// A skill that can be edited: registered, and not read from a file.
pub async fn registered(web: &Web, id: &SkillId) -> Result<Arc<Skill>, Problem> {
    if let Some(skill) = web.registry().registered_skill(id).await? {
        return Ok(skill);
    }
    let tree = web.tree().await?;
    match web.registry().skill_details(id).await {
        Ok(SkillDetails { place, .. }) => {
            let place = place.unwrap_or_else(|| "the folder of another skill".into());
            let error = Error::invalid_hint(
                format!("skill `{id}`"),
                format!("is read-only here: it is read from {place}"),
                "edit the file: pages and clients see the change at once",
            );
            Err(Problem {
                status: StatusCode::FORBIDDEN,
                nearest: vec![id.to_string()],
                ..error.into()
            })
        }
        Err(error) => Err(Problem {
            nearest: tree.nearest(id.as_str()),
            ..error.into()
        }),
    }
}

/// Registers a text if `expected` is the digest of what is registered; empty for nothing.
async fn save(web: &Web, id: &SkillId, text: &str, expected: &str) -> Result<(), Problem> {
    let expected = precondition(web, id, expected).await?;
    let input = json!({ "id": id.as_str(), "skill": text, "if_match": expected });
    web.run::<Value>("skills::register", input).await?;
    Ok(())
}

/// What must be registered before a write: the text with a digest; nothing if that is empty.
pub async fn precondition(web: &Web, id: &SkillId, digest: &str) -> Result<Value, Problem> {
    match digest {
        // A file that the registered skill had hidden is not hidden again.
        "" => taken(web, id).await?.map_or(Ok(Value::Null), Err),
        digest => Ok(digest.parse::<Digest>()?.to_string().into()),
    }
}

/// Shows what was saved. A skill that is off has no page but its form.
pub async fn after_save(web: &Web, id: &SkillId) -> Response {
    match web.registry().skill_details(id).await {
        Err(error) if error.kind() == Kind::NotFound => see_other(&format!("/edit/{id}")),
        _ => see_other(&format!("/skills/{id}")),
    }
}
