//! The links of a skill: the chain that `resolve` follows, dead links, and what links here.

use maud::{Markup, html};
use skills_core::{Error, FilePath, Resolved, SCHEME, SkillId};

use crate::Web;
use crate::format::count;
use crate::links::{Destination, Links};
use crate::tree::Tree;

/// How many entries of a list are shown before the rest is folded.
const SHOWN: usize = 8;

/// The sections about links beside a skill.
pub async fn sections(web: &Web, tree: &Tree, id: &SkillId) -> Result<Markup, Error> {
    let resolved = web.registry().resolve_uncounted(id).await?;
    let linked_from = web.registry().linked_from(id).await?;
    let from: Vec<Markup> = linked_from
        .iter()
        .map(|id| document(tree, id.as_str()))
        .collect();
    Ok(html! {
        (chain(tree, &resolved))
        section {
            h2 { "What links here" }
            @if from.is_empty() { p { "Nothing." } } @else { (list(&from)) }
        }
    })
}

fn chain(tree: &Tree, resolved: &Resolved) -> Markup {
    let followed = resolved.skills.iter().skip(1);
    let followed: Vec<Markup> = followed.map(|skill| document(tree, &skill.id)).collect();
    let dead = resolved.missing.iter().map(|missing| {
        html! { code { (missing.uri) } " in " (document(tree, &missing.from)) ": " (missing.reason) }
    });
    let dead: Vec<Markup> = dead.collect();
    html! {
        section {
            h2 { "What it links to, in the order of " code { "resolve" } }
            @if followed.is_empty() { p { "Nothing." } } @else { (list(&followed)) }
            @if !resolved.complete { p.warn { "The chain is longer: a limit was reached." } }
        }
        @if !dead.is_empty() {
            section {
                h2.warn { (count(dead.len(), "dead link")) }
                (list(&dead))
            }
        }
    }
}

fn list(entries: &[Markup]) -> Markup {
    let (first, rest) = entries.split_at(entries.len().min(SHOWN));
    html! {
        ul.plain { @for entry in first { li { (entry) } } }
        @if !rest.is_empty() {
            details {
                summary { (rest.len()) " more" }
                ul.plain { @for entry in rest { li { (entry) } } }
            }
        }
    }
}

/// A link to a skill, to a file of a skill folder, or to an address of a version or an origin.
fn document(tree: &Tree, name: &str) -> Markup {
    if name.starts_with(SCHEME) {
        let destination = Links::of_draft(tree, None).destination(name);
        if let Destination::Inside(page) = destination {
            return html! { a href=(page) { (name) } };
        }
        return html! { (name) };
    }
    if let Some(card) = tree.find(name) {
        return html! { a href=(format!("/skills/{name}")) title=(card.title) { (name) } };
    }
    match name.parse::<FilePath>() {
        Ok(path) if path.is_markdown() => {
            html! { a href=(format!("/files/{}", path.encoded())) { (name) } }
        }
        _ => html! { (name) },
    }
}
