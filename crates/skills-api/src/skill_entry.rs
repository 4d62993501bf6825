//! One skill of the list of skills.

use schemars::JsonSchema;
use serde::Serialize;
use skills_core::{Owner, SkillHead};

#[derive(Serialize, JsonSchema)]
pub(crate) struct SkillEntry<'a> {
    id: &'a str,
    bytes: usize,
    registered_at: &'a str,
    /// `state` for what a worker registered, otherwise the source it comes from.
    origin: &'static str,
    /// The number of files of a skill folder. Absent from other skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    /// The origins of documents with the same id and another body, which can be read at
    /// `iii://@files/{id}` and `iii://@agents/{id}`. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hides: Vec<&'static str>,
    /// Who keeps it registered. Absent if the registration named no owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    /// When its lease ends. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<&'a str>,
    /// True if its lease has ended. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
}

impl<'a> SkillEntry<'a> {
    pub(crate) fn of(skill: &'a SkillHead) -> Self {
        let lease = skill.lease.as_ref();
        Self {
            id: skill.id.as_str(),
            bytes: skill.bytes,
            registered_at: &skill.registered_at,
            origin: skill.origin.as_str(),
            files: skill.files,
            hides: skill.hides.iter().map(|origin| origin.as_str()).collect(),
            owner: lease.and_then(|lease| lease.owner.as_ref().map(Owner::as_str)),
            expires_at: lease.and_then(|lease| lease.expires_at.as_deref()),
            stale: lease.is_some_and(|lease| lease.stale),
        }
    }
}
