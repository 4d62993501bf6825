//! What is wrong with the registry that runs, for `skills doctor` and for pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{FindingGroup, HealthFinding, Registry};

use super::Operation;
use super::decode::{decode, encode};

/// `skills::doctor`.
pub const DOCTOR: Operation = Operation::function::<DoctorInput, DoctorOutput>(
    "skills::doctor",
    "List what is wrong with the registry and with what it serves, with the remedies.",
    |registry, payload| {
        Box::pin(async move {
            let DoctorInput { all } = decode(&payload)?;
            encode(&examine(&registry, all.unwrap_or(false)).await)
        })
    },
)
.idempotent();

/// The input.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DoctorInput {
    /// Whether to list what is in order too.
    pub all: Option<bool>,
}

/// What was found.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DoctorOutput {
    /// The version of the program that runs.
    pub version: String,
    /// Whether nothing has to be done.
    pub healthy: bool,
    /// How many findings need a correction: all but those of the group `advice`.
    pub problems: usize,
    /// What was found, in the order of the groups.
    pub findings: Vec<FindingEntry>,
    /// What is in order, if it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub well: Vec<FindingEntry>,
    /// How many skills are served; none if that cannot be read.
    pub skills: Option<usize>,
    /// How many prompts are served; none if that cannot be read.
    pub prompts: Option<usize>,
}

/// One finding.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
pub struct FindingEntry {
    /// `engine`, `store`, `configuration`, `damaged` (rows), `not_served`, `hidden` (by another
    /// entry with the same id), `to_correct`, `advice` or `well`.
    pub group: String,
    /// A path, an address, an id, or the scope and the key of a row.
    pub place: String,
    /// What was found, and the remedy.
    pub reason: String,
}

/// Examines a registry.
pub async fn examine(registry: &Registry, all: bool) -> DoctorOutput {
    let found = registry.findings().await;
    let problems = found.iter().filter(|found| found.group.is_problem());
    let problems = problems.count();
    let is_well = |found: &HealthFinding| found.group == FindingGroup::Well;
    let (well, findings): (Vec<_>, Vec<_>) = found.into_iter().partition(is_well);
    let entries = |found: Vec<HealthFinding>| found.into_iter().map(Into::into).collect();
    let skills = registry.skills().await.ok();
    let prompts = registry.prompts().await.ok();
    DoctorOutput {
        version: env!("CARGO_PKG_VERSION").into(),
        healthy: problems == 0,
        problems,
        findings: entries(findings),
        well: if all { entries(well) } else { Vec::new() },
        skills: skills.map(|skills| skills.entries.len()),
        prompts: prompts.map(|prompts| prompts.entries.len()),
    }
}

impl From<HealthFinding> for FindingEntry {
    fn from(found: HealthFinding) -> Self {
        Self {
            group: found.group.as_str().into(),
            place: found.place,
            reason: found.reason,
        }
    }
}
