//! `skills doctor`: what is served from which file, and every problem with files, engine and
//! store.

mod json;
mod text;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use skills_core::{Severity, Unlisted};
use skills_files::{LoadedFile, PatternMatches};
use skills_lint::Finding;

use super::humanize::count;
use super::options::{OutputArgs, TargetArgs};
use super::paths::check_paths;
use super::{CliError, block_on};
use crate::app::{self, Checkup, EngineHealth, StoreHealth};
use crate::config::LoadedConfig;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Folders to check as `skills serve` and `skills mcp` would serve them.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "Examples:
  skills doctor                               exit code 0 without findings, 1 with findings
  skills doctor skills                        the skills in the folder skills
  skills doctor --discover                    the skills of every agent on this machine
  skills doctor --config team.yaml --json     for programs";

pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let config = LoadedConfig {
        paths: check_paths(&args.paths)?,
        ..args.target.engine.usable_config()?
    };
    let checkup = block_on(async {
        let checkup = app::checkup(args.target.engine_target(), &config).await;
        checkup.map_err(|error| CliError::broken(error.to_text()))
    })?;
    let diagnosis = Diagnosis::new(&config, &checkup);
    let lines = text::lines(&diagnosis);
    let findings = text::count_findings(&diagnosis, &lines);
    let data = json::data(&diagnosis, findings);
    let output = args.output.output();
    output.data("doctor", &data, |_| text::print(&lines))?;
    match findings {
        0 => Ok(()),
        _ => Err(CliError::broken(count(findings, "finding"))),
    }
}

/// A checkup, prepared for both forms of output.
struct Diagnosis<'a> {
    config: &'a LoadedConfig,
    checkup: &'a Checkup,
    engine: Status,
    store: Status,
    store_path: Option<&'a Path>,
    skill_patterns: Vec<PatternCount<'a>>,
    prompt_patterns: Vec<PatternCount<'a>>,
    agent_patterns: Vec<PatternCount<'a>>,
    unlisted: Vec<&'a Unlisted>,
}

/// The skills that clients of Agent Skills are not offered; what the lines of their files say is
/// not repeated.
fn unlisted(checkup: &Checkup) -> Vec<&Unlisted> {
    let is_known = |unlisted: &&Unlisted| {
        let mut files = checkup.report.skills.iter();
        let file = files.find(|file| file.name == unlisted.id.as_str());
        file.is_some_and(|file| {
            let folder = file.folder.as_ref();
            let is_rejected = folder.is_some_and(|folder| !folder.rejections.is_empty());
            unlisted.is_fault && (is_rejected || file.warnings.contains(&unlisted.reason))
        })
    };
    let all = checkup.unlisted.iter();
    all.filter(|unlisted| !is_known(unlisted)).collect()
}

/// The findings of `skills lint` without notes, and without those that other lines report.
fn lint<'a>(diagnosis: &'a Diagnosis<'_>) -> impl Iterator<Item = &'a Finding> {
    let reported = [
        "F001", "F002", "F003", "F004", "F006", "F007", "F019", "F022", "F023",
    ];
    let findings = diagnosis.checkup.lint.all.iter();
    findings.filter(move |finding| {
        finding.severity > Severity::Note && !reported.contains(&finding.rule.code)
    })
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

impl<'a> Diagnosis<'a> {
    fn new(config: &'a LoadedConfig, checkup: &'a Checkup) -> Self {
        let (patterns, report) = (&config.config, &checkup.report);
        let skills = report.skills.iter().map(|file| &file.pattern);
        let prompts = report.prompts.iter().map(|file| &file.pattern);
        let agents = checkup.agents.iter().map(|agent| &agent.pattern);
        Self {
            config,
            checkup,
            engine: engine_status(&checkup.engine),
            store: store_status(&checkup.store),
            store_path: match &checkup.store {
                StoreHealth::Healthy(checked) => Some(&checked.path),
                StoreHealth::Empty(path) | StoreHealth::Broken(path, _) => Some(path),
                StoreHealth::NoDataDir => None,
            },
            skill_patterns: count_files(&patterns.skills, &report.skill_patterns, &skills),
            prompt_patterns: count_files(&patterns.prompts, &report.prompt_patterns, &prompts),
            agent_patterns: count_files(&patterns.agents, &checkup.agent_patterns, &agents),
            unlisted: unlisted(checkup),
        }
    }
}

/// The state of the engine or of the store: a word for programs, a sentence for people.
struct Status {
    state: &'static str,
    message: String,
    is_finding: bool,
}

impl Status {
    fn good(state: &'static str, message: impl Into<String>) -> Self {
        Self {
            state,
            message: message.into(),
            is_finding: false,
        }
    }

    fn bad(state: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_finding: true,
            ..Self::good(state, message)
        }
    }
}

fn engine_status(engine: &EngineHealth) -> Status {
    match engine {
        EngineHealth::Serving => Status::good("serving", "running, with a registry"),
        EngineHealth::Idle(problem) => Status::bad(
            "idle",
            format!("running, but without a registry ({problem}); start `skills`"),
        ),
        EngineHealth::Absent => {
            Status::good("absent", "not running; commands use the data directory")
        }
        EngineHealth::Refused(error) => Status::bad("refusing", with_hint(error, error.hint())),
    }
}

fn store_status(store: &StoreHealth) -> Status {
    match store {
        StoreHealth::Healthy(check) => {
            let (version, rows) = (check.version, check.rows);
            let message = format!("healthy: schema version {version}, rows: {rows}");
            let outdated = check.outdated.then_some(", to be migrated on next use");
            Status::good("healthy", message + outdated.unwrap_or_default())
        }
        StoreHealth::Empty(_) => Status::good("empty", "nothing stored yet"),
        StoreHealth::Broken(_, error) => Status::bad("broken", with_hint(error, error.hint())),
        StoreHealth::NoDataDir => Status::bad(
            "nowhere",
            "this user has no data directory; name one with --data-dir",
        ),
    }
}

fn with_hint(error: &impl Display, hint: Option<impl Display>) -> String {
    match hint {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// The files of one pattern of the configuration.
#[derive(Serialize)]
struct PatternCount<'a> {
    pattern: &'a str,
    /// Files that it matches.
    files: usize,
    /// Files that are served because of it.
    served: usize,
    /// Files that an earlier pattern matches too.
    earlier: usize,
}

/// Counts the files of each pattern, in the order of the configuration, and of each folder after
/// them. `served` has the pattern of each file that is served.
fn count_files<'a, 'b>(
    patterns: &'a [String],
    matches: &'a [PatternMatches],
    served: &(impl Iterator<Item = &'b Arc<str>> + Clone),
) -> Vec<PatternCount<'a>> {
    let mut matches = matches.iter().peekable();
    let count = |pattern: &'a str, matches: Option<&PatternMatches>| {
        // Compare pointers: the same text may occur twice.
        let is_its = |of: &&Arc<str>| matches.is_some_and(|m| Arc::ptr_eq(of, &m.pattern));
        PatternCount {
            pattern,
            files: matches.map_or(0, |matches| matches.files),
            served: served.clone().filter(is_its).count(),
            earlier: matches.map_or(0, |matches| matches.earlier),
        }
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
