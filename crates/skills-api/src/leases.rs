//! Owners and leases of registrations: `skills::renew` and `skills::gc`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{EntryName, Error, Garbage, HistoryGarbage, LeaseTerms, Renewed, Ttl};

use super::Operation;
use super::decode::{decode, encode};

/// Checks the fields of a registration that name its owner and its lease. `worker` made the call.
pub(crate) fn terms(
    owner: Option<&str>,
    ttl_ms: Option<u64>,
    worker: Option<Arc<str>>,
) -> Result<LeaseTerms, Error> {
    Ok(LeaseTerms {
        owner: owner.map(str::parse).transpose()?,
        ttl: ttl_ms.map(Ttl::from_ms).transpose()?,
        worker,
    })
}

/// `skills::renew`.
pub const RENEW: Operation = Operation::function::<RenewInput, RenewOutput>(
    "skills::renew",
    "Extend the leases of every skill and prompt that names an owner.",
    |registry, payload| {
        Box::pin(async move {
            let RenewInput { owner } = decode(&payload)?;
            let Renewed {
                skills,
                prompts,
                expires_at,
            } = registry.renew(&owner.parse()?).await?;
            encode(&RenewOutput {
                owner,
                skills,
                prompts,
                expires_at,
            })
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct RenewInput {
    /// The owner that the registrations named.
    owner: String,
}

#[derive(Serialize, JsonSchema)]
struct RenewOutput {
    owner: String,
    /// How many skills have a longer lease now.
    skills: usize,
    /// How many prompts.
    prompts: usize,
    /// When the first of the leases ends.
    expires_at: Arc<str>,
}

/// `skills::gc`.
pub const GC: Operation = Operation::function::<GcInput, GcOutput>(
    "skills::gc",
    "Remove what named an owner that is neither connected nor holds a valid lease.",
    |registry, payload| {
        Box::pin(async move {
            let GcInput { dry_run, history } = decode(&payload)?;
            if history {
                let garbage = registry.collect_history(dry_run).await?;
                return encode(&GcOutput {
                    dry_run,
                    history: Some(GcHistory::of(garbage)),
                    ..GcOutput::default()
                });
            }
            let Garbage {
                entries,
                owners,
                rows,
            } = registry.collect_garbage(dry_run).await?;
            let mut output = GcOutput {
                dry_run,
                skills: Vec::new(),
                prompts: Vec::new(),
                owners: Vec::with_capacity(owners.len()),
                rows,
                history: None,
            };
            for one in entries {
                let owner = one.owner.map(|owner| owner.to_string());
                let expired_at = one.expired_at;
                match one.entry {
                    EntryName::Skill(id) => output.skills.push(GcSkill {
                        id: id.to_string(),
                        owner,
                        expired_at,
                    }),
                    EntryName::Prompt(name) => output.prompts.push(GcPrompt {
                        name: name.to_string(),
                        owner,
                        expired_at,
                    }),
                }
            }
            output.owners.extend(owners.into_iter().map(|one| GcOwner {
                owner: one.owner.to_string(),
                connected: one.connected,
                unknown: one.unknown,
                skills: one.skills,
                prompts: one.prompts,
                expires_at: one.expires_at,
            }));
            encode(&output)
        })
    },
);

#[derive(Deserialize, JsonSchema)]
struct GcInput {
    /// Whether to answer what would be removed, and remove nothing.
    #[serde(default)]
    dry_run: bool,
    /// Whether to give back versions instead: the texts of what is not registered any more, and
    /// versions beyond `history.versions`.
    #[serde(default)]
    history: bool,
}

#[derive(Default, Serialize, JsonSchema)]
struct GcOutput {
    /// Whether nothing was removed.
    dry_run: bool,
    /// The removed skills, or those that would be.
    skills: Vec<GcSkill>,
    /// The removed prompts, or those that would be.
    prompts: Vec<GcPrompt>,
    /// Every owner that a registration named before.
    owners: Vec<GcOwner>,
    /// How many rows of leases belonged to no entry and were removed, or would be.
    rows: usize,
    /// The versions that were given back, or would be. Absent without `history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<GcHistory>,
}

#[derive(Serialize, JsonSchema)]
struct GcHistory {
    /// How many versions.
    versions: usize,
    /// The length of their texts.
    bytes: u64,
    /// By how many bytes the file of the store is smaller. Absent if the engine is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    freed: Option<u64>,
    /// Skills that are not registered and have no text any more.
    skills: Vec<String>,
    /// The same of prompts.
    prompts: Vec<String>,
}

impl GcHistory {
    fn of(garbage: HistoryGarbage) -> Self {
        let (mut skills, mut prompts) = (Vec::new(), Vec::new());
        for (entry, _) in garbage.entries {
            match entry {
                EntryName::Skill(id) => skills.push(id.to_string()),
                EntryName::Prompt(name) => prompts.push(name.to_string()),
            }
        }
        Self {
            versions: garbage.versions,
            bytes: garbage.bytes,
            freed: garbage.freed,
            skills,
            prompts,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct GcSkill {
    id: String,
    /// The owner that it named. Absent if it named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// When its lease ended. Absent if it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<Arc<str>>,
}

#[derive(Serialize, JsonSchema)]
struct GcPrompt {
    name: String,
    /// The owner that it named. Absent if it named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// When its lease ended. Absent if it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<Arc<str>>,
}

#[derive(Serialize, JsonSchema)]
struct GcOwner {
    owner: String,
    /// Whether a worker of this name or id is connected, or the one that registered an entry.
    connected: bool,
    /// Whether it may be connected to another process on the same data directory. Its entries stay.
    /// Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
    /// How many skills name it.
    skills: usize,
    /// How many prompts name it.
    prompts: usize,
    /// When the last of its leases ends. Absent if none is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Arc<str>>,
}
