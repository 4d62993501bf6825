//! How often skills are used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Error, Json, Registry};

use super::Operation;
use super::decode::{decode, encode};

/// `skills::stats`.
pub const STATS: Operation = Operation::function::<StatsInput, StatsOutput>(
    "skills::stats",
    "How often each skill was offered, routed to and fetched, the most used first.",
    |registry, payload| Box::pin(async move { stats(&registry, &decode(&payload)?).await }),
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct StatsInput {
    /// Only skills that no route led to and that nothing read.
    #[serde(default)]
    unused: bool,
}

#[derive(Serialize, JsonSchema)]
struct StatsOutput {
    /// Whether uses are counted; off with `usage: false` in the configuration.
    counted: bool,
    /// The skills, the most used first.
    skills: Vec<UsageEntry>,
}

#[derive(Serialize, JsonSchema)]
struct UsageEntry {
    id: String,
    /// How often it was among the matches of a search or a route.
    offered: u64,
    /// How often it was the first match of a route.
    routed: u64,
    /// How often its body was read.
    fetched: u64,
}

async fn stats(registry: &Registry, input: &StatsInput) -> Result<Json, Error> {
    let stats = registry.stats().await?;
    let skills = stats.skills.into_iter();
    let skills = skills.filter(|(_, counts)| !input.unused || counts.is_unused());
    encode(&StatsOutput {
        counted: stats.is_counted,
        skills: skills
            .map(|(id, counts)| UsageEntry {
                id: id.to_string(),
                offered: counts.offered,
                routed: counts.routed,
                fetched: counts.fetched,
            })
            .collect(),
    })
}
