//! `/files/{id}/{path}`: a file of a skill folder.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::html;
use skills_core::{Error, FileContent, FilePath, media_type};

use super::folder::beside;
use crate::Web;
use crate::fields::Fields;
use crate::format::size;
use crate::layout::{Page, Section};
use crate::links::{Links, is_picture};
use crate::markdown::render;
use crate::problem::Problem;

/// The most bytes of a text that are shown. The whole file can be saved.
const SHOWN_BYTES: usize = 256 * 1024;

/// `GET /files/{id}/{path}`.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let (path, content) = read(&web, &asked).await?;
    let tree = web.tree().await?;
    let is_source = Fields::of_query(&uri).text("view") == "source";
    let text = str::from_utf8(&content.bytes).ok();
    let shown = text.map(|text| &text[..text.floor_char_boundary(SHOWN_BYTES)]);
    let is_cut = shown.map(str::len) != text.map(str::len);
    let skills = path.splits().filter(|(id, _)| tree.has(id));
    let skill = skills.last();
    let (file, raw) = (
        format!("/files/{}", path.encoded()),
        format!("/raw/{}", path.encoded()),
    );
    let main = html! {
        @if let Some((id, _)) = &skill {
            nav.path aria-label="Skill" { a href=(format!("/skills/{id}")) { (id) } }
        }
        h1 { (path.name()) }
        p.facts {
            span { code { "skill://" (path) } }
            span { (size(content.bytes.len())) }
            span { a href=(raw) download { "Save" } }
        }
        @if path.is_markdown() {
            nav.views aria-label="Views" {
                a href=(file) aria-current=[(!is_source).then_some("true")] { "Text" }
                a href=(format!("{file}?view=source")) aria-current=[is_source.then_some("true")] { "Source" }
            }
        }
        @match shown {
            Some(text) if path.is_markdown() && !is_source => {
                article { (render(text, Some(path.name()), &Links::of_file(&tree, &path))) }
            },
            Some(text) => { pre.source tabindex="0" { code { (text) } } },
            None if is_picture(path.name()) => { p { img src=(raw) alt=(path.name()); } },
            None => { p { "This file is not text." } }
        }
        @if is_cut { p { "Only the first " (size(SHOWN_BYTES)) " are shown." } }
    };
    let current = skill.map(|(id, _)| id.to_string()).unwrap_or_default();
    Ok(Page::new(path.name(), Section::Skills, main)
        .beside(beside(&tree, &current))
        .live()
        .respond(&web, StatusCode::OK))
}

/// `GET /raw/{id}/{path}`: the bytes. A browser shows pictures and saves everything else.
pub async fn raw(
    State(web): State<Arc<Web>>,
    Path(asked): Path<String>,
) -> Result<Response, Problem> {
    let (path, content) = read(&web, &asked).await?;
    let is_picture = is_picture(path.name());
    let kind = media_type::of_name(path.name()).filter(|_| is_picture);
    let shown = if is_picture { "inline" } else { "attachment" };
    let mut response = Body::from(content.bytes.to_vec()).into_response();
    for (name, value) in [
        (CONTENT_TYPE, kind.unwrap_or("application/octet-stream")),
        (CONTENT_DISPOSITION, shown),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn read(web: &Web, asked: &str) -> Result<(FilePath, FileContent), Error> {
    let path: FilePath = asked.parse()?;
    let content = web.registry().read_file(&path).await?;
    Ok((path, content))
}
