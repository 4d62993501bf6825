//! How the registry and everything around it is doing, found out without making or
//! changing anything.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use skills_core::{Error, Origin, Registry, Skipped};
use skills_iii::Client;
use skills_iii::state::{SqliteState, StateError, StoreCheck, StoreOptions};

use super::connect::{ConnectError, EngineTarget, engine_at};
use super::data_dir::data_dir as this_users;
use super::{GOODBYE, now};
use crate::config::{Config, LoadedConfig};
use crate::engine::ClientEngine;
use crate::engine::embedded::Embedded;
use skills_files::agents::{self, Agents};
use skills_files::{self, Folder, FolderReport, PatternMatches};

/// How long a registry may take to list what it has.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Debug)]
pub struct Checkup {
    /// Where an engine was looked for.
    pub url: String,
    /// Whether there is one.
    pub engine: EngineHealth,
    /// How the data directory is.
    pub store: StoreHealth,
    /// What the files hold.
    pub report: FolderReport,
    /// The 3md documents that are served.
    pub agents: Vec<agents::LoadedAgent>,
    /// How much each pattern for them matches.
    pub agent_patterns: Vec<PatternMatches>,
    /// Files that are hidden by what workers registered.
    pub shadowed: Vec<Shadowed>,
    /// What is registered and cannot be served.
    pub damaged: Vec<Skipped>,
}

/// Whether an engine answers.
#[derive(Debug)]
pub enum EngineHealth {
    /// It does, and a registry serves there.
    Serves,
    /// It does, but no registry serves there.
    Idle(String),
    /// Nobody listens; the data directory is used.
    Absent,
    /// Somebody listens who is no engine or does not let us in, or it is no address.
    Refuses(ConnectError),
}

/// How the data directory is.
#[derive(Debug)]
pub enum StoreHealth {
    /// All of it can be read.
    Well(StoreCheck),
    /// Nothing was ever kept there.
    Empty(PathBuf),
    /// It cannot be used.
    Ill(PathBuf, StateError),
    /// This user has none, and none was named.
    Nowhere,
}

/// A file that is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// `skill` or `prompt`.
    pub kind: &'static str,
    /// The file.
    pub file: skills_files::LoadedFile,
    /// What hides it.
    pub by: Origin,
    /// Since when.
    pub registered_at: String,
}

/// What workers registered: ids and names, and when.
#[derive(Debug, Default)]
struct Registered {
    skills: HashMap<String, String>,
    prompts: HashMap<String, String>,
    damaged: Vec<Skipped>,
}

/// Looks at everything. Fails only where files cannot be looked at, at all.
pub async fn checkup(target: EngineTarget, loaded: &LoadedConfig) -> Result<Checkup, Error> {
    let config = &loaded.config;
    let folder = Folder::new(&loaded.base, &config.skills, &config.prompts);
    let mut report = folder.report().await?;
    let documents = Agents::new(&loaded.base, &config.agents).report().await?;
    report.skipped.extend(documents.skipped);
    let EngineTarget {
        url,
        token,
        data_dir,
    } = target;
    let store = store(data_dir.or_else(this_users)).await;
    let (engine, registered) = match engine_at(&url, token).await {
        Err(error) => (EngineHealth::Refuses(error), Registered::default()),
        Ok(Some(client)) => {
            let engine = match serves(&client).await {
                Ok(()) => EngineHealth::Serves,
                Err(problem) => EngineHealth::Idle(problem),
            };
            let registered = in_state(ClientEngine::new(client.clone()), config).await;
            client.shutdown(Duration::ZERO).await;
            (
                engine,
                registered.unwrap_or_else(|error| unread(&url, error.to_text())),
            )
        }
        Ok(None) => (EngineHealth::Absent, kept(&store, config).await),
    };
    let (documents, agent_patterns) = (documents.documents, documents.patterns);
    let clashes = clashes(&report.skills, &documents);
    report.skipped.extend(clashes);
    // What is registered hides the skills of documents as it hides files.
    let skills = report.skills.iter().cloned().chain(pages(&documents));
    let skills: Vec<_> = skills.collect();
    let mut shadowed = Vec::new();
    for (kind, files, registered) in [
        ("skill", &skills, &registered.skills),
        ("prompt", &report.prompts, &registered.prompts),
    ] {
        shadowed.extend(files.iter().filter_map(|file| {
            let registered_at = registered.get(&file.name)?.clone();
            Some(Shadowed {
                kind,
                file: file.clone(),
                by: Origin::State,
                registered_at,
            })
        }));
    }
    Ok(Checkup {
        url,
        engine,
        store,
        report,
        agents: documents,
        agent_patterns,
        shadowed,
        damaged: registered.damaged,
    })
}

/// The skills of documents, each as if it were a file.
fn pages(documents: &[agents::LoadedAgent]) -> impl Iterator<Item = skills_files::LoadedFile> {
    documents.iter().flat_map(|document| {
        document.ids.iter().map(|id| skills_files::LoadedFile {
            name: id.clone(),
            path: document.path.clone(),
            pattern: Arc::clone(&document.pattern),
            warning: None,
        })
    })
}

/// The skills of documents that files hide: the registry asks the files first.
fn clashes(files: &[skills_files::LoadedFile], documents: &[agents::LoadedAgent]) -> Vec<Skipped> {
    let files: HashMap<_, _> = files.iter().map(|file| (&file.name, &file.path)).collect();
    let clash = |page: skills_files::LoadedFile| {
        let (id, file) = (&page.name, files.get(&page.name)?.display());
        Some(Skipped {
            place: page.path.display().to_string(),
            reason: format!("has the id `{id}` that {file} has already; rename one"),
        })
    };
    pages(documents).filter_map(clash).collect()
}

async fn store(dir: Option<PathBuf>) -> StoreHealth {
    let Some(dir) = dir else {
        return StoreHealth::Nowhere;
    };
    let looked_at = dir.clone();
    let look = move || SqliteState::check(&looked_at, &StoreOptions::default());
    match tokio::task::spawn_blocking(look).await {
        Ok(Ok(Some(checked))) => StoreHealth::Well(checked),
        Ok(Ok(None)) => StoreHealth::Empty(dir),
        Ok(Err(error)) => StoreHealth::Ill(dir, error),
        Err(_) => StoreHealth::Ill(dir, StateError::Panicked),
    }
}

/// Whether a registry serves on an engine; if not, why one thinks so.
async fn serves(client: &Client) -> Result<(), String> {
    for (function, list) in [("skills::list", "skills"), ("prompts::list", "prompts")] {
        let nothing = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let answer = client.call_idempotent(function, nothing, PATIENCE).await;
        let answer = answer.map_err(|error| format!("{function}: {error}"))?;
        let answer = answer.as_deref().map_or("null", RawValue::get);
        let answer: Value =
            serde_json::from_str(answer).map_err(|error| format!("{function}: {error}"))?;
        if !answer[list].is_array() {
            return Err(format!("{function}: it answered without `{list}`"));
        }
    }
    Ok(())
}

/// What is registered, as the data directory has it. Nothing where it would have to be
/// made or brought up to date first.
async fn kept(store: &StoreHealth, config: &Config) -> Registered {
    let dir = match store {
        StoreHealth::Well(StoreCheck { path, outdated, .. }) if !outdated => path.parent(),
        _ => None,
    };
    let Some(dir) = dir else {
        return Registered::default();
    };
    let embedded = match Embedded::open(dir, None) {
        Ok(embedded) => embedded,
        Err(error) => return unread(dir.display(), error),
    };
    let client = embedded.attach();
    let registered = match client.wait_connected().await {
        Ok(_) => {
            let engine = ClientEngine::beside(Arc::clone(&embedded.store), client.clone());
            let registered = in_state(engine, config).await;
            registered.unwrap_or_else(|error| unread(dir.display(), error.to_text()))
        }
        Err(error) => unread(dir.display(), error),
    };
    client.shutdown(GOODBYE).await;
    embedded.store.close();
    registered
}

/// What is registered, as the rows of state have it. The functions of a registry would
/// not do: they leave out what they cannot serve, and there may be none.
async fn in_state(engine: ClientEngine, config: &Config) -> Result<Registered, Error> {
    let registry = Registry::new(Arc::new(engine), Vec::new(), config.settings(), now);
    let (skills, prompts) = (registry.skills().await?, registry.prompts().await?);
    let skill = skills.entries.iter();
    let prompt = prompts.entries.iter();
    Ok(Registered {
        skills: skill
            .map(|s| (s.id.to_string(), s.registered_at.to_string()))
            .collect(),
        prompts: prompt
            .map(|p| (p.name.to_string(), p.registered_at.to_string()))
            .collect(),
        damaged: [skills.skipped, prompts.skipped].concat(),
    })
}

/// State that cannot be read is something to put right, not nothing.
fn unread(place: impl Display, reason: impl Display) -> Registered {
    let damaged = Skipped {
        place: place.to_string(),
        reason: reason.to_string(),
    };
    Registered {
        damaged: vec![damaged],
        ..Registered::default()
    }
}
