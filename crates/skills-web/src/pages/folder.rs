//! `/` and `/skills/{folder}/`: the tree of skills, one level at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use skills_core::SkillCard;

use super::origin;
use crate::Web;
use crate::fields::Fields;
use crate::format::{self, count, size};
use crate::layout::{Page, Section};
use crate::problem::Problem;
use crate::response::html as page;
use crate::tree::{Entries, Tree};

/// How a list shows its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Title, description, origin and size.
    Full,
    /// Names, beside a text.
    Names,
}

impl View {
    const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Names => "names",
        }
    }
}

/// One list of the tree.
pub struct List<'a> {
    /// All skills.
    pub tree: &'a Tree,
    /// How its entries look.
    pub view: View,
    /// The id of the page that is shown: the folders above it are open.
    pub current: Option<&'a str>,
}

/// `GET /`.
pub async fn home(State(web): State<Arc<Web>>, uri: Uri) -> Result<Response, Problem> {
    let tree = web.tree().await?;
    let after = Fields::of_query(&uri);
    let list = List {
        tree: &tree,
        view: View::Full,
        current: None,
    };
    let main = html! {
        h1 { "Skills" }
        @if tree.len() == 0 {
            p.lead { "There are no skills yet." }
            p {
                code { "skills new NAME --in FOLDER" } " creates one in a folder, and "
                code { "skills serve FOLDER" } " serves it. Or "
                a href="/new" { "write one here" } "."
            }
        } @else {
            p.lead { (count(tree.len(), "skill")) ". Open a folder to see what is in it." }
            (list.entries("", after.find("after")))
        }
    };
    Ok(Page::new("Skills", Section::Skills, main)
        .live()
        .respond(&web, StatusCode::OK))
}

/// `GET /skills/{folder}/`.
pub fn folder(web: &Web, tree: &Tree, folder: &str, fields: &Fields) -> Response {
    let list = List {
        tree,
        view: View::Full,
        current: None,
    };
    let name = folder.trim_end_matches('/');
    let main = html! {
        (path(name, true))
        h1 { (folder) }
        p.lead { (count(tree.below(folder), "skill")) " in this folder." }
        @if let Some(card) = tree.find(name) {
            ul.tree.full { (full_row(card, name)) }
        }
        (list.entries(folder, fields.find("after")))
    };
    Page::new(folder, Section::Skills, main)
        .beside(beside(tree, folder))
        .live()
        .respond(web, StatusCode::OK)
}

/// `GET /tree?folder=resend/`: the list of an opened folder, without a page around it.
pub async fn fragment(State(web): State<Arc<Web>>, uri: Uri) -> Result<Response, Problem> {
    let (tree, fields) = (web.tree().await?, Fields::of_query(&uri));
    let view = match fields.text("view") {
        "names" => View::Names,
        _ => View::Full,
    };
    let list = List {
        tree: &tree,
        view,
        current: None,
    };
    let entries = list.entries(fields.text("folder"), fields.find("after"));
    Ok(page(StatusCode::OK, entries))
}

/// The links to the folders above an id.
pub fn path(id: &str, is_folder: bool) -> Markup {
    let parents = id.match_indices('/').map(|(at, _)| &id[..at]);
    let last = |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned();
    html! {
        nav.path aria-label="Folders above" {
            a href="/" { "Skills" }
            @for parent in parents {
                span aria-hidden="true" { " / " }
                a href=(format!("/skills/{parent}/")) { (last(parent)) }
            }
            span aria-hidden="true" { " / " }
            span aria-current="page" { (last(id)) @if is_folder { "/" } }
        }
    }
}

/// The tree beside a page.
pub fn beside(tree: &Tree, current: &str) -> Markup {
    let list = List {
        tree,
        view: View::Names,
        current: Some(current),
    };
    html! {
        h2 { a href="/" { "All skills" } }
        (list.entries("", None))
    }
}

impl List<'_> {
    /// One page of a folder.
    pub fn entries(&self, folder: &str, after: Option<&str>) -> Markup {
        let below = self.current.and_then(|id| id.strip_prefix(folder));
        let shown = below
            .and_then(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty());
        let Entries {
            children,
            is_later_page,
            next,
        } = self.tree.entries(folder, after, shown);
        let address = |after: Option<&str>| {
            let page = if folder.is_empty() {
                "/".to_owned()
            } else {
                format!("/skills/{folder}")
            };
            after.map_or(page.clone(), |name| format!("{page}?after={name}"))
        };
        let more = |after: &str| {
            let view = self.view.name();
            format!("/tree?folder={folder}&view={view}&after={after}")
        };
        html! {
            ul.tree.(self.view.name()) {
                @if is_later_page {
                    li.page { a href=(address(None)) { "From the beginning" } }
                }
                @for (name, child) in &children {
                    @let id = format!("{folder}{name}");
                    @if let Some(card) = self.tree.card(*child) {
                        (self.row(card, name))
                    }
                    @if child.below > 0 { (self.folder(&id, name, child.below)) }
                }
                @if let Some(name) = next {
                    li.page { a href=(address(Some(name))) data-more=(more(name)) { "More" } }
                }
            }
        }
    }

    fn row(&self, card: &SkillCard, name: &str) -> Markup {
        match self.view {
            View::Full => full_row(card, name),
            View::Names => {
                let is_current = self.current == Some(card.id.as_str());
                html! {
                    li.skill {
                        a href=(format!("/skills/{}", card.id)) title=(card.title)
                            aria-current=[is_current.then_some("page")] { (name) }
                    }
                }
            }
        }
    }

    fn folder(&self, id: &str, name: &str, below: usize) -> Markup {
        let folder = format!("{id}/");
        let is_open = self
            .current
            .is_some_and(|current| current.starts_with(&folder));
        let address = format!("/tree?folder={folder}&view={}", self.view.name());
        html! {
            li.folder {
                details open[is_open] data-folder=[(!is_open).then_some(address)] {
                    summary {
                        span.name { (name) "/" }
                        span.count { (count(below, "skill")) }
                    }
                    @if is_open {
                        (self.entries(&folder, None))
                    } @else {
                        p { a href=(format!("/skills/{folder}")) { "Show the folder " (folder) } }
                    }
                }
            }
        }
    }
}

fn full_row(card: &SkillCard, name: &str) -> Markup {
    html! {
        li.skill {
            a.title href=(format!("/skills/{}", card.id)) { (card.title) }
            code.id title=(card.id) { (name) }
            @if let Some(description) = &card.description { p { (description) } }
            span.facts {
                @if card.lease.as_ref().is_some_and(|lease| lease.stale) { span.warn { "stale" } }
                @for hidden in &card.hides {
                    a.hides href=(origin::address(*hidden, &card.id)) { "hides " (hidden.address()) }
                }
                span.origin { (format::origin(card)) }
                span.size { (size(card.bytes)) }
            }
        }
    }
}
