//! `skills doctor`: asks the registry that runs, or examines files and store here, without
//! creating or changing anything.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use skills_api::doctor::{DOCTOR, DoctorInput, DoctorOutput, examine};
use skills_core::{Engine, FindingGroup, HealthFinding, Registry};
use skills_iii::state::StoreCheck;
use skills_iii::{CallError, Client};

use super::checks::{StoreHealth, add_checks, store_findings};
use super::connect::{ConnectError, EngineTarget, Target, engine_at};
use super::data_dir::data_dir as user_data_dir;
use super::{file_sources, registry};
use crate::config::LoadedConfig;
use crate::engine::{ClientEngine, EmptyEngine, LocalEngine};

/// How long a registry may take to examine itself: it reads every file.
const EXAMINE_TIMEOUT: Duration = Duration::from_mins(2);

/// What was found.
#[derive(Debug)]
pub struct Checkup {
    /// What was examined.
    pub subject: Subject,
    /// What was found there.
    pub output: DoctorOutput,
}

/// What was examined.
#[derive(Debug)]
pub enum Subject {
    /// The registry that runs on the engine at this address.
    Registry(String),
    /// The files that the configuration here names, and the rows on an engine.
    Engine(String),
    /// The same files, and a data directory, because no engine is listening at the address.
    Directory {
        /// The address, unless only the directory was asked for.
        url: Option<String>,
        /// The data directory; none if this user has none.
        dir: Option<PathBuf>,
    },
}

/// Examines the registry. `files_here`: the files were named, so that the question is about
/// them and not about a registry that runs. `all`: report what is in order too.
pub async fn checkup(
    target: Target,
    loaded: &LoadedConfig,
    files_here: bool,
    all: bool,
) -> Checkup {
    let EngineTarget {
        url,
        token,
        data_dir,
        ..
    } = match target {
        Target::Engine(target) => target,
        Target::Directory(dir) => {
            return examine_directory(None, Some(dir), loaded, Vec::new(), all).await;
        }
    };
    let data_dir = data_dir.or_else(user_data_dir);
    match engine_at(&url, token).await {
        Err(error) => {
            let refused = engine_finding(&url, refusal(&error));
            examine_directory(Some(url), data_dir, loaded, vec![refused], all).await
        }
        Ok(None) => examine_directory(Some(url), data_dir, loaded, Vec::new(), all).await,
        Ok(Some(client)) => {
            let checkup = examine_engine(&client, url, loaded, files_here, all).await;
            client.shutdown(Duration::ZERO).await;
            checkup
        }
    }
}

fn refusal(error: &ConnectError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

async fn examine_engine(
    client: &Client,
    url: String,
    loaded: &LoadedConfig,
    files_here: bool,
    all: bool,
) -> Checkup {
    let mut found = Vec::new();
    if !files_here {
        match ask_registry(client, all).await {
            Ok(output) => {
                let subject = Subject::Registry(url);
                return Checkup { subject, output };
            }
            Err(problem) => found.push(engine_finding(&url, problem)),
        }
    }
    let engine = Arc::new(ClientEngine::new(client.clone()));
    let output = examine_here(engine, loaded, found, all).await;
    let subject = Subject::Engine(url);
    Checkup { subject, output }
}

/// What the registry on an engine says about itself.
async fn ask_registry(client: &Client, all: bool) -> Result<DoctorOutput, String> {
    let input = to_raw_value(&DoctorInput { all: Some(all) }).expect("an input is JSON");
    let answer = client.call_idempotent(DOCTOR.id, input, EXAMINE_TIMEOUT);
    let answer = match answer.await {
        Ok(answer) => answer,
        Err(CallError::NotFound(_)) => {
            return Err(format!(
                "running, but no registry there offers `{}`; start `skills`, or this version of \
                 it if an older one runs",
                DOCTOR.id
            ));
        }
        Err(error) => return Err(format!("the registry did not answer: {error}")),
    };
    let answer = answer.as_deref().map_or("null", RawValue::get);
    serde_json::from_str(answer)
        .map_err(|error| format!("the registry answered something else: {error}"))
}

async fn examine_directory(
    url: Option<String>,
    dir: Option<PathBuf>,
    loaded: &LoadedConfig,
    mut found: Vec<HealthFinding>,
    all: bool,
) -> Checkup {
    let engine = match dir.clone() {
        None => {
            let reason = "this user has no data directory; name one with --data-dir";
            found.push(HealthFinding::new(
                FindingGroup::Store,
                "data directory",
                reason,
            ));
            Arc::new(EmptyEngine) as Arc<dyn Engine>
        }
        Some(dir) => {
            let store = StoreHealth::of(dir).await;
            found.extend(store_findings(&store));
            open(&store, &mut found)
        }
    };
    let output = examine_here(engine, loaded, found, all).await;
    let subject = Subject::Directory { url, dir };
    Checkup { subject, output }
}

/// The rows of a data directory; none if opening it would create or migrate the store.
fn open(store: &StoreHealth, found: &mut Vec<HealthFinding>) -> Arc<dyn Engine> {
    let dir = match store {
        StoreHealth::Healthy(StoreCheck { path, outdated, .. }) if !outdated => path.parent(),
        _ => None,
    };
    let Some(dir) = dir else {
        return Arc::new(EmptyEngine);
    };
    match LocalEngine::open(dir) {
        Ok(engine) => engine,
        Err(error) => {
            let (place, reason) = (dir.display().to_string(), error.with_cause_and_hint());
            found.push(HealthFinding::new(FindingGroup::Store, place, reason));
            Arc::new(EmptyEngine)
        }
    }
}

/// Examines the files that the configuration here names together with the rows of `engine`.
async fn examine_here(
    engine: Arc<dyn Engine>,
    loaded: &LoadedConfig,
    found: Vec<HealthFinding>,
    all: bool,
) -> DoctorOutput {
    let sources = file_sources(loaded);
    let registry: Arc<Registry> = registry(engine, loaded, sources.for_registry());
    // Added first, so that the check of the store names a row before the registry does.
    registry.add_check(Arc::new(move || {
        Box::pin(std::future::ready(Ok(found.clone())))
    }));
    add_checks(&registry, loaded, &sources);
    examine(&registry, all).await
}

fn engine_finding(url: &str, reason: String) -> HealthFinding {
    HealthFinding::new(FindingGroup::Engine, url, reason)
}
