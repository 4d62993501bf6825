//! How often each skill is used: the totals in state, and what this process adds to them.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::Registry;
use crate::{Error, Failure, Json, SkillId, UsageCounts};

/// Rows that are written at the same time.
const CONCURRENT_WRITES: usize = 32;

/// How often skills were used.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Whether uses are counted.
    pub is_counted: bool,
    /// Every skill, the most used first.
    pub skills: Vec<(SkillId, UsageCounts)>,
}

/// A row of totals.
#[derive(Deserialize, Serialize)]
struct UsageRow {
    id: Arc<str>,
    #[serde(flatten)]
    counts: UsageCounts,
}

/// What `state::update` answers; operations that fail do not fail the call.
#[derive(Default, Deserialize)]
struct UpdateAnswer {
    #[serde(default)]
    errors: Vec<UpdateError>,
}

#[derive(Deserialize)]
struct UpdateError {
    message: String,
}

impl Registry {
    /// How often each skill was used since it was first counted.
    pub async fn stats(&self) -> Result<Stats, Error> {
        let skills = self.skills().await?.entries;
        let mut totals = {
            let _written = self.usage.writing.lock().await;
            let failed = Error::state(|| "read the counts of use");
            let mut totals = self.usage_rows().await.map_err(failed)?;
            for (id, counts) in self.usage.unwritten() {
                totals.entry(id).or_default().add(counts);
            }
            totals
        };
        let with_counts = skills.into_iter().map(|skill| {
            let counts = totals.remove(skill.id.as_str()).unwrap_or_default();
            (skill.id, counts)
        });
        let mut skills: Vec<(SkillId, UsageCounts)> = with_counts.collect();
        let uses = |counts: &UsageCounts| (counts.fetched, counts.routed, counts.offered);
        skills.sort_by(|(a, of_a), (b, of_b)| uses(of_b).cmp(&uses(of_a)).then(a.cmp(b)));
        let is_counted = self.usage.is_counted;
        Ok(Stats { is_counted, skills })
    }

    /// Adds what was counted since the last call to the totals in state. What cannot be written
    /// is kept for the next call.
    pub async fn write_usage(&self) -> Result<(), Error> {
        let _writing = self.usage.writing.lock().await;
        let mut failure = None;
        for some in self.usage.take().chunks(CONCURRENT_WRITES) {
            if failure.is_some() {
                for (id, counts) in some {
                    self.usage.put_back(Arc::clone(id), *counts);
                }
                continue;
            }
            let writes = some.iter().map(|(id, counts)| async {
                let cause = self.add_to_total(id, *counts).await.err()?;
                // A write without an answer may have been applied; it is not repeated.
                if !matches!(cause, Failure::TimedOut { .. }) {
                    self.usage.put_back(Arc::clone(id), *counts);
                }
                Some(cause)
            });
            failure = join_all(writes).await.into_iter().flatten().next();
        }
        match failure {
            None => Ok(()),
            Some(cause) => Err(Error::state(|| "write the counts of use")(cause)),
        }
    }

    /// Increments, so that several processes add to one row. Damaged counts begin again from zero.
    async fn add_to_total(&self, id: &str, counts: UsageCounts) -> Result<(), Failure> {
        let increment =
            |path: &str, by: u64| json!({ "type": "increment", "path": path, "by": by });
        let input = json!({
            "scope": self.usage.scope,
            "key": id,
            "ops": [
                { "type": "merge", "value": { "id": id } },
                increment("offered", counts.offered),
                increment("routed", counts.routed),
                increment("fetched", counts.fetched),
            ],
        });
        let answer = self.usage_call("state::update", &input).await?;
        let answer = answer.and_then(|answer| serde_json::from_str(answer.get()).ok());
        let UpdateAnswer { errors } = answer.unwrap_or_default();
        let Some(UpdateError { message }) = errors.first() else {
            return Ok(());
        };
        tracing::warn!(id, "the counts of use begin again from zero: {message}");
        let row = UsageRow {
            id: id.into(),
            counts,
        };
        let input = json!({ "scope": self.usage.scope, "key": id, "value": row });
        self.usage_call("state::set", &input).await.map(drop)
    }

    /// The totals. Damaged ones count as zero.
    async fn usage_rows(&self) -> Result<HashMap<Arc<str>, UsageCounts>, Failure> {
        let input = json!({ "scope": self.usage.scope });
        let rows = self.usage_call("state::list", &input).await?;
        let rows = rows.as_deref().map_or("[]", RawValue::get);
        let rows: Vec<&RawValue> = serde_json::from_str(rows).map_err(|error| Failure::Failed {
            code: "invalid_list".into(),
            message: format!("`state::list` did not return a list: {error}"),
        })?;
        let counts = |row: &RawValue| match serde_json::from_str::<UsageRow>(row.get()) {
            Ok(row) => Some((row.id, row.counts)),
            Err(problem) => {
                let scope = &self.usage.scope;
                tracing::warn!(scope, "stored counts of use cannot be read: {problem}");
                None
            }
        };
        Ok(rows.into_iter().filter_map(counts).collect())
    }

    async fn usage_call(&self, function: &str, input: &Value) -> Result<Option<Json>, Failure> {
        let input = to_raw_value(input).expect("counts are JSON");
        self.engine.call(function, input, self.timeout).await
    }
}
