//! The function `skills::backup`: every row that the registry keeps, one scope at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skills_core::Skipped;

use super::Operation;
use super::decode::{decode, encode};

/// `skills::backup`.
pub const BACKUP: Operation = Operation::function::<BackupInput, BackupOutput>(
    "skills::backup",
    "Internal: the scopes that the registry keeps, or the rows of one of them.",
    |registry, payload| {
        Box::pin(async move {
            let BackupInput { scope } = decode(&payload)?;
            let mut output = BackupOutput::default();
            match scope {
                None => output.scopes = registry.backup_scopes().await?,
                Some(scope) => {
                    let copy = registry.backup_rows(&scope).await?;
                    let row = |(key, value)| BackupRow { key, value };
                    output.rows = copy.rows.into_iter().map(row).collect();
                    output.left_out = copy.left_out.into_iter().map(Into::into).collect();
                }
            }
            encode(&output)
        })
    },
)
.idempotent();

/// The input.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct BackupInput {
    /// The scope to read; without it the scopes are listed.
    pub scope: Option<String>,
}

/// The scopes, or the rows of one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct BackupOutput {
    /// Every scope, if none was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The rows of the scope, in the order of insertion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<BackupRow>,
    /// Rows that cannot be copied, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A row that cannot be copied.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Its scope and its key.
    pub place: String,
    /// Why.
    pub reason: String,
}

impl From<Skipped> for LeftOut {
    fn from(Skipped { place, reason }: Skipped) -> Self {
        Self { place, reason }
    }
}

/// One row.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct BackupRow {
    /// Its key.
    pub key: String,
    /// Its value.
    #[schemars(with = "serde_json::Value")]
    pub value: Box<RawValue>,
}
