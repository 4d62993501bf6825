//! The form in which a skill is written, with what the linter finds and a preview beside it.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use skills_core::index::TOKEN_BYTES;
use skills_core::{Digest, Error, Head, Kind, Skill, SkillId, check_body};

use crate::Web;
use crate::difference::difference;
use crate::format::{count, size, time};
use crate::layout::{Page, Section};
use crate::links::Links;
use crate::markdown::render;
use crate::problem::Problem;

/// What a person writes.
pub struct Editor<'a> {
    /// Where the form is sent.
    pub address: String,
    /// The id, as it was typed.
    pub id: &'a str,
    /// The text, as it was typed.
    pub text: &'a str,
    /// For an existing skill, what it was made from; none for a new one.
    pub existing: Option<Existing<'a>>,
    /// Why it was not saved.
    pub problem: Option<Problem>,
}

/// The skill that the text is to replace.
pub struct Existing<'a> {
    /// The digest of the text that was read before it was edited.
    pub base: &'a str,
    /// What is registered now.
    pub now: Now<'a>,
    /// What to know before it is replaced.
    pub note: Option<String>,
}

/// What is registered under an id.
#[derive(Clone, Copy)]
pub enum Now<'a> {
    /// It could not be read.
    Unknown,
    /// Nothing.
    Absent,
    /// This skill.
    Registered(&'a Skill),
}

/// The digest of the text of a skill.
pub fn digest(skill: &Skill) -> String {
    Digest::of(skill.body.as_bytes()).to_string()
}

impl Editor<'_> {
    /// The page.
    pub async fn respond(self, web: &Web) -> Response {
        let title = match &self.existing {
            None => "New skill".to_owned(),
            Some(_) => format!("Edit {}", self.id),
        };
        let section = self
            .existing
            .as_ref()
            .map_or(Section::New, |_| Section::Skills);
        let status = self.problem.as_ref().map(|problem| problem.status);
        let conflict = self.conflict();
        let status = status.unwrap_or(StatusCode::OK);
        let main = html! {
            h1 { (title) }
            form.editor method="post" action=(self.address) data-send data-editor
                data-skill=[self.existing.as_ref().map(|_| self.id)] {
                div #state {
                    @if let Some(problem) = &self.problem {
                        (problem.in_place())
                        @for id in &problem.nearest {
                            p { a href=(format!("/skills/{id}")) { "Show " code { (id) } } }
                        }
                    }
                    @if let Some(conflict) = conflict { (conflict) }
                }
                div.sides {
                    (self.fields())
                    div #panel { (self.panel(web).await) }
                }
            }
        };
        Page::new(&title, section, main).live().respond(web, status)
    }

    fn fields(&self) -> Markup {
        html! {
            div.write {
                @match &self.existing {
                    None => {
                        label for="id" { "Id" }
                        input #id type="text" name="id" value=(self.id) autocomplete="off" autocapitalize="none"
                            spellcheck="false" placeholder="folder/name" aria-describedby="id-help" required;
                        p.help #id-help { "Lower-case letters, digits, " code { "-" } " and " code { "_" } "; " code { "/" } " between folders. Agents read it at " code { "iii://" } " and the id." }
                    }
                    Some(existing) => {
                        input type="hidden" name="base" value=(existing.base);
                        @if let Some(note) = &existing.note { p.note { (note) } }
                    }
                }
                label for="text" { "Text" }
                // The parser drops a newline at the start of the element.
                textarea #text name="text" rows="24" spellcheck="false" aria-describedby="text-help" { "\n" (self.text) }
                p.help #text-help { "Markdown: a heading, then one paragraph that says what it is for." }
                div.actions {
                    button type="submit" name="action" value="save" { "Save" }
                    button.quiet type="submit" name="action" value="preview" formnovalidate { "Preview" }
                    @if self.existing.is_some() {
                        a href=(format!("/skills/{}", self.id)) { "Cancel" }
                        a.bad href=(format!("/delete/{}", self.id)) { "Delete" }
                    }
                }
            }
        }
    }

    /// What is registered now, if it is not what the text was made from.
    fn conflict(&self) -> Option<Markup> {
        let existing = self.existing.as_ref()?;
        let (skill, current) = match existing.now {
            Now::Unknown => return None,
            Now::Absent => (None, String::new()),
            Now::Registered(skill) => (Some(skill), digest(skill)),
        };
        if current == existing.base {
            return None;
        }
        Some(html! {
            section.conflict aria-labelledby="conflict" {
                input type="hidden" name="current" value=(current);
                @match skill {
                    Some(skill) => {
                        h2 #conflict { "Changed meanwhile" }
                        p { "Another text was registered " (time(&skill.registered_at)) ". Your text is not saved, and is kept below." }
                        p.legend { del { "\u{2212} registered now" } ins { "+ your text" } }
                        // A form sends no carriage returns.
                        (difference(&skill.body.replace("\r\n", "\n"), self.text))
                        details {
                            summary { "The text that is registered now" }
                            pre.source tabindex="0" { code { (skill.body) } }
                        }
                    }
                    None => {
                        h2 #conflict { "Deleted meanwhile" }
                        p { "This skill is not registered any more. Your text is not saved, and is kept below." }
                    }
                }
                div.actions {
                    button type="submit" name="action" value="overwrite" {
                        @if skill.is_some() { "Overwrite with mine" } @else { "Register mine again" }
                    }
                    a.button.quiet href=(if skill.is_some() { self.address.as_str() } else { "/" }) data-discard { "Discard mine" }
                }
            }
        })
    }

    /// What the linter finds, and a preview.
    async fn panel(&self, web: &Web) -> Markup {
        if self.text.trim().is_empty() {
            return html! {
                h2 { "Preview" }
                p.help { "What you write is shown here, with what the linter finds." }
            };
        }
        // What is too long is neither checked nor rendered.
        let findings = match check_body(self.text) {
            Ok(()) => web.run("skills::lint", json!({ "text": self.text })).await,
            Err(error) => Err(error),
        };
        let Ok(findings) = findings else {
            let problem = findings.err().map(Problem::from);
            return html! {
                h2 { "Preview" }
                @if let Some(problem) = problem { (problem.in_place()) }
            };
        };
        let tree = web.tree().await.unwrap_or_default();
        let id: Option<SkillId> = self.id.parse().ok();
        let head = Head::of(self.text);
        let title = head.title.as_deref().unwrap_or(self.id);
        html! {
            (findings_list(&findings))
            h2 { "Preview" }
            p.facts {
                span { (size(self.text.len())) }
                span { "about " (count(self.text.len().div_ceil(TOKEN_BYTES), "token")) }
            }
            div.preview {
                p.title { (title) }
                @if let Some(description) = &head.description { p.lead { (description) } }
                article { (render(self.text, Some(title), &Links::of_draft(&tree, id.as_ref()))) }
            }
        }
    }
}

/// The output of `skills::lint`.
#[derive(Deserialize)]
struct Findings {
    findings: Vec<Finding>,
    allowed: usize,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
    severity: String,
    line: usize,
    column: usize,
    message: String,
    help: Option<String>,
}

fn findings_list(Findings { findings, allowed }: &Findings) -> Markup {
    html! {
        h2 { "Findings" }
        @if findings.is_empty() { p.help { "The linter finds nothing." } }
        @else {
            ul.findings {
                @for finding in findings {
                    li.(finding.severity) {
                        p { span.severity { (finding.severity) " " (finding.code) } " " (finding.message) }
                        p.place { "line " (finding.line) ", column " (finding.column) }
                        @if let Some(help) = &finding.help { p.help { (help) } }
                    }
                }
            }
        }
        @if *allowed > 0 { p.help { (count(*allowed, "finding")) " silenced by comments in the text." } }
    }
}

/// The problem of an id that is taken, with what has it.
pub async fn taken(web: &Web, id: &SkillId) -> Result<Option<Problem>, Error> {
    let details = match web.registry().skill_details(id).await {
        Ok(details) => Some(details),
        Err(error) if error.kind() == Kind::NotFound => None,
        Err(error) => return Err(error),
    };
    let place = details.as_ref().and_then(|details| details.place.as_ref());
    let (problem, hint) = match (&details, place) {
        (None, _) if web.registry().is_skill_registered(id).await? => (
            "is registered already, and is off".into(),
            format!("edit it at /edit/{id}, or choose another id"),
        ),
        (None, _) => return Ok(None),
        (Some(_), Some(place)) => (
            format!("is a file already: {place}"),
            "edit that file, or choose another id".into(),
        ),
        (Some(details), None) if details.digest.is_some() => (
            "is registered already".into(),
            format!("edit it at /edit/{id}, or choose another id"),
        ),
        (Some(_), None) => (
            "is a file of a skill folder already".into(),
            "choose another id".into(),
        ),
    };
    let error = Error::invalid_hint(format!("skill `{id}`"), problem, hint);
    Ok(Some(Problem {
        status: StatusCode::CONFLICT,
        nearest: vec![id.to_string()],
        ..error.into()
    }))
}
