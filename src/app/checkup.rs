//! `skills doctor`: inspects files, engine and store without creating or changing anything.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use skills_api::{OPERATIONS, TRIGGER_TYPES, TriggerType};
use skills_core::{
    ContentData, Engine, Error, Origin, PublishedSkill, PublishedSkills, RegisteredFindings,
    ResourceUri, SkillId, Skipped, Source, Unlisted,
};
use skills_files::agents::LoadedAgent;
use skills_files::{FolderReport, LoadedFile, PatternMatches};
use skills_iii::Client;
use skills_iii::state::{SqliteState, StateError, StoreCheck, StoreOptions};
use skills_lint::Findings;

use super::connect::{ConnectError, EngineTarget, engine_at};
use super::data_dir::data_dir as user_data_dir;
use super::lint::{lint_collection, registered_skill};
use super::triggers::ask;
use super::{file_sources, registry};
use crate::config::LoadedConfig;
use crate::engine::{ClientEngine, LocalEngine};

/// How long a registry may take to return a list.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Debug)]
pub struct Checkup {
    /// The address of the engine.
    pub url: String,
    /// The engine there.
    pub engine: EngineHealth,
    /// The data directory.
    pub store: StoreHealth,
    /// The markdown files.
    pub report: FolderReport,
    /// The 3md documents that are served.
    pub agents: Vec<LoadedAgent>,
    /// How much each pattern for 3md documents matches.
    pub agent_patterns: Vec<PatternMatches>,
    /// Files that are hidden by registered skills and prompts.
    pub shadowed: Vec<Shadowed>,
    /// What is stored and cannot be served.
    pub damaged: Vec<Skipped>,
    /// The findings in files and registered skills.
    pub lint: Findings,
    /// The skills that clients of Agent Skills are not offered.
    pub unlisted: Vec<Unlisted>,
    /// The skills that the published index leaves out because of their names.
    pub unpublished: Vec<Skipped>,
    /// What is registered and served, and should be corrected.
    pub registered_warnings: Vec<Skipped>,
    /// The ids that workers registered.
    pub registered_skills: Vec<String>,
}

/// The state of an engine.
#[derive(Debug)]
pub enum EngineHealth {
    /// A registry serves there.
    Serving,
    /// No registry serves there, and why that is assumed.
    Idle(String),
    /// No engine is listening; the data directory is used.
    Absent,
    /// The address is not valid, or its listener refuses the connection or is not an engine.
    Refused(ConnectError),
}

/// The state of a data directory.
#[derive(Debug)]
pub enum StoreHealth {
    /// It can be read, except for the rows it names.
    Healthy(StoreCheck),
    /// It has no store yet.
    Empty(PathBuf),
    /// It cannot be used.
    Broken(PathBuf, StateError),
    /// No directory was named, and this user has none.
    NoDataDir,
}

/// A file that is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// `skill` or `prompt`.
    pub kind: &'static str,
    /// The file.
    pub file: LoadedFile,
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
    texts: Vec<(SkillId, Arc<str>)>,
    published: PublishedSkills,
    findings: RegisteredFindings,
}

/// Inspects everything. Fails only if the files cannot be walked at all.
pub async fn checkup(target: EngineTarget, loaded: &LoadedConfig) -> Result<Checkup, Error> {
    let sources = file_sources(loaded);
    let files = sources.report().await?;
    // As lists for those clients do, this reads every file.
    let manifests = sources.manifests().await?.entries;
    let mut report = files.folder.unwrap_or_default();
    let agents = files.agents.unwrap_or_default();
    report.skipped.extend(agents.skipped);
    let EngineTarget {
        url,
        token,
        data_dir,
    } = target;
    let store = check_store(data_dir.or_else(user_data_dir)).await;
    let (engine, registered) = match engine_at(&url, token).await {
        Err(error) => (EngineHealth::Refused(error), Registered::default()),
        Ok(Some(client)) => {
            let engine = match check_serving(&client).await {
                Ok(()) => EngineHealth::Serving,
                Err(problem) => EngineHealth::Idle(problem),
            };
            let state = Arc::new(ClientEngine::new(client.clone()));
            let mut registered = registered(state, loaded, &url).await;
            registered.damaged.extend(foreign_providers(&client).await);
            client.shutdown(Duration::ZERO).await;
            (engine, registered)
        }
        Ok(None) => {
            let registered = registered_in_store(&store, loaded).await;
            (EngineHealth::Absent, registered)
        }
    };
    report
        .skipped
        .extend(hidden_by_files(&report.skills, &agents.documents));
    let documents = document_skills(&agents.documents);
    let skills: Vec<_> = report.skills.iter().cloned().chain(documents).collect();
    let shadowed = [
        ("skill", &skills, &registered.skills),
        ("prompt", &report.prompts, &registered.prompts),
    ]
    .into_iter()
    .flat_map(|(kind, files, registered)| {
        files.iter().filter_map(move |file| {
            Some(Shadowed {
                kind,
                file: file.clone(),
                by: Origin::State,
                registered_at: registered.get(&file.name)?.clone(),
            })
        })
    })
    .collect();
    report.skipped.extend(registered.findings.off);
    let lint = lint(loaded, registered.texts).await?;
    let mut damaged = registered.damaged;
    for row in damaged_rows(&store) {
        // A registry on the data directory has reported its own rows.
        if !damaged.iter().any(|found| found.place == row.place) {
            damaged.push(row);
        }
    }
    let published = registered.published.with_documents(manifests);
    Ok(Checkup {
        url,
        engine,
        store,
        shadowed,
        unlisted: published.unlisted().collect(),
        unpublished: if loaded.config.publish {
            unpublished(&published)
        } else {
            Vec::new()
        },
        registered_warnings: registered.findings.warnings,
        registered_skills: registered.skills.into_keys().collect(),
        report,
        agents: agents.documents,
        agent_patterns: agents.patterns,
        damaged,
        lint,
    })
}

/// The skills that the published index leaves out because an earlier one has their name.
fn unpublished(published: &PublishedSkills) -> Vec<Skipped> {
    let finding = |(skill, first): (PublishedSkill<'_>, Option<&SkillId>)| {
        let (first, name, place) = (first?, skill.name(), skill.id().to_string());
        let reason = format!(
            "is not in the published index, because `{first}` has the name `{name}` too and \
             clients install skills by name; rename one of them"
        );
        Some(Skipped { place, reason })
    };
    published.by_name().filter_map(finding).collect()
}

async fn lint(loaded: &LoadedConfig, texts: Vec<(SkillId, Arc<str>)>) -> Result<Findings, Error> {
    let mut collection = lint_collection(loaded).await?;
    let texts = texts.into_iter();
    collection
        .skills
        .extend(texts.map(|(id, text)| registered_skill(id, &text)));
    Ok(skills_lint::check(&collection, &loaded.config.lint))
}

/// The damaged rows of the store; an engine leaves them out of its lists.
fn damaged_rows(store: &StoreHealth) -> impl Iterator<Item = Skipped> {
    let rows = match store {
        StoreHealth::Healthy(checked) => &checked.damaged[..],
        StoreHealth::Empty(_) | StoreHealth::Broken(..) | StoreHealth::NoDataDir => &[],
    };
    rows.iter().map(|row| Skipped {
        place: format!("{}/{}", row.scope, row.key),
        reason: row.problem.clone(),
    })
}

/// The skills of 3md documents in the form of files.
fn document_skills(documents: &[LoadedAgent]) -> impl Iterator<Item = LoadedFile> {
    documents.iter().flat_map(|document| {
        document.ids.iter().map(|id| LoadedFile {
            name: id.clone(),
            path: document.path.clone(),
            pattern: Arc::clone(&document.pattern),
            warnings: Vec::new(),
            folder: None,
        })
    })
}

/// The skills of 3md documents that markdown files hide.
fn hidden_by_files(files: &[LoadedFile], documents: &[LoadedAgent]) -> Vec<Skipped> {
    let files: HashMap<_, _> = files.iter().map(|file| (&file.name, &file.path)).collect();
    let hidden = |skill: LoadedFile| {
        let (id, file) = (&skill.name, files.get(&skill.name)?.display());
        Some(Skipped {
            place: skill.path.display().to_string(),
            reason: format!("has the id `{id}` that {file} has already; rename one"),
        })
    };
    document_skills(documents).filter_map(hidden).collect()
}

async fn check_store(dir: Option<PathBuf>) -> StoreHealth {
    let Some(dir) = dir else {
        return StoreHealth::NoDataDir;
    };
    let checked_dir = dir.clone();
    let check = move || SqliteState::check(&checked_dir, &StoreOptions::default());
    match tokio::task::spawn_blocking(check).await {
        Ok(Ok(Some(checked))) => StoreHealth::Healthy(checked),
        Ok(Ok(None)) => StoreHealth::Empty(dir),
        Ok(Err(error)) => StoreHealth::Broken(dir, error),
        Err(_) => StoreHealth::Broken(dir, StateError::Panicked),
    }
}

/// Checks that a registry serves on an engine.
async fn check_serving(client: &Client) -> Result<(), String> {
    for (function, list) in [("skills::list", "skills"), ("prompts::list", "prompts")] {
        let input = RawValue::from_string("{}".into()).expect("an empty object is JSON");
        let answer = client.call_idempotent(function, input, LIST_TIMEOUT).await;
        let answer = answer.map_err(|error| format!("{function}: {error}"))?;
        let answer = answer.as_deref().map_or("null", RawValue::get);
        let answer: Value =
            serde_json::from_str(answer).map_err(|error| format!("{function}: {error}"))?;
        if !answer[list].is_array() {
            return Err(format!("{function}: the answer has no `{list}`"));
        }
    }
    Ok(())
}

/// The trigger types of the registry that another worker than the registry's provides: their
/// subscribers hear of no change.
async fn foreign_providers(client: &Client) -> Vec<Skipped> {
    #[derive(Deserialize)]
    struct Owned {
        #[serde(default)]
        id: String,
        worker_name: Option<String>,
    }
    #[derive(Deserialize)]
    struct Types {
        triggers: Vec<Owned>,
    }
    let registry = json!({ "function_id": OPERATIONS[0].id });
    let registry = ask::<Owned>(client, "engine::functions::info", &registry).await;
    let types = ask::<Types>(client, "engine::triggers::list", &json!({})).await;
    let (Ok(Some(registry)), Ok(Some(types))) = (registry, types) else {
        return Vec::new();
    };
    let Some(registry) = registry.worker_name else {
        return Vec::new();
    };
    let is_foreign = |found: &Owned| {
        let is_ours = |kind: &TriggerType| kind.id == found.id;
        TRIGGER_TYPES.iter().any(is_ours) && found.worker_name.as_ref() != Some(&registry)
    };
    let foreign = types.triggers.into_iter().filter(is_foreign);
    let finding = |found: Owned| {
        let provider = found.worker_name.unwrap_or_default();
        Skipped {
            place: found.id,
            reason: format!(
                "the worker `{provider}` provides this trigger type, not the registry \
                 (`{registry}`), so its subscribers hear of no change; stop `{provider}`, then \
                 start the registry again"
            ),
        }
    };
    foreign.map(finding).collect()
}

/// What is registered in the data directory. Nothing if opening it would create or migrate
/// the store.
async fn registered_in_store(store: &StoreHealth, loaded: &LoadedConfig) -> Registered {
    let dir = match store {
        StoreHealth::Healthy(StoreCheck { path, outdated, .. }) if !outdated => path.parent(),
        _ => None,
    };
    let Some(dir) = dir else {
        return Registered::default();
    };
    match LocalEngine::open(dir) {
        Ok(engine) => registered(engine, loaded, dir.display()).await,
        Err(error) => unreadable(dir.display(), error),
    }
}

/// What is registered, from the rows of state: the lists of a registry leave out the rows
/// that cannot be served.
async fn registered(
    engine: Arc<dyn Engine>,
    loaded: &LoadedConfig,
    place: impl Display,
) -> Registered {
    let registry = registry(engine, loaded, Vec::new());
    let read = async {
        let lists = (registry.skills().await?, registry.prompts().await?);
        let published = registry.published().await?;
        Ok::<_, Error>((lists, published, registry.registered_findings().await?))
    };
    let ((skills, prompts), published, findings) = match read.await {
        Ok(read) => read,
        Err(error) => return unreadable(place, error.to_text()),
    };
    let skipped = [skills.skipped, prompts.skipped].concat();
    let is_damaged = |skipped: &Skipped| !findings.off.contains(skipped);
    let mut texts = Vec::with_capacity(skills.entries.len());
    for skill in &skills.entries {
        // What cannot be read is reported as damaged.
        let content = registry.read(&ResourceUri::Skill(skill.id.clone())).await;
        if let Some(ContentData::Text(text)) = content.ok().map(|content| content.data) {
            texts.push((skill.id.clone(), text));
        }
    }
    let (skill_rows, prompt_rows) = (skills.entries.iter(), prompts.entries.iter());
    Registered {
        skills: skill_rows
            .map(|skill| (skill.id.to_string(), skill.registered_at.to_string()))
            .collect(),
        prompts: prompt_rows
            .map(|prompt| (prompt.name.to_string(), prompt.registered_at.to_string()))
            .collect(),
        damaged: skipped.into_iter().filter(is_damaged).collect(),
        texts,
        published,
        findings,
    }
}

/// State that cannot be read is a finding, not an empty list.
fn unreadable(place: impl Display, reason: impl Display) -> Registered {
    let damaged = Skipped {
        place: place.to_string(),
        reason: reason.to_string(),
    };
    Registered {
        damaged: vec![damaged],
        ..Registered::default()
    }
}
