//! Finding the skills for a request, and reading a skill with the skills it links to.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Match, Missing, ResolvedSkill};

use super::Operation;
use super::decode::{decode, encode};

pub const ROUTE: Operation = Operation::function::<RouteInput, RouteOutput<'static>>(
    "skills::route",
    "Find the skills whose triggers match a request, best first.",
    |registry, payload| {
        Box::pin(async move {
            let RouteInput { text } = decode(&payload)?;
            let matches = registry.route(&text).await?;
            let matches = matches.iter().map(MatchEntry::of).collect();
            encode(&RouteOutput { matches })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
pub struct RouteInput {
    /// The request, in the user's words.
    pub text: String,
}

#[derive(Serialize, JsonSchema)]
struct RouteOutput<'a> {
    matches: Vec<MatchEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
pub struct MatchEntry<'a> {
    id: &'a str,
    title: &'a str,
    /// The number of distinct phrases that matched.
    score: usize,
    /// The phrases.
    matched: &'a [Arc<str>],
}

impl<'a> MatchEntry<'a> {
    pub fn of(found: &'a Match) -> Self {
        Self {
            id: found.id.as_str(),
            title: &found.title,
            score: found.matched.len(),
            matched: &found.matched,
        }
    }
}

pub const RESOLVE: Operation = Operation::function::<ResolveInput, ResolveOutput<'static>>(
    "skills::resolve",
    "Read a skill and every skill it links to, in order, bodies included.",
    |registry, payload| {
        Box::pin(async move {
            let ResolveInput { id } = decode(&payload)?;
            let resolved = registry.resolve(&id.parse()?).await?;
            encode(&ResolveOutput {
                skills: resolved.skills.iter().map(ResolvedEntry::of).collect(),
                missing: resolved.missing.iter().map(MissingEntry::of).collect(),
                complete: resolved.complete,
            })
        })
    },
)
.idempotent();

#[derive(Deserialize, JsonSchema)]
struct ResolveInput {
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct ResolveOutput<'a> {
    /// The skill, then the skills it links to, depth first.
    skills: Vec<ResolvedEntry<'a>>,
    /// Broken links.
    missing: Vec<MissingEntry<'a>>,
    /// False if the chain of links is longer than one result may be.
    complete: bool,
}

#[derive(Serialize, JsonSchema)]
struct ResolvedEntry<'a> {
    id: &'a str,
    title: &'a str,
    text: &'a str,
}

impl<'a> ResolvedEntry<'a> {
    fn of(skill: &'a ResolvedSkill) -> Self {
        Self {
            id: &skill.id,
            title: &skill.title,
            text: &skill.text,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct MissingEntry<'a> {
    uri: &'a str,
    /// The skill that contains the link.
    from: &'a str,
    reason: &'a str,
}

impl<'a> MissingEntry<'a> {
    fn of(missing: &'a Missing) -> Self {
        Self {
            uri: &missing.uri,
            from: &missing.from,
            reason: &missing.reason,
        }
    }
}
