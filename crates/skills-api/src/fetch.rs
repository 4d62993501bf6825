//! Reading several addresses into one text, under two ids.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use skills_core::{Error, Json, Pending, Registry};

use super::Operation;
use super::decode::{decode, encode};
use super::schema::Text;

/// Lists of tools hide it because of its namespace; for other workers.
pub const FETCH_SKILL: Operation =
    Operation::function::<FetchSkillInput, Text>("skills::fetch_skill", DESCRIPTION, fetch);

/// The same in a namespace that lists of tools show.
pub const FETCH: Operation = Operation {
    label: Some("Fetch skill"),
    tool_title: Some("Fetch skills"),
    ..Operation::function::<FetchSkillInput, Text>("skill::fetch", DESCRIPTION, fetch)
};

const DESCRIPTION: &str = "Read one or more iii:// addresses into one markdown text. Use it \
    whenever skill instructions contain an iii:// link; several links go into `uris`. iii://skills \
    is the index of all skills.";

/// What to read.
#[derive(Deserialize, JsonSchema)]
struct FetchSkillInput {
    /// One address, such as `iii://skills`.
    #[serde(default)]
    uri: Option<String>,
    /// Several addresses; takes precedence over `uri`.
    #[serde(default)]
    uris: Option<Vec<String>>,
}

fn fetch(registry: Arc<Registry>, payload: Json) -> Pending<'static, Result<Json, Error>> {
    Box::pin(async move {
        let FetchSkillInput { uri, uris } = decode(&payload)?;
        encode(&registry.fetch(uri.as_deref(), uris.as_deref()).await?)
    })
}
