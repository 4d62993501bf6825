//! `/prompts` and `/prompts/{name}`: every prompt, and a form to try one.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use skills_core::{Error, Kind, Origin, PromptCard, PromptName, RenderedPrompt, TemplateArgument};

use crate::Web;
use crate::fields::Fields;
use crate::format::{count, json_text, lease, time};
use crate::layout::{Page, Section};
use crate::problem::Problem;

/// `GET /prompts`.
pub async fn list(State(web): State<Arc<Web>>) -> Result<Response, Problem> {
    let cards = web.registry().prompt_cards().await?;
    let main = html! {
        h1 { "Prompts" }
        @if cards.is_empty() {
            p.lead { "There are no prompts yet." }
            p { "A worker registers them with " code { "prompts::register" } ", and " code { "prompts:" } " in " code { "config.yaml" } " names files." }
        } @else {
            p.lead { (count(cards.len(), "prompt")) ". Each is a slash command of MCP clients; open one to try it." }
            ul.matches { @for card in &cards { li { (row(card)) } } }
        }
    };
    Ok(Page::new("Prompts", Section::Prompts, main)
        .live()
        .respond(&web, StatusCode::OK))
}

fn row(card: &PromptCard) -> Markup {
    html! {
        a.title href=(format!("/prompts/{}", card.head.name)) { (card.head.name) }
        span.id {
            @for argument in &card.arguments {
                code { (argument.argument.name) @if !argument.argument.required { "?" } } " "
            }
        }
        p { (card.description) }
        span.facts { (facts(card)) }
    }
}

fn facts(card: &PromptCard) -> Markup {
    let origin = match card.head.origin {
        Origin::State => "registered",
        Origin::Fs => "file",
        Origin::Agent3md => "3md",
    };
    html! {
        span.origin { (origin) }
        @if let Some(held) = &card.head.lease { (lease(held)) }
        @for hidden in &card.head.hides { span.warn { "hides the one of " (hidden.address()) } }
    }
}

/// `GET /prompts/{name}`: the form. Values in the query are filled in.
pub async fn show(
    State(web): State<Arc<Web>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let name: PromptName = name.parse()?;
    let given = Fields::of_query(&uri);
    page(&web, &name, &given, None).await
}

/// `POST /prompts/{name}`: the form, and what the prompt renders below it. A handler may do
/// anything, so that only a page of this server may call it.
pub async fn render(
    State(web): State<Arc<Web>>,
    Path(name): Path<String>,
    body: Body,
) -> Result<Response, Response> {
    let given = Fields::of_form(&web.forms, body).await?;
    let shown = async {
        let name: PromptName = name.parse()?;
        let (card, _) = match web.registry().prompt_card(&name).await {
            Ok(found) => found,
            Err(error) if error.kind() == Kind::NotFound => return Err(error.into()),
            Err(error) => return Ok(without_card(&web, &name, &given, &error.into())),
        };
        // Fields that are not filled in are not given.
        let mut arguments = Map::new();
        for TemplateArgument { argument, .. } in &card.arguments {
            if let Some(value) = given.find(&argument.name) {
                arguments.insert(argument.name.to_string(), value.into());
            }
        }
        let rendered = web.registry().render_prompt_strictly(&name, &arguments);
        let rendered = rendered.await;
        page(&web, &name, &given, Some(rendered)).await
    };
    shown.await.map_err(IntoResponse::into_response)
}

async fn page(
    web: &Web,
    name: &PromptName,
    given: &Fields,
    rendered: Option<Result<RenderedPrompt, Error>>,
) -> Result<Response, Problem> {
    let (card, place) = web.registry().prompt_card(name).await?;
    let rendered = rendered.map(|rendered| rendered.map_err(Problem::from));
    let status = match &rendered {
        Some(Err(problem)) => problem.status,
        _ => StatusCode::OK,
    };
    let main = html! {
        nav.path aria-label="Above" {
            a href="/prompts" { "Prompts" }
            span aria-hidden="true" { " / " }
            span aria-current="page" { (name) }
        }
        h1 { (name) }
        p.lead { (card.description) }
        p.facts {
            (facts(&card))
            @if !card.head.function_id.is_empty() {
                span { "rendered by " a href=(super::functions::address(&card.head.function_id)) { code { (card.head.function_id) } } }
            }
            @if !card.head.registered_at.is_empty() { span { "changed " (time(&card.head.registered_at)) } }
        }
        @if let Some(place) = &place { p.place { "It is read from " code { (place) } } }
        form.try method="post" action=(format!("/prompts/{name}")) data-part="result" {
            @if card.arguments.is_empty() { p { "It takes no arguments." } }
            @for argument in &card.arguments { (field(argument, given)) }
            button type="submit" { "Render" }
        }
        section #result aria-live="polite" {
            @match &rendered {
                None => {},
                Some(Err(problem)) => (problem.in_place()),
                Some(Ok(rendered)) => (messages(rendered))
            }
        }
    };
    Ok(Page::new(name.as_str(), Section::Prompts, main)
        .live()
        .respond(web, status))
}

/// The form with what was typed, although the arguments of the prompt cannot be read.
fn without_card(web: &Web, name: &PromptName, given: &Fields, problem: &Problem) -> Response {
    let main = html! {
        h1 { (name) }
        form.try method="post" action=(format!("/prompts/{name}")) data-part="result" {
            @for (argument, value) in given.all() {
                @let id = format!("argument-{argument}");
                div.field {
                    label for=(id) { (argument) }
                    input id=(id) type="text" name=(argument) value=(value) autocomplete="off";
                }
            }
            button type="submit" { "Render" }
        }
        section #result aria-live="polite" { (problem.in_place()) }
    };
    Page::new(name.as_str(), Section::Prompts, main).respond(web, problem.status)
}

/// A field of the form with the value that was given, or else the default.
fn field(declared: &TemplateArgument, given: &Fields) -> Markup {
    let TemplateArgument {
        argument,
        default,
        choices,
    } = declared;
    let (id, about) = (
        format!("argument-{}", argument.name),
        format!("about-{}", argument.name),
    );
    let value = given.find(&argument.name).or(default.as_deref());
    let described = argument.description.as_ref().map(|_| about.as_str());
    html! {
        div.field {
            label for=(id) {
                (argument.name)
                @if argument.required { span.required { " required" } }
            }
            @if let Some(description) = &argument.description { p.hint id=(about) { (description) } }
            @if choices.is_empty() {
                input id=(id) type="text" name=(argument.name) value=[value]
                    required[argument.required] aria-describedby=[described] autocomplete="off";
            } @else {
                select id=(id) name=(argument.name) required[argument.required] aria-describedby=[described] {
                    @if default.is_none() { option value="" { "Choose one" } }
                    // A value that was typed into the address is shown, and refused with its name.
                    @if let Some(other) = value.filter(|value| !choices.iter().any(|choice| **choice == **value)) {
                        option value=(other) selected { (other) }
                    }
                    @for choice in choices {
                        option value=(choice) selected[value == Some(choice)] { (choice) }
                    }
                }
            }
        }
    }
}

fn messages(rendered: &RenderedPrompt) -> Markup {
    html! {
        h2 { (count(rendered.messages.len(), "message")) }
        @for message in &rendered.messages { (shown(message)) }
    }
}

/// A message as its role and its text, or as JSON if it has none.
fn shown(message: &RawValue) -> Markup {
    let value: Value = serde_json::from_str(message.get()).unwrap_or_default();
    let text = match &value["content"] {
        Value::String(text) => Some(text),
        Value::Object(content) => match content.get("text") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    };
    let role = value["role"].as_str().unwrap_or("message");
    html! {
        figure.message {
            figcaption { (role) }
            @match text {
                Some(text) => pre.source tabindex="0" { (text) },
                None => pre.source tabindex="0" { (json_text(message)) }
            }
        }
    }
}
