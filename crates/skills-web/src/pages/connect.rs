//! `/connect`: the lines that connect clients and workers to this server.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{HOST, HeaderMap};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::Response;
use maud::html;

use crate::Web;
use crate::layout::{Page, Section};

/// Stands for the token of the server, which a page does not show.
const TOKEN: &str = "TOKEN";

/// A client or an SDK, and what to type.
struct Way {
    name: &'static str,
    /// Where the text goes.
    into: &'static str,
    text: String,
}

/// `GET /connect`.
pub async fn show(State(web): State<Arc<Web>>, headers: HeaderMap, uri: Uri) -> Response {
    let has_token = web.options.access.token.is_some();
    let host = host(&headers, &uri);
    let mcp = format!("{}://{host}/mcp", scheme(&headers));
    let workers = worker_address(&web.options.worker_url, &host);
    let main = html! {
        h1 { "Connect" }
        p.lead { "MCP clients use " code { (mcp) } ", workers " code { (workers) } "." }
        @if has_token {
            p { "This server requires its token: put it in the place of " code { (TOKEN) } "." }
        }
        @for (heading, ways) in [("Clients", clients(&mcp, has_token)), ("Workers", sdks(&workers, has_token))] {
            h2 { (heading) }
            @for way in ways {
                section.way {
                    h3 { (way.name) }
                    p { (way.into) }
                    // A command is one line: it breaks where it has to. Code does not.
                    pre.source[!way.text.contains('\n')] data-copy=(way.name) tabindex="0" { code { (way.text) } }
                }
            }
        }
        p { "Clients that start a program instead use " code { "skills mcp" } "." }
    };
    Page::new("Connect", Section::Connect, main)
        .live()
        .respond(&web, StatusCode::OK)
}

/// The name that the browser used for this server.
fn host(headers: &HeaderMap, uri: &Uri) -> String {
    let named = headers.get(HOST).and_then(|host| host.to_str().ok());
    let named = named.or(uri.authority().map(Authority::as_str));
    named.unwrap_or("127.0.0.1:49135").to_owned()
}

/// A proxy that ends TLS says so.
fn scheme(headers: &HeaderMap) -> &'static str {
    let forwarded = headers.get("x-forwarded-proto");
    match forwarded.map(HeaderValue::as_bytes) {
        Some(b"https") => "https",
        _ => "http",
    }
}

/// The address for workers; a server that listens on every address has the name that the browser
/// used.
fn worker_address(url: &str, host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    for any in ["//0.0.0.0:", "//[::]:"] {
        if url.contains(any) {
            return url.replacen(any, &format!("//{name}:"), 1);
        }
    }
    url.to_owned()
}

fn clients(mcp: &str, has_token: bool) -> Vec<Way> {
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let flag = option(has_token, &format!(" --header \"{bearer}\""));
    let json = option(
        has_token,
        &format!(", \"headers\": {{\"Authorization\": \"Bearer {TOKEN}\"}}"),
    );
    vec![
        Way {
            name: "Claude Code",
            into: "In a terminal:",
            text: format!("claude mcp add --transport http skills {mcp}{flag}"),
        },
        Way {
            name: "Cursor",
            into: "In ~/.cursor/mcp.json:",
            text: format!("{{\"mcpServers\": {{\"skills\": {{\"url\": \"{mcp}\"{json}}}}}}}"),
        },
        Way {
            name: "VS Code",
            into: "In a terminal:",
            text: format!(
                "code --add-mcp '{{\"name\": \"skills\", \"type\": \"http\", \"url\": \"{mcp}\"{json}}}'"
            ),
        },
        Way {
            name: "Inspector",
            into: "In a terminal:",
            text: format!(
                "npx @modelcontextprotocol/inspector --cli --server-url {mcp} --transport http{flag} --method tools/list"
            ),
        },
    ]
}

fn sdks(url: &str, has_token: bool) -> Vec<Way> {
    let node = option(
        has_token,
        &format!(", {{ headers: {{ Authorization: 'Bearer {TOKEN}' }} }}"),
    );
    let python = option(
        has_token,
        &format!(", InitOptions(headers={{\"Authorization\": \"Bearer {TOKEN}\"}})"),
    );
    let import = option(has_token, "InitOptions, ");
    let rust = if has_token {
        format!(
            "InitOptions {{\n        headers: Some([(\"Authorization\".into(), \"Bearer {TOKEN}\".into())].into()),\n        ..InitOptions::default()\n    }}"
        )
    } else {
        "InitOptions::default()".into()
    };
    vec![
        Way {
            name: "Node",
            into: "After npm install iii-sdk@0.22.1:",
            text: format!(
                "import {{ registerWorker }} from 'iii-sdk'\n\n\
                 const iii = registerWorker('{url}'{node})\n\
                 await iii.trigger({{\n  function_id: 'skills::register',\n  payload: {{ id: 'hello', skill: '# Hello\\n\\nSay when to use this.\\n' }},\n}})"
            ),
        },
        Way {
            name: "Python",
            into: "After pip install iii-sdk==0.25.0:",
            text: format!(
                "from iii import {import}register_worker\n\n\
                 iii = register_worker(\"{url}\"{python})\n\
                 iii.trigger({{\n    \"function_id\": \"skills::register\",\n    \"payload\": {{\"id\": \"hello\", \"skill\": \"# Hello\\n\\nSay when to use this.\\n\"}},\n}})"
            ),
        },
        Way {
            name: "Rust",
            into: "After cargo add iii-sdk@=0.25.0 serde_json, and tokio with the features macros and rt-multi-thread:",
            text: format!(
                "use iii_sdk::protocol::TriggerRequest;\nuse iii_sdk::{{InitOptions, register_worker}};\nuse serde_json::json;\n\n\
                 #[tokio::main]\nasync fn main() -> Result<(), iii_sdk::Error> {{\n    let iii = register_worker(\"{url}\", {rust});\n    \
                 let skill = json!({{ \"id\": \"hello\", \"skill\": \"# Hello\\n\\nSay when to use this.\\n\" }});\n    \
                 iii.trigger(TriggerRequest::new(\"skills::register\", skill)).await?;\n    Ok(())\n}}"
            ),
        },
    ]
}

fn option(is_used: bool, text: &str) -> String {
    if is_used {
        text.to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_use_the_name_of_the_browser_if_every_address_is_served() {
        for (url, host, expected) in [
            ("ws://127.0.0.1:1", "box:9", "ws://127.0.0.1:1"),
            ("ws://0.0.0.0:1", "box:9", "ws://box:1"),
            ("ws://[::]:1", "box", "ws://box:1"),
            ("ws://0.0.0.0:1", "[::1]:9", "ws://[::1]:1"),
        ] {
            assert_eq!(worker_address(url, host), expected);
        }
    }
}
