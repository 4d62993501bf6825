//! Reading a skill with the skills it links to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Missing, ResolvedSkill};

use super::Operation;
use super::decode::{decode, encode};

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
    /// The id of the skill, the path of a file, or the address of a version or of the text of one
    /// origin (`iii://id@3`, `iii://@files/id`).
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
