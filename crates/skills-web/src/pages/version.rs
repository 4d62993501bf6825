//! `/versions/{id}?version=3`: the text of one version, what changed, and the button that brings it
//! back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::{Value, json};
use skills_core::{Error, Head, Kind, SkillId, SkillVersion, VersionRef};

use super::edit::{after_save, precondition};
use super::folder::path;
use super::versions::{History, address, address_of, facts};
use crate::Web;
use crate::difference::difference;
use crate::fields::Fields;
use crate::layout::{Page, Section};
use crate::links::Links;
use crate::markdown::render;
use crate::problem::Problem;

/// What is shown of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Its text.
    Text,
    /// Its text as it is stored.
    Source,
    /// What changed since the version before.
    Changes,
    /// What changed from it to what is registered now.
    SinceThen,
}

impl View {
    /// The view with a name; its text if there is none.
    pub fn named(name: &str) -> Self {
        let others = [Self::Source, Self::Changes, Self::SinceThen];
        let mut others = others.into_iter();
        others
            .find(|view| view.name() == name)
            .unwrap_or(Self::Text)
    }

    /// Its name in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Source => "source",
            Self::Changes => "changes",
            Self::SinceThen => "since",
        }
    }
}

/// `POST /versions/{id}?version=3`: registers the version again, if what is registered is still what
/// was shown.
pub async fn bring_back(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    uri: Uri,
    body: Body,
) -> Result<Response, Response> {
    let fields = Fields::of_form(&web.forms, body).await?;
    let wanted = Fields::of_query(&uri);
    let parsed = || -> Result<(SkillId, VersionRef), Error> {
        Ok((asked.parse()?, wanted.text("version").parse()?))
    };
    let (id, version) = parsed().map_err(|error| Problem::from(error).into_response())?;
    let (view, problem) = match roll_back(&web, &id, &version, fields.text("base")).await {
        Ok(()) => return Ok(after_save(&web, &id).await),
        // The page shows what else is registered now.
        Err(problem) if problem.status == StatusCode::CONFLICT && problem.nearest.is_empty() => {
            let problem = Problem {
                message: "It was not brought back: something else is registered now.".into(),
                hint: Some("this is what it would change".into()),
                ..problem
            };
            (View::SinceThen, problem)
        }
        Err(problem) => (View::named(wanted.text("view")), problem),
    };
    let shown = show_version(&web, &id, &version, view, Some(problem)).await;
    shown.map_err(Problem::into_response)
}

async fn roll_back(
    web: &Web,
    id: &SkillId,
    version: &VersionRef,
    base: &str,
) -> Result<(), Problem> {
    let expected = precondition(web, id, base).await?;
    let input = json!({ "id": id.as_str(), "version": version.to_string(), "if_match": expected });
    web.run::<Value>("skills::rollback", input).await?;
    Ok(())
}

/// The page of one version.
pub async fn show_version(
    web: &Web,
    id: &SkillId,
    wanted: &VersionRef,
    view: View,
    problem: Option<Problem>,
) -> Result<Response, Problem> {
    let history = History::read(web, id).await?;
    let version = match web.registry().skill_version(id, wanted).await {
        Ok(version) => version,
        Err(error) if error.kind() == Kind::NotFound => {
            return Err(Problem {
                versions: Some(id.clone()),
                ..error.into()
            });
        }
        Err(error) => return Err(error.into()),
    };
    let number = version.head.version;
    let head = Head::of(&version.body);
    let name = head.title.as_deref().unwrap_or(id.as_str());
    let title = format!("{name}, version {number}");
    let status = problem.as_ref().map(|problem| problem.status);
    let main = html! {
        (path(id.as_str(), false))
        h1 { (title) }
        @if let Some(problem) = &problem { (problem.in_place()) }
        (mark(&history, &version))
        (facts(&version.head))
        (views(&history, number, view))
        (text(web, &history, &version, name, view).await?)
        (button(&history, &version, view))
    };
    let page = Page::new(&title, Section::Skills, main).live();
    Ok(page.respond(web, status.unwrap_or(StatusCode::OK)))
}

/// Whether it is what is registered.
fn mark(history: &History, version: &SkillVersion) -> Markup {
    let (id, number) = (&history.id, version.head.version);
    let skill = format!("/skills/{id}");
    html! {
        @if version.head.current {
            p.place { "Version " (number) " is " a href=(skill) { "what is registered now" } "." }
        } @else {
            p.note {
                strong { "This is version " (number) " of " code { (id) } ", not the current text." } " "
                @match history.current() {
                    Some(current) => { "Version " (current.version) " is " a href=(skill) { "registered now" } "." },
                    None => { "Nothing is registered under this id now." },
                }
            }
        }
    }
}

fn views(history: &History, number: u64, shown: View) -> Markup {
    let address = address_of(&history.id, &VersionRef::Number(number));
    let before = history.before(number).map(|before| before.version);
    let current = history.current().map(|current| current.version);
    let mut views = vec![
        (View::Text, "Text".to_owned()),
        (View::Source, "Source".into()),
    ];
    views.extend(before.map(|before| (View::Changes, format!("Changes since {before}"))));
    let current = current.filter(|current| *current != number);
    views.extend(current.map(|current| (View::SinceThen, format!("Changes up to {current}"))));
    html! {
        nav.views aria-label="Views" {
            @for (view, name) in views {
                @let link = match view { View::Text => address.clone(), _ => format!("{address}&view={}", view.name()) };
                a href=(link) aria-current=[(view == shown).then_some("true")] { (name) }
            }
            a href=(self::address(&history.id)) { "All versions" }
            code.address { "iii://" (history.id) "@" (number) }
        }
    }
}

async fn text(
    web: &Web,
    history: &History,
    version: &SkillVersion,
    title: &str,
    view: View,
) -> Result<Markup, Problem> {
    let (id, body) = (&history.id, &*version.body);
    let number = version.head.version;
    let other = match view {
        View::Text => {
            let tree = web.tree().await?;
            let links = Links::of_draft(&tree, Some(id));
            return Ok(html! {
                div.reading { article { (render(body, Some(title), &links)) } }
            });
        }
        View::Source => {
            return Ok(html! { pre.source tabindex="0" { code { (body) } } });
        }
        View::Changes => history.before(number),
        View::SinceThen => history.current(),
    };
    let Some(other) = other.map(|other| other.version) else {
        return Ok(html! {
            p {
                @if view == View::Changes { "No version before it has a text." }
                @else { "Nothing is registered under this id now." }
            }
        });
    };
    let wanted = VersionRef::Number(other);
    let other_body = web.registry().skill_version(id, &wanted).await?.body;
    let (old, new) = if view == View::Changes {
        ((other, &*other_body), (number, body))
    } else {
        ((number, body), (other, &*other_body))
    };
    Ok(html! {
        p.legend {
            del { "\u{2212} only in version " (old.0) }
            ins { "+ only in version " (new.0) }
        }
        (difference(old.1, new.1))
    })
}

/// The button that brings a version back; none if its text is registered.
fn button(history: &History, version: &SkillVersion, view: View) -> Markup {
    let current = history.current();
    let base = current.and_then(|current| current.digest);
    if base.is_some() && base == version.head.digest {
        return html! {
            @if !version.head.current {
                p.help { "Its text is the one that is registered now." }
            }
        };
    }
    let number = version.head.version;
    // The view too: the page of a refused form is then at the address of that view.
    let address = address_of(&history.id, &VersionRef::Number(number));
    let address = format!("{address}&view={}", view.name());
    html! {
        form.editor method="post" action=(address) data-send {
            input type="hidden" name="base" value=(base.map(|base| base.to_string()).unwrap_or_default());
            div.actions {
                button type="submit" { "Bring this version back" }
            }
            p.help {
                "It becomes a new version. "
                @if let Some(current) = current { "Version " (current.version) " stays in the list. Owner and lease stay as they are." }
            }
        }
    }
}
