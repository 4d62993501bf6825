//! The checks of `skills doctor` that need more than the rules: configuration, files, store,
//! engine. The registry that runs has them too, so that it answers for its own files.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use serde::Deserialize;
use serde_json::json;
use skills_api::{OPERATIONS, TRIGGER_TYPES, TriggerType};
use skills_core::{
    ContentData, Error, FindingGroup, HealthFinding, Origin, Registry, ResourceUri, Severity,
};
use skills_files::agents::LoadedAgent;
use skills_files::{LoadedFile, PatternMatches, Sources};
use skills_iii::Client;
use skills_iii::state::{SqliteState, StateError, StoreCheck, StoreOptions};
use skills_lint::Finding;

use super::lint::{collect, registered_skill};
use super::served::Served;
use super::triggers::ask;
use crate::config::LoadedConfig;

/// Adds the checks of configuration and files.
pub fn add_checks(registry: &Arc<Registry>, loaded: &LoadedConfig, sources: &Sources) {
    let warnings = loaded.warnings.clone();
    registry.add_check(Arc::new(move || {
        let found = Ok(warnings.iter().map(|text| setting(text)).collect());
        Box::pin(std::future::ready(found))
    }));
    let (loaded, sources) = (Arc::new(loaded.clone()), sources.clone());
    // Weak: the registry holds its checks.
    let weak = Arc::downgrade(registry);
    registry.add_check(Arc::new(move || {
        let (loaded, sources, weak) = (Arc::clone(&loaded), sources.clone(), Weak::clone(&weak));
        Box::pin(async move {
            let Some(registry) = weak.upgrade() else {
                return Ok(Vec::new());
            };
            let served = Served::of(&registry).await;
            let mut found = files(&sources, &loaded, &served).await?;
            if loaded.config.publish {
                found.extend(unpublished(&registry).await);
            }
            found.extend(lint(&registry, &sources, &loaded).await?);
            Ok(found)
        })
    }));
}

/// Adds the check of a data directory.
pub fn add_store_check(registry: &Registry, data_dir: PathBuf) {
    registry.add_check(Arc::new(move || {
        let dir = data_dir.clone();
        Box::pin(async move { Ok(store_findings(&StoreHealth::of(dir).await)) })
    }));
}

/// Adds the check of an engine that this registry serves on.
pub fn add_engine_check(registry: &Registry, client: &Client) {
    let client = client.clone();
    registry.add_check(Arc::new(move || {
        let client = client.clone();
        Box::pin(async move { Ok(foreign_providers(&client).await) })
    }));
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
}

impl StoreHealth {
    /// Reads all of the store, without creating or changing anything.
    pub async fn of(dir: PathBuf) -> Self {
        let checked = dir.clone();
        let check = move || SqliteState::check(&checked, &StoreOptions::default());
        match tokio::task::spawn_blocking(check).await {
            Ok(Ok(Some(checked))) => Self::Healthy(checked),
            Ok(Ok(None)) => Self::Empty(dir),
            Ok(Err(error)) => Self::Broken(dir, error),
            Err(_) => Self::Broken(dir, StateError::Panicked),
        }
    }
}

/// What was found in a data directory.
pub fn store_findings(store: &StoreHealth) -> Vec<HealthFinding> {
    match store {
        StoreHealth::Healthy(check) => {
            let (version, rows) = (check.version, check.rows);
            let outdated = check.outdated.then_some(", to be migrated on next use");
            let outdated = outdated.unwrap_or_default();
            let reason = format!("healthy: schema version {version}, rows: {rows}{outdated}");
            let mut found = vec![well(format!("store {}", check.path.display()), reason)];
            found.extend(check.damaged.iter().map(|row| {
                let place = format!("{}/{}", row.scope, row.key);
                HealthFinding::new(FindingGroup::Damaged, place, &row.problem)
            }));
            found
        }
        StoreHealth::Empty(path) => {
            vec![well(
                format!("store {}", path.display()),
                "nothing stored yet",
            )]
        }
        StoreHealth::Broken(path, error) => {
            let (place, reason) = (path.display().to_string(), error.with_cause_and_hint());
            vec![HealthFinding::new(FindingGroup::Store, place, reason)]
        }
    }
}

fn well(place: impl Into<String>, reason: impl Into<String>) -> HealthFinding {
    HealthFinding::new(FindingGroup::Well, place, reason)
}

fn to_correct(place: impl Display, reason: impl Into<String>) -> HealthFinding {
    HealthFinding::new(FindingGroup::ToCorrect, place.to_string(), reason)
}

/// A warning about a setting: its place, then the message.
fn setting(warning: &str) -> HealthFinding {
    let (place, reason) = warning
        .split_once(": ")
        .unwrap_or(("configuration", warning));
    HealthFinding::new(FindingGroup::Configuration, place, reason)
}

/// What is served from which file, and what its author should correct. What is not served is
/// reported by the registry.
async fn files(
    sources: &Sources,
    loaded: &LoadedConfig,
    served: &Served,
) -> Result<Vec<HealthFinding>, Error> {
    let report = sources.report().await?;
    let folder = report.folder.unwrap_or_default();
    let agents = report.agents.unwrap_or_default();
    let config = &loaded.config;
    let mut found = Vec::new();
    for (kind, files, patterns, matches) in [
        (
            "skill",
            &folder.skills,
            &config.skills,
            &folder.skill_patterns,
        ),
        (
            "prompt",
            &folder.prompts,
            &config.prompts,
            &folder.prompt_patterns,
        ),
    ] {
        let is_served = |file: &LoadedFile| served.has(kind, &file.name, Origin::Fs);
        let its = files.iter().filter(|file| is_served(file));
        let its: Vec<_> = its.map(|file| &file.pattern).collect();
        found.extend(pattern_counts(kind, patterns, matches, &its));
        let all = files.iter();
        found.extend(all.flat_map(|file| file_findings(kind, file, is_served(file))));
    }
    let its = agents.documents.iter();
    let its = its.filter(|agent| !served.ids(agent).is_empty());
    let its: Vec<_> = its.map(|agent| &agent.pattern).collect();
    found.extend(pattern_counts(
        "agent",
        &config.agents,
        &agents.patterns,
        &its,
    ));
    let all = agents.documents.iter();
    found.extend(all.flat_map(|agent| agent_findings(agent, served)));
    Ok(found)
}

fn file_findings(kind: &str, file: &LoadedFile, is_served: bool) -> Vec<HealthFinding> {
    let path = file.path.display();
    let files = file.folder.as_ref().map(|folder| folder.files.len());
    let files = files.map(|files| format!(" (files: {files})"));
    let served = format!("served from {path}{}", files.unwrap_or_default());
    let served = is_served.then(|| well(format!("{kind} {}", file.name), served));
    let mut found: Vec<_> = served.into_iter().collect();
    let warnings = file.warnings.iter();
    found.extend(warnings.map(|warning| to_correct(path.to_string(), warning)));
    found.extend(rejections(file).map(|reason| {
        let reason = format!("other agents do not load it: it {reason}");
        to_correct(path.to_string(), reason)
    }));
    found
}

/// Why the specification rejects a skill folder; what its warnings say is not repeated.
fn rejections(file: &LoadedFile) -> impl Iterator<Item = &str> {
    let folder = file.folder.iter();
    let reasons = folder.flat_map(|folder| folder.rejections.iter());
    let is_known = |reason: &str| {
        let mut warnings = file.warnings.iter();
        warnings.any(|known| reason.contains(known) || known.contains(reason))
    };
    reasons
        .map(String::as_str)
        .filter(move |reason| !is_known(reason))
}

fn agent_findings(agent: &LoadedAgent, served: &Served) -> Vec<HealthFinding> {
    let (path, ids) = (agent.path.display(), served.ids(agent));
    let mut found = Vec::new();
    if !ids.is_empty() {
        let place = format!("agent {}", ids.join(" "));
        found.push(well(place, format!("served from {path}")));
    }
    found.extend(agent.warnings.iter().map(|warning| {
        // It begins with a line and a column.
        let (at, reason) = warning.split_once(": ").unwrap_or(("1:1", warning));
        to_correct(format!("{path}:{at}"), reason)
    }));
    found
}

/// Counts the files of each pattern, in the order of the configuration, and of each folder after
/// them. `served` has the pattern of each file that is served.
fn pattern_counts(
    kind: &str,
    patterns: &[String],
    matches: &[PatternMatches],
    served: &[&Arc<str>],
) -> Vec<HealthFinding> {
    let mut matches = matches.iter().peekable();
    let count = |pattern: &str, matches: Option<&PatternMatches>| {
        // Compare pointers: the same text may occur twice.
        let is_its = |of: &&&Arc<str>| matches.is_some_and(|m| Arc::ptr_eq(of, &m.pattern));
        let served = served.iter().filter(is_its).count();
        let files = matches.map_or(0, |matches| matches.files);
        let earlier = match matches.map_or(0, |matches| matches.earlier) {
            0 => String::new(),
            earlier => format!(", matched by an earlier pattern: {earlier}"),
        };
        let reason = format!("files: {files}, {kind}s: {served}{earlier}");
        well(format!("pattern {pattern}"), reason)
    };
    let mut counted = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        // Invalid patterns have no matches.
        let matches = matches.next_if(|matches| *matches.pattern == **pattern);
        counted.push(count(pattern, matches));
    }
    // A folder is searched for files of every kind.
    let found = matches.filter(|folder| folder.files > 0);
    counted.extend(found.map(|folder| count(&folder.pattern, Some(folder))));
    counted
}

/// The skills that the published index leaves out because an earlier one has their name.
async fn unpublished(registry: &Registry) -> Vec<HealthFinding> {
    // State that cannot be read is reported by the registry.
    let Ok(published) = registry.published().await else {
        return Vec::new();
    };
    let taken = published.by_name();
    let taken = taken.filter_map(|(skill, first)| {
        let (first, name) = (first?, skill.name());
        let reason = format!(
            "is not in the published index, because `{first}` has the name `{name}` too and \
             clients install skills by name; rename one of them"
        );
        Some(to_correct(skill.id(), reason))
    });
    taken.collect()
}

/// The findings of `skills lint` in files and registered skills.
async fn lint(
    registry: &Registry,
    sources: &Sources,
    loaded: &LoadedConfig,
) -> Result<Vec<HealthFinding>, Error> {
    let mut collection = collect(sources).await?;
    let skills = registry.skills().await.map(|skills| skills.entries);
    for skill in skills.unwrap_or_default() {
        if skill.origin != Origin::State {
            continue;
        }
        // What cannot be read is reported as damaged.
        let uri = ResourceUri::Skill(skill.id.clone());
        let content = registry.read_uncounted(&uri).await;
        if let Some(ContentData::Text(text)) = content.ok().map(|content| content.data) {
            collection.skills.push(registered_skill(skill.id, &text));
        }
    }
    let settings = loaded.config.lint.clone();
    let check = move || skills_lint::check(&collection, &settings);
    let Ok(findings) = tokio::task::spawn_blocking(check).await else {
        return Ok(Vec::new());
    };
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let here = here.unwrap_or_default();
    let found = findings.all.iter().filter(|finding| is_news(finding));
    let found = found.map(|finding| {
        let group = match finding.severity {
            Severity::Error => FindingGroup::ToCorrect,
            Severity::Warning | Severity::Note => FindingGroup::Advice,
        };
        // The reader may be in another directory than the registry.
        let file = if finding.file.contains("://") {
            finding.file.to_string()
        } else {
            here.join(&*finding.file).display().to_string()
        };
        let (code, message) = (finding.rule.code, &finding.message);
        HealthFinding::new(
            group,
            format!("{file}:{}", finding.at),
            format!("{code}: {message}"),
        )
    });
    Ok(found.collect())
}

/// Whether no other check reports it.
fn is_news(finding: &Finding) -> bool {
    let reported = [
        "F001", "F002", "F003", "F004", "F006", "F007", "F019", "F022", "F023",
    ];
    finding.severity > Severity::Note && !reported.contains(&finding.rule.code)
}

/// The trigger types of the registry that another worker than the registry's provides: their
/// subscribers hear of no change.
async fn foreign_providers(client: &Client) -> Vec<HealthFinding> {
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
        let reason = format!(
            "the worker `{provider}` provides this trigger type, not the registry \
             (`{registry}`), so its subscribers hear of no change; stop `{provider}`, then \
             start the registry again"
        );
        HealthFinding::new(FindingGroup::Engine, found.id, reason)
    };
    foreign.map(finding).collect()
}
