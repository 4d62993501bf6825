//! `/versions/{id}`: the versions of a registered skill, and one of them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use skills_core::{Error, SkillId, VersionHead, VersionOp, VersionRef};

use super::folder::path;
use super::version::{View, show_version};
use crate::Web;
use crate::fields::Fields;
use crate::format::{count, size, time};
use crate::layout::{Page, Section};
use crate::problem::Problem;

/// How many digits of a digest are shown.
const DIGITS: usize = 12;

/// The versions of one skill.
pub struct History {
    pub id: SkillId,
    /// Newest first.
    pub versions: Vec<VersionHead>,
}

impl History {
    /// The versions of a skill; `None` if nothing was registered under its id.
    pub async fn find(web: &Web, id: &SkillId) -> Result<Option<Self>, Error> {
        match web.registry().skill_history(id).await {
            Ok(versions) => Ok(Some(Self {
                id: id.clone(),
                versions,
            })),
            Err(Error::NoHistory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same; a page with the nearest ids if there is none.
    pub async fn read(web: &Web, id: &SkillId) -> Result<Self, Problem> {
        match web.registry().skill_history(id).await {
            Ok(versions) => Ok(Self {
                id: id.clone(),
                versions,
            }),
            Err(error @ Error::NoHistory { .. }) => Err(Problem {
                nearest: web.tree().await?.nearest(id.as_str()),
                ..error.into()
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// What is registered now.
    pub fn current(&self) -> Option<&VersionHead> {
        self.versions.iter().find(|version| version.current)
    }

    /// The version with a text before this one.
    pub fn before(&self, version: u64) -> Option<&VersionHead> {
        let mut older = self.versions.iter().filter(|one| one.version < version);
        older.find(|one| one.digest.is_some())
    }
}

/// The page of all versions of a skill.
pub fn address(id: &SkillId) -> String {
    format!("/versions/{id}")
}

/// The page of one version.
pub fn address_of(id: &SkillId, version: &VersionRef) -> String {
    format!("{}?version={version}", address(id))
}

/// `GET /versions/{id}`, with `?version=` for one of them.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let id: SkillId = asked.trim_end_matches('/').parse()?;
    let fields = Fields::of_query(&uri);
    if let Some(version) = fields.find("version") {
        let view = View::named(fields.text("view"));
        return show_version(&web, &id, &version.parse()?, view, None).await;
    }
    let history = History::read(&web, &id).await?;
    let is_registered = history.current().is_some();
    let is_served = is_registered || web.tree().await?.has(&id);
    let title = format!("Versions of {id}");
    let main = html! {
        (path(id.as_str(), false))
        h1 { (title) }
        p.lead {
            (count(history.versions.len(), "version")) ", newest first. "
            @if is_registered { a href=(format!("/skills/{id}")) { "Read what is registered now" } "." }
            @else {
                "Nothing is registered under this id now."
                @if is_served { " " a href=(format!("/skills/{id}")) { "Read the file" } "." }
            }
        }
        ol.versions {
            @for version in &history.versions { (entry(&history, version)) }
        }
    };
    Ok(Page::new(&title, Section::Skills, main)
        .live()
        .respond(&web, StatusCode::OK))
}

fn entry(history: &History, head: &VersionHead) -> Markup {
    let number = head.version;
    let address = address_of(&history.id, &VersionRef::Number(number));
    html! {
        li {
            p.name {
                @if head.digest.is_some() { a.title href=(address) { "Version " (number) } }
                @else { span.title { "Version " (number) } }
                @if head.current { " " span.origin { "current" } }
            }
            (facts(head))
            @if let (Some(_), Some(before)) = (head.digest, history.before(number)) {
                p.more {
                    a href=(format!("{address}&view={}", View::Changes.name())) {
                        "What changed since version " (before.version)
                    }
                }
            }
        }
    }
}

/// What made a version, when, its size, who and its digest.
pub fn facts(head: &VersionHead) -> Markup {
    let actor = &head.actor;
    let worker = actor.worker_name.as_ref().or(actor.worker.as_ref());
    html! {
        p.facts {
            span { (made_by(head)) }
            span { (time(&head.at)) }
            @if let Some(bytes) = head.bytes { span { (size(bytes)) } }
            @if let Some(owner) = &actor.owner { span { "owner " (owner) } }
            @if let Some(worker) = worker { span { "worker " (worker) } }
            @if let Some(digest) = &head.digest {
                @let digest = digest.to_string();
                @let end = digest.find(':').map_or(0, |colon| colon + 1) + DIGITS;
                code title=(digest) { (digest.get(..end).unwrap_or(&digest)) }
            }
        }
    }
}

/// What made a version, in words.
pub fn made_by(head: &VersionHead) -> String {
    match (head.op, head.from) {
        (VersionOp::Register, _) => "registered".into(),
        (VersionOp::Rollback, Some(from)) => format!("brought back version {from}"),
        (VersionOp::Rollback, None) => "brought back an older version".into(),
        (VersionOp::Found, _) => "found: it was registered without a version".into(),
        (VersionOp::Unregister, _) => "unregistered".into(),
        (VersionOp::Expire, _) => "removed: its lease ended".into(),
        (VersionOp::Gc, _) => "given back by skills gc".into(),
    }
}
