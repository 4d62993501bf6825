//! Which workers and functions the engine has, for people.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::Registry;
use crate::{Error, Failure, Json};

/// The function that lists the workers of an engine.
pub(super) const WORKERS: &str = "engine::workers::list";
/// The function that lists the functions of an engine.
const FUNCTIONS: &str = "engine::functions::list";
/// The function that describes functions of an engine.
const DESCRIBE: &str = "engine::functions::info";
/// How many functions are described in one call.
const DESCRIBED_AT_ONCE: usize = 32;

/// A function on the engine.
#[derive(Clone, Debug, Deserialize)]
pub struct FunctionCard {
    /// Its id.
    #[serde(rename = "function_id")]
    pub id: String,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    /// The worker that offers it.
    #[serde(default, rename = "worker_name")]
    pub worker: String,
    /// The schema of its input, if it was asked for and the worker gave one.
    #[serde(default, rename = "request_schema")]
    pub input: Option<Json>,
    /// The schema of its output, likewise.
    #[serde(default, rename = "response_schema")]
    pub output: Option<Json>,
    /// The engine does not know it any more.
    #[serde(default)]
    error: Option<Json>,
}

/// A worker on the engine.
#[derive(Clone, Debug, Deserialize)]
pub struct WorkerCard {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
    /// The language or SDK it runs on.
    #[serde(default)]
    pub runtime: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
    /// How many functions it offers.
    #[serde(default)]
    pub function_count: usize,
    /// When it connected, in milliseconds since 1970; 0 if that is not known.
    #[serde(default)]
    pub connected_at_ms: u64,
}

impl Registry {
    /// Every function on the engine that is not internal to it, in byte order of their ids,
    /// without schemas.
    pub async fn functions(&self) -> Result<Vec<FunctionCard>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            functions: Vec<FunctionCard>,
        }
        let doing = "list the functions of the engine";
        let Answer { mut functions } = self.ask_engine(FUNCTIONS, &json!({}), doing).await?;
        functions.sort_by(|a, b| a.id.cmp(&b.id));
        functions.dedup_by(|a, b| a.id == b.id);
        Ok(functions)
    }

    /// Functions with their schemas. Those that the engine does not know are left out.
    pub async fn describe_functions(&self, ids: &[&str]) -> Result<Vec<FunctionCard>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            functions: Vec<FunctionCard>,
        }
        let doing = "describe the functions of the engine";
        let mut described = Vec::with_capacity(ids.len());
        for some in ids.chunks(DESCRIBED_AT_ONCE) {
            let input = json!({ "function_ids": some });
            let Answer { functions } = self.ask_engine(DESCRIBE, &input, doing).await?;
            described.extend(functions.into_iter().filter(|card| card.error.is_none()));
        }
        Ok(described)
    }

    /// Every worker on the engine, in the order in which they connected.
    pub async fn workers(&self) -> Result<Vec<WorkerCard>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            workers: Vec<WorkerCard>,
        }
        let doing = "list the workers of the engine";
        let Answer { mut workers } = self.ask_engine(WORKERS, &json!({}), doing).await?;
        workers.sort_by(|a, b| (a.connected_at_ms, &a.id).cmp(&(b.connected_at_ms, &b.id)));
        Ok(workers)
    }

    /// The names and ids of the workers on the engine.
    pub(super) async fn connected_workers(&self) -> Result<HashSet<String>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            workers: Vec<WorkerCard>,
        }
        let doing = "find out which owners are connected";
        let Answer { workers } = self.ask_engine(WORKERS, &json!({}), doing).await?;
        let names = workers
            .into_iter()
            .flat_map(|worker| [Some(worker.id), worker.name].into_iter().flatten());
        Ok(names.collect())
    }

    async fn ask_engine<T: DeserializeOwned>(
        &self,
        function: &str,
        input: &serde_json::Value,
        doing: &str,
    ) -> Result<T, Error> {
        let failed = |cause| Error::state(|| doing)(cause);
        let payload = to_raw_value(input).expect("a value is JSON");
        let answer = match self.engine.call(function, payload, self.timeout).await {
            // An engine always has these functions, so that an absent one is not an empty list.
            Err(Failure::Absent) => Err(Failure::Unreachable {
                reason: format!("no engine here offers `{function}`"),
            }),
            answer => answer,
        };
        let answer = answer.map_err(failed)?;
        let text = answer.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(text).map_err(|error| {
            failed(Failure::Failed {
                code: "unexpected_answer".into(),
                message: format!("`{function}` returned something else than a list: {error}"),
            })
        })
    }
}
