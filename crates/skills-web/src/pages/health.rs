//! `/health`: what is wrong, who is connected, since when.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use skills_api::doctor::{DoctorOutput, FindingEntry, examine};
use skills_core::{FindingGroup, WorkerCard};

use crate::format::{count, duration};
use crate::layout::{Page, Section};
use crate::problem::Problem;
use crate::{McpClient, Web};

/// `GET /health`.
pub async fn show(State(web): State<Arc<Web>>) -> Response {
    let registry = web.registry();
    let (found, workers, functions) = tokio::join!(
        examine(registry, false),
        registry.workers(),
        registry.functions()
    );
    let workers = workers.map_err(Problem::from);
    let functions = functions.map(|functions| functions.len()).ok();
    let clients = (web.options.mcp_clients)();
    let main = html! {
        h1 { "Health" }
        (summary(&web, &found, functions))
        h2 { "Findings" }
        (findings(&found))
        h2 #workers { "Workers" }
        @match &workers {
            Ok(workers) => (worker_table(workers)),
            Err(problem) => (problem.in_place())
        }
        h2 #clients { "MCP clients" }
        (client_table(&clients))
    };
    Page::new("Health", Section::Health, main)
        .timely()
        .respond(&web, StatusCode::OK)
}

fn summary(web: &Web, found: &DoctorOutput, functions: Option<usize>) -> Markup {
    let known = |number: Option<usize>| match number {
        Some(number) => number.to_string(),
        None => "not known".into(),
    };
    html! {
        p.lead {
            @if found.healthy { "Nothing has to be done." }
            @else { (count(found.problems, "finding")) " to correct." }
        }
        dl.counts {
            div { dt { "Skills" } dd { (known(found.skills)) } }
            div { dt { "Prompts" } dd { (known(found.prompts)) } }
            div { dt { "Functions" } dd { (known(functions)) } }
            div { dt { "Up for" } dd { (duration(web.started.elapsed())) } }
            div { dt { "Version" } dd { (web.options.version) } }
        }
    }
}

fn findings(found: &DoctorOutput) -> Markup {
    let of = |group: FindingGroup| -> Vec<&FindingEntry> {
        let of_group = |entry: &&FindingEntry| entry.group == group.as_str();
        found.findings.iter().filter(of_group).collect()
    };
    html! {
        @if found.findings.is_empty() { p { "The doctor finds nothing." } }
        @for group in FindingGroup::ALL {
            @let entries = of(group);
            @if !entries.is_empty() {
                section.findings.problem[group.is_problem()] {
                    h3 { (group.title()) " (" (entries.len()) ")" }
                    ul.plain {
                        @for entry in entries {
                            li { code { (entry.place) } p { (entry.reason) } }
                        }
                    }
                }
            }
        }
    }
}

fn worker_table(workers: &[WorkerCard]) -> Markup {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let since = |worker: &WorkerCard| match worker.connected_at_ms {
        // The engine itself.
        0 => "always".to_owned(),
        at => duration(now.saturating_sub(Duration::from_millis(at))),
    };
    html! {
        div.table tabindex="0" {
            table {
                thead { tr { th { "Name" } th { "Runtime" } th { "Version" } th.right { "Functions" } th { "Connected for" } } }
                tbody {
                    @for worker in workers {
                        tr {
                            td { (worker.name.as_deref().unwrap_or(&worker.id)) }
                            td { (worker.runtime.as_deref().unwrap_or_default()) }
                            td { (worker.version.as_deref().unwrap_or_default()) }
                            td.right { (worker.function_count) }
                            td { (since(worker)) }
                        }
                    }
                }
            }
        }
    }
}

fn client_table(clients: &[McpClient]) -> Markup {
    html! {
        @if clients.is_empty() {
            p { "None over HTTP. " a href="/connect" { "Connect one" } "." }
        } @else {
            div.table tabindex="0" {
                table {
                    thead { tr { th { "Name" } th { "Version" } th { "Connected for" } } }
                    tbody {
                        @for client in clients {
                            tr {
                                td { (client.name) }
                                td { (client.version) }
                                td { (duration(client.connected_for)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
