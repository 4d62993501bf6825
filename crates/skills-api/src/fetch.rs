//! Fetching several addresses at once, under two ids.

use schemars::JsonSchema;
use serde::Deserialize;
use skills_core::{Error, Json, Pending, Registry};

use super::Operation;
use super::decode::{decode, encode};
use super::schema::{Text, request, response};

const DESCRIPTION: &str = "Read one or more iii:// addresses into one markdown text. Use it whenever skill \
     instructions contain an iii:// link; several links go into `uris`.";

/// Hidden from tool lists by its namespace; for other workers.
pub const FETCH_SKILL: Operation = Operation {
    id: "skills::fetch_skill",
    description: DESCRIPTION,
    request: request::<FetchSkillInput>,
    response: response::<Text>,
    label: None,
    idempotent: false,
    run: fetch,
};

/// The same under a namespace that tool lists show.
pub const FETCH: Operation = Operation {
    id: "skill::fetch",
    label: Some("Fetch skill"),
    ..FETCH_SKILL
};

/// What to read.
#[derive(Deserialize, JsonSchema)]
struct FetchSkillInput {
    /// One address, such as `iii://skills`.
    #[serde(default)]
    uri: Option<String>,
    /// Several addresses; wins over `uri`.
    #[serde(default)]
    uris: Option<Vec<String>>,
}

fn fetch(
    registry: std::sync::Arc<Registry>,
    payload: Json,
) -> Pending<'static, Result<Json, Error>> {
    Box::pin(async move {
        let FetchSkillInput { uri, uris } = decode(&payload)?;
        encode(&registry.fetch(uri.as_deref(), uris.as_deref()).await?)
    })
}
