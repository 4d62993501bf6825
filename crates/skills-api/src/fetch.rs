//! Reading several addresses into one text, under two ids.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use skills_core::{Error, FetchOptions, Json, Pending, Registry, written_uri};

use super::Operation;
use super::decode::{decode, encode};
use super::schema::{self, Text};

/// Lists of tools hide it because of its namespace; for other workers.
pub const FETCH_SKILL: Operation =
    Operation::function::<FetchSkillInput, Text>("skills::fetch_skill", DESCRIPTION, |r, p| {
        fetch(r, p, false)
    });

/// The same in a namespace that lists of tools show. As a tool it always returns what can be
/// read: a model cannot repeat a call as cheaply as a program.
pub const FETCH: Operation = Operation {
    label: Some("Fetch skill"),
    tool_title: Some("Fetch skills"),
    tool_input: schema::generate::<FetchToolInput>,
    run_tool: |registry, payload| fetch(registry, payload, true),
    ..Operation::function::<FetchSkillInput, Text>("skill::fetch", DESCRIPTION, |r, p| {
        fetch(r, p, false)
    })
};

const DESCRIPTION: &str = "Read iii:// addresses, as found in skills, into one markdown text. \
    iii://skills is the index, iii://id#heading one section, iii://id?toc the headings.";

/// What to read.
#[derive(Deserialize, JsonSchema)]
struct FetchSkillInput {
    /// One address, such as `iii://skills`.
    #[serde(default)]
    uri: Option<String>,
    /// Several addresses; takes precedence over `uri`.
    #[serde(default)]
    uris: Option<Vec<String>>,
    /// The longest text, in tokens of 4 bytes. Absent from the published schema.
    #[serde(default)]
    #[schemars(skip)]
    max_tokens: Option<usize>,
    /// Whether to return what can be read if something cannot. Absent from the published schema.
    #[serde(default)]
    #[schemars(skip)]
    partial: bool,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the arguments of the tool")]
struct FetchToolInput {
    uri: Option<String>,
    uris: Option<Vec<String>>,
    /// Cut longer texts at headings.
    max_tokens: Option<usize>,
}

fn fetch(
    registry: Arc<Registry>,
    payload: Json,
    is_tool: bool,
) -> Pending<'static, Result<Json, Error>> {
    Box::pin(async move {
        let FetchSkillInput {
            uri,
            uris,
            max_tokens,
            partial,
        } = decode(&payload)?;
        let options = FetchOptions {
            max_tokens,
            partial: partial || is_tool,
        };
        let written = |text: String| match written_uri(&text) {
            Ok(uri) if is_tool => uri.to_string(),
            _ => text,
        };
        let uri = uri.map(written);
        let uris = uris.map(|uris| uris.into_iter().map(written).collect::<Vec<_>>());
        let fetched = registry.fetch(uri.as_deref(), uris.as_deref(), options);
        encode(&fetched.await?)
    })
}
