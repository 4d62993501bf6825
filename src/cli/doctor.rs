//! `skills doctor`: what is served from where, and what is wrong anywhere.

mod json;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::output::Output;
use super::{CliError, block_on, options};
use crate::app::{self, Checkup, EngineHealth, EngineTarget, StoreHealth};
use crate::config::LoadedConfig;
use skills_files::PatternMatches;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// The configuration file to look at [default: ./config.yaml, if there is one].
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,

    /// The engine's WebSocket address [default: `SKILLS_URL`, else `ws://127.0.0.1:49134`].
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// A bearer token for the engine.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SKILLS_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,

    /// Where state is kept [default: this user's data directory].
    #[arg(long, value_name = "DIR", env = "SKILLS_DATA_DIR")]
    data_dir: Option<PathBuf>,

    /// Say it as one JSON document.
    #[arg(long)]
    json: bool,

    /// Say nothing on stderr but errors.
    #[arg(long, short)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  skills doctor                               exit code 0 if all is well, 1 if not
  skills doctor --config team.yaml --json     for programs";

pub fn run(args: DoctorArgs) -> Result<(), CliError> {
    let loaded = options::configuration(args.config);
    let (url, _) = options::engine(args.url);
    let target = EngineTarget {
        url,
        token: args.token,
        data_dir: args.data_dir,
    };
    let checkup = block_on(async {
        let checkup = app::checkup(target, &loaded).await;
        checkup.map_err(|error| CliError::broken(error.to_text()))
    })?;
    let data = json::data(&loaded, &checkup);
    Output::new(args.json, args.quiet).data("doctor", &data, |_| words::text(&loaded, &checkup))?;
    match findings(&loaded, &checkup) {
        0 => Ok(()),
        1 => Err(CliError::broken("1 finding")),
        many => Err(CliError::broken(format!("{many} findings"))),
    }
}

/// How much there is to put right.
fn findings(loaded: &LoadedConfig, checkup: &Checkup) -> usize {
    let report = &checkup.report;
    let files = report.skills.iter().chain(&report.prompts);
    let warned = files.filter(|file| file.warning.is_some()).count();
    let engine = match checkup.engine {
        EngineHealth::Serves | EngineHealth::Absent => 0,
        EngineHealth::Idle(_) | EngineHealth::Refuses(_) => 1,
    };
    let store = match checkup.store {
        StoreHealth::Well(_) | StoreHealth::Empty(_) => 0,
        StoreHealth::Ill(..) | StoreHealth::Nowhere => 1,
    };
    let listed = [
        loaded.warnings.len(),
        report.skipped.len(),
        checkup.shadowed.len(),
        checkup.damaged.len(),
        checkup.agents.iter().map(|a| a.warnings.len()).sum(),
    ];
    listed.iter().sum::<usize>() + warned + engine + store
}

/// What became of a pattern.
struct Counted<'a> {
    pattern: &'a str,
    /// How many files it matches.
    files: usize,
    /// How many of them are served because of it.
    served: usize,
    /// How many of them an earlier pattern matches already.
    earlier: usize,
}

/// What became of the patterns for skills, prompts and agents, each in the order of the
/// configuration.
fn counted<'a>(loaded: &'a LoadedConfig, checkup: &Checkup) -> [Vec<Counted<'a>>; 3] {
    let (config, report) = (&loaded.config, &checkup.report);
    let (skills, prompts) = (report.skills.iter(), report.prompts.iter());
    let skills: Vec<_> = skills.map(|file| &file.pattern).collect();
    let prompts: Vec<_> = prompts.map(|file| &file.pattern).collect();
    let agents: Vec<_> = checkup.agents.iter().map(|agent| &agent.pattern).collect();
    [
        count(&config.skills, &report.skill_patterns, &skills),
        count(&config.prompts, &report.prompt_patterns, &prompts),
        count(&config.agents, &checkup.agent_patterns, &agents),
    ]
}

/// `served`: the pattern of each file that is.
fn count<'a>(
    patterns: &'a [String],
    matches: &[PatternMatches],
    served: &[&Arc<str>],
) -> Vec<Counted<'a>> {
    let mut matches = matches.iter().peekable();
    let counted = patterns.iter().map(|pattern| {
        // One that was not understood is not among them.
        let matches = matches.next_if(|matches| *matches.pattern == **pattern);
        // Not by its words: the same may be written twice.
        let its = |of: &Arc<str>| matches.is_some_and(|m| Arc::ptr_eq(of, &m.pattern));
        Counted {
            pattern,
            files: matches.map_or(0, |matches| matches.files),
            served: served.iter().filter(|of| its(of)).count(),
            earlier: matches.map_or(0, |matches| matches.earlier),
        }
    });
    counted.collect()
}

/// What is to be said about the engine: a word for programs, and a sentence.
fn engine(checkup: &Checkup) -> (&'static str, String) {
    match &checkup.engine {
        EngineHealth::Serves => ("serving", "answers, and a registry serves there".into()),
        EngineHealth::Idle(problem) => (
            "idle",
            format!("answers, but no registry serves there ({problem}); start `skills`"),
        ),
        EngineHealth::Absent => (
            "absent",
            "nobody listens there; the data directory is used".into(),
        ),
        EngineHealth::Refuses(error) => ("refusing", with_hint(error, error.hint())),
    }
}

/// The same about the data directory.
fn store(checkup: &Checkup) -> (&'static str, String) {
    match &checkup.store {
        StoreHealth::Well(checked) => {
            let (version, rows) = (checked.version, checked.rows);
            let outdated = if checked.outdated {
                " (brought up to date when it is used next)"
            } else {
                ""
            };
            let said = format!("healthy: schema version {version}{outdated}, rows: {rows}");
            ("healthy", said)
        }
        StoreHealth::Empty(_) => ("empty", "nothing kept yet".into()),
        StoreHealth::Ill(_, error) => ("broken", with_hint(error, error.hint())),
        StoreHealth::Nowhere => (
            "nowhere",
            "this user has no data directory; name one with --data-dir".into(),
        ),
    }
}

/// Where the data directory is.
fn place(checkup: &Checkup) -> Option<String> {
    let path = match &checkup.store {
        StoreHealth::Well(checked) => &checked.path,
        StoreHealth::Empty(path) | StoreHealth::Ill(path, _) => path,
        StoreHealth::Nowhere => return None,
    };
    Some(path.display().to_string())
}

fn with_hint(error: &impl std::error::Error, hint: Option<impl AsRef<str>>) -> String {
    match hint {
        Some(hint) => format!("{error}; {}", hint.as_ref()),
        None => error.to_string(),
    }
}
