//! Finding the skill for a request, and everything a skill builds on, on an engine.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Match, Missing, ResolvedSkill};

use super::Operation;
use super::decode::{decode, encode};
use super::schema::{request, response};

pub const ROUTE: Operation = Operation {
    id: "skills::route",
    description: "Find the skills whose triggers a request calls for, best first.",
    request: request::<RouteInput>,
    response: response::<RouteOutput<'static>>,
    label: None,
    idempotent: true,
    run: |registry, payload| {
        Box::pin(async move {
            let RouteInput { text } = decode(&payload)?;
            let matches = registry.route(&text).await?;
            let matches = matches.iter().map(MatchEntry::of).collect();
            encode(&RouteOutput { matches })
        })
    },
};

#[derive(Deserialize, JsonSchema)]
struct RouteInput {
    /// The request, in the user's words.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct RouteOutput<'a> {
    matches: Vec<MatchEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct MatchEntry<'a> {
    id: &'a str,
    title: &'a str,
    /// How many distinct phrases matched.
    score: usize,
    /// The phrases.
    matched: &'a [Arc<str>],
}

impl<'a> MatchEntry<'a> {
    fn of(found: &'a Match) -> Self {
        Self {
            id: found.id.as_str(),
            title: &found.title,
            score: found.matched.len(),
            matched: &found.matched,
        }
    }
}

pub const RESOLVE: Operation = Operation {
    id: "skills::resolve",
    description: "Read a skill and every skill it links to, in order, bodies included.",
    request: request::<ResolveInput>,
    response: response::<ResolveOutput<'static>>,
    label: None,
    idempotent: true,
    run: |registry, payload| {
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
};

#[derive(Deserialize, JsonSchema)]
struct ResolveInput {
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct ResolveOutput<'a> {
    /// The skill, then depth first what it links to.
    skills: Vec<ResolvedEntry<'a>>,
    /// Links that lead nowhere.
    missing: Vec<MissingEntry<'a>>,
    /// False where a chain is longer than an answer gets.
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
            id: skill.id.as_str(),
            title: &skill.title,
            text: &skill.text,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct MissingEntry<'a> {
    uri: &'a str,
    /// The skill with the link.
    from: &'a str,
    reason: &'a str,
}

impl<'a> MissingEntry<'a> {
    fn of(missing: &'a Missing) -> Self {
        Self {
            uri: &missing.uri,
            from: missing.from.as_str(),
            reason: &missing.reason,
        }
    }
}
