//! What every verb that asks the registry takes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::output::Output;
use crate::app::{EngineTarget, Target};
use crate::config::{Config, LoadedConfig};

/// Where an engine is looked for.
const URL: &str = "ws://127.0.0.1:49134";
/// Where the configuration is looked for.
const CONFIG: &str = "./config.yaml";

/// Where the registry is.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// The engine to ask; if none answers there, the data directory is used
    /// [default: `SKILLS_URL`, else `ws://127.0.0.1:49134`].
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

    /// Work on this data directory and, unless --url is given too, look for no engine
    /// [default: `SKILLS_DATA_DIR`, else this user's data directory].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// The configuration that names scopes, and files for where no engine answers
    /// [default: ./config.yaml].
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
}

/// Options of the verbs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common options")]
pub struct Options {
    #[command(flatten)]
    pub target: TargetArgs,

    /// How long to wait for an answer: `30`, `500ms`, `2s`, `5m`.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub timeout: Duration,

    /// Say it as JSON: one document on stdout, of the result or of the error.
    #[arg(long)]
    pub json: bool,

    /// Say nothing on stderr but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Options {
    /// How this command speaks.
    pub fn output(&self) -> Output {
        Output::new(self.json, self.quiet)
    }
}

impl TargetArgs {
    /// Where to look, and whether somebody named the engine's address. Naming a data
    /// directory and no address means that directory; what is named counts more than the
    /// environment.
    pub fn target(&self) -> (Target, bool) {
        let data_dir = self.data_dir.clone();
        if let (None, Some(dir)) = (&self.url, &data_dir) {
            return (Target::Directory(dir.clone()), false);
        }
        let (url, named) = engine(self.url.clone());
        let target = EngineTarget {
            url,
            token: self.token.clone(),
            data_dir: data_dir.or_else(|| from_environment("SKILLS_DATA_DIR").map(Into::into)),
        };
        (Target::Engine(target), named)
    }

    /// The configuration.
    pub fn configuration(&self) -> LoadedConfig {
        configuration(self.config.clone())
    }
}

/// The engine's address, and whether somebody named it, here or in the environment.
pub fn engine(url: Option<String>) -> (String, bool) {
    let named = url.or_else(|| {
        let url = from_environment("SKILLS_URL")?;
        Some(url.to_string_lossy().into_owned())
    });
    let is_named = named.is_some();
    (named.unwrap_or_else(|| URL.to_owned()), is_named)
}

/// The configuration. That there is none is worth a word only where one was named.
pub fn configuration(named: Option<PathBuf>) -> LoadedConfig {
    let was_named = named.is_some();
    let path = named.unwrap_or_else(|| CONFIG.into());
    let mut loaded = Config::load(&path);
    if !was_named && !path.exists() {
        loaded.warnings.clear();
    }
    loaded
}

/// A variable that is set to something.
fn from_environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// `30`, `500ms`, `2s` or `5m`.
fn duration(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let milliseconds = match &text[number.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        unit => return Err(format!("`{unit}` is no unit; use ms, s or m, as in `30s`")),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "it must be a whole number with ms, s or m, as in `30s`".to_owned())?;
    match number.checked_mul(milliseconds) {
        None | Some(0) => Err("it must be at least 1ms, and not endless".into()),
        Some(time) => Ok(Duration::from_millis(time)),
    }
}

/// A time as it is written on the command line.
pub fn shown(time: Duration) -> String {
    match time.as_millis() {
        ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

/// Whether the command line asks for JSON: known before it is understood, so that a
/// mistake in it is told in the same form.
pub fn wants_json() -> bool {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.any(|word| word == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = duration(text).map_or_else(|problem| problem, shown);
        assert!(got.contains(expected), "for {text:?}: {got}");
    }

    #[test]
    fn times() {
        check("30", "30s");
        check("2s", "2s");
        check("1500ms", "1500ms");
        check("5m", "300s");
        check("0", "at least 1ms");
        check("-1s", "whole number");
        check("1.5s", "whole number");
        check("", "whole number");
        check("3h", "`h` is no unit");
        check("99999999999999999999s", "whole number");
        check("9999999999999999999s", "not endless");
    }
}
