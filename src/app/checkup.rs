//! How the registry and everything around it is doing, found out without making or
//! changing anything.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use skills_core::{Error, Origin, Skipped};
use skills_iii::Client;
use skills_iii::state::{Checked, StateError, Store, StoreOptions};

use super::data_dir::data_dir as this_users;
use super::home::{Home, Stay};
use super::reach::{ReachError, Reaching, engine_at};
use crate::agents::{self, Agents};
use crate::config::Loaded;
use crate::files::{self, Folder, Report};

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
    pub report: Report,
    /// The 3md documents that are served.
    pub agents: Vec<agents::Loaded>,
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
    Refuses(ReachError),
}

/// How the data directory is.
#[derive(Debug)]
pub enum StoreHealth {
    /// All of it can be read.
    Well(Checked),
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
    pub file: files::Loaded,
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
pub async fn checkup(reaching: Reaching, loaded: &Loaded) -> Result<Checkup, Error> {
    let config = &loaded.config;
    let folder = Folder::new(&loaded.base, &config.skills, &config.prompts);
    let mut report = folder.report().await?;
    let documents = Agents::new(&loaded.base, &config.agents).report().await?;
    report.skipped.extend(documents.skipped);
    let Reaching {
        url,
        token,
        data_dir,
    } = reaching;
    let store = store(data_dir.or_else(this_users)).await;
    let (engine, registered) = match engine_at(&url, token).await {
        Err(error) => (EngineHealth::Refuses(error), Registered::default()),
        Ok(Some(client)) => {
            let asked = ask(&client).await;
            client.shutdown(Duration::ZERO).await;
            match asked {
                Ok(registered) => (EngineHealth::Serves, registered),
                Err(problem) => (EngineHealth::Idle(problem), Registered::default()),
            }
        }
        Ok(None) => (EngineHealth::Absent, kept(&store, loaded).await),
    };
    let mut shadowed = Vec::new();
    for (kind, files, registered) in [
        ("skill", &report.skills, &registered.skills),
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
        agents: documents.documents,
        shadowed,
        damaged: registered.damaged,
    })
}

async fn store(dir: Option<PathBuf>) -> StoreHealth {
    let Some(dir) = dir else {
        return StoreHealth::Nowhere;
    };
    let looked_at = dir.clone();
    let look = move || Store::check(&looked_at, &StoreOptions::default());
    match tokio::task::spawn_blocking(look).await {
        Ok(Ok(Some(checked))) => StoreHealth::Well(checked),
        Ok(Ok(None)) => StoreHealth::Empty(dir),
        Ok(Err(error)) => StoreHealth::Ill(dir, error),
        Err(_) => StoreHealth::Ill(dir, StateError::Panicked),
    }
}

/// What is registered, as the registry on an engine has it.
async fn ask(client: &Client) -> Result<Registered, String> {
    #[derive(Deserialize)]
    struct Skills {
        skills: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Prompts {
        prompts: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        #[serde(alias = "id")]
        name: String,
        #[serde(default)]
        registered_at: String,
        #[serde(default)]
        origin: Option<String>,
    }
    async fn list<T: for<'de> Deserialize<'de>>(
        client: &Client,
        function: &str,
    ) -> Result<T, String> {
        let nothing = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let answer = client.call_idempotent(function, nothing, PATIENCE).await;
        let answer = answer.map_err(|error| format!("{function}: {error}"))?;
        let answer = answer.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(answer).map_err(|error| format!("{function}: {error}"))
    }
    // Registries from before files had origins know nothing but state.
    let in_state = |entry: &Entry| {
        entry
            .origin
            .as_deref()
            .is_none_or(|origin| origin == "state")
    };
    let named = |entries: Vec<Entry>| {
        let kept = entries.into_iter().filter(in_state);
        kept.map(|entry| (entry.name, entry.registered_at))
            .collect()
    };
    Ok(Registered {
        skills: named(list::<Skills>(client, "skills::list").await?.skills),
        prompts: named(list::<Prompts>(client, "prompts::list").await?.prompts),
        damaged: Vec::new(),
    })
}

/// What is registered, as the data directory has it. Nothing where it would have to be
/// made or brought up to date first.
async fn kept(store: &StoreHealth, loaded: &Loaded) -> Registered {
    let dir = match store {
        StoreHealth::Well(Checked { path, outdated, .. }) if !outdated => path.parent(),
        _ => None,
    };
    let Some(dir) = dir else {
        return Registered::default();
    };
    listed(dir, loaded).await.unwrap_or_else(|reason| {
        let place = dir.display().to_string();
        let damaged = vec![Skipped { place, reason }];
        Registered {
            damaged,
            ..Registered::default()
        }
    })
}

async fn listed(dir: &Path, loaded: &Loaded) -> Result<Registered, String> {
    let home = Home::open(dir, None, loaded, None, Stay::Short);
    let mut home = home.map_err(|error| error.to_string())?;
    home.ready().await;
    let (skills, prompts) = (home.registry.skills().await, home.registry.prompts().await);
    home.close().await;
    let skills = skills.map_err(|error| error.to_text())?;
    let prompts = prompts.map_err(|error| error.to_text())?;
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
