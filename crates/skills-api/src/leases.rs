//! Owners and leases of registrations, and `skills::renew`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Error, LeaseTerms, Renewed, Ttl};

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
