//! `skills doctor`: what is served from where, and what is wrong anywhere.

mod json;
mod words;

use std::path::PathBuf;

use clap::Args;

use super::say::Voice;
use super::{Stop, block_on, options};
use crate::app::{self, Checkup, EngineHealth, Reaching, StoreHealth};
use crate::config::Loaded;

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

pub fn run(args: DoctorArgs) -> Result<(), Stop> {
    let loaded = options::configuration(args.config);
    let (url, _) = options::engine(args.url);
    let reaching = Reaching {
        url,
        token: args.token,
        data_dir: args.data_dir,
    };
    let checkup = block_on(async {
        let checkup = app::checkup(reaching, &loaded).await;
        checkup.map_err(|error| Stop::broken(error.to_text()))
    })?;
    let data = json::data(&loaded, &checkup);
    Voice::new(args.json, args.quiet).data("doctor", &data, |_| words::text(&loaded, &checkup))?;
    match findings(&loaded, &checkup) {
        0 => Ok(()),
        1 => Err(Stop::broken("1 finding")),
        many => Err(Stop::broken(format!("{many} findings"))),
    }
}

/// How much there is to put right.
fn findings(loaded: &Loaded, checkup: &Checkup) -> usize {
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

/// How many files each pattern gave, in the order of the configuration.
fn per_pattern<'a, T>(
    patterns: &'a [String],
    files: &[T],
    of: impl Fn(&T) -> &str,
) -> Vec<(&'a str, usize)> {
    let count = |pattern: &str| files.iter().filter(|file| of(file) == pattern).count();
    let patterns = patterns.iter().map(String::as_str);
    patterns.map(|pattern| (pattern, count(pattern))).collect()
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
