//! Options that several commands share, and the environment variables behind them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};
use jiff::SpanRelativeTo;
use jiff::fmt::friendly::SpanParser;

use skills_access::check_token;

use super::error::CliError;
use super::output::Output;
use crate::app::{EngineTarget, Target, data_dir};
use crate::config::{Config, LoadedConfig};

const DEFAULT_URL: &str = "ws://127.0.0.1:49134";
const DEFAULT_CONFIG: &str = "./config.yaml";

/// The environment variables that the program reads, and their meanings.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("SKILLS_URL", "the address of the engine"),
    ("III_URL", "the same, if `SKILLS_URL` is not set"),
    (
        "SKILLS_TOKEN",
        "the token that clients send and `skills serve` requires",
    ),
    ("SKILLS_DATA_DIR", "the data directory"),
    ("SKILLS_CONFIG", "the configuration file"),
    (
        "III_WORKER_NAME",
        "the name of the worker on an engine that starts its workers itself",
    ),
    ("RUST_LOG", "what is logged, such as `debug`"),
    ("NO_COLOR", "if set, no colours on a terminal"),
];

/// The engine and the configuration.
#[derive(Args, Clone, Debug)]
pub struct EngineArgs {
    /// The engine's WebSocket address
    /// [default: `SKILLS_URL`, else `III_URL`, else `ws://127.0.0.1:49134`].
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// The engine's bearer token.
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SKILLS_TOKEN",
        hide_env_values = true,
        value_parser = TokenParser
    )]
    pub token: Option<String>,

    /// The configuration file [default: `SKILLS_CONFIG`, else `./config.yaml` if it exists].
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,

    /// Serve the skills in the places where agents keep them too, such as `.claude/skills` here
    /// and in the home directory [config.yaml: `discover: true`].
    #[arg(long)]
    pub discover: bool,
}

impl EngineArgs {
    /// The engine's address, if an option or the environment names it.
    fn explicit_url(&self) -> Option<String> {
        self.url.clone().or_else(|| {
            let url = from_environment("SKILLS_URL").or_else(|| from_environment("III_URL"))?;
            Some(url.to_string_lossy().into_owned())
        })
    }

    /// The engine's address.
    pub fn url(&self) -> String {
        self.explicit_url().unwrap_or_else(|| DEFAULT_URL.into())
    }

    /// The configuration. A bad file is a warning: the worker and `serve` start without it.
    pub fn load_config(&self) -> LoadedConfig {
        let named = self.config.clone();
        let named = named.or_else(|| from_environment("SKILLS_CONFIG").map(Into::into));
        let mut loaded = match named {
            Some(path) => Config::load(&path),
            None => Config::load_default(DEFAULT_CONFIG.as_ref()),
        };
        if self.discover {
            loaded.discover_in = Some(".".into());
        }
        loaded
    }

    /// The configuration for a command that ends: a file that cannot be used is an error.
    pub fn usable_config(&self) -> Result<LoadedConfig, CliError> {
        let loaded = self.load_config();
        match &loaded.unusable {
            None => Ok(loaded),
            Some(problem) => Err(CliError::invalid(
                format!("the configuration cannot be used: {problem}"),
                "mend the file, or name another with --config",
            )),
        }
    }
}

/// The registry to use: an engine, else a data directory.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    #[command(flatten)]
    pub engine: EngineArgs,

    /// The directory that stores the state. Clients use it if no engine is listening, or
    /// directly if this option is given without --url
    /// [default: `SKILLS_DATA_DIR`, else this user's data directory].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl TargetArgs {
    /// The data directory, if an option or the environment names it.
    pub fn data_dir(&self) -> Option<PathBuf> {
        let named = self.data_dir.clone();
        named.or_else(|| from_environment("SKILLS_DATA_DIR").map(Into::into))
    }

    /// The data directory: the named one, else that of this user.
    pub fn required_data_dir(&self) -> Result<PathBuf, CliError> {
        self.data_dir().or_else(data_dir).ok_or_else(|| {
            CliError::invalid(
                "this user has no data directory",
                "name one with --data-dir",
            )
        })
    }

    /// The engine to look for, and the data directory to use if it is not running.
    pub fn engine_target(&self) -> EngineTarget {
        EngineTarget {
            url: self.engine.url(),
            token: self.engine.token.clone(),
            data_dir: self.data_dir(),
            is_required: false,
        }
    }

    /// Whether an engine was named, and no data directory that could take its place: what is
    /// written must not go to a directory that was not named. An option counts more than the
    /// environment.
    pub fn requires_engine(&self) -> bool {
        if self.engine.url.is_some() {
            self.data_dir.is_none()
        } else {
            self.engine.explicit_url().is_some() && self.data_dir().is_none()
        }
    }

    /// The registry to use, and whether the engine's address was given explicitly. `--data-dir`
    /// without `--url` selects the directory: options take precedence over the environment.
    pub fn target(&self) -> (Target, bool) {
        if let (None, Some(dir)) = (&self.engine.url, &self.data_dir) {
            return (Target::Directory(dir.clone()), false);
        }
        let explicit = self.engine.explicit_url().is_some();
        (Target::Engine(self.engine_target()), explicit)
    }
}

/// The form of the output.
#[derive(Args, Clone, Copy, Debug)]
pub struct OutputArgs {
    /// Print one JSON document on stdout: the result or the error.
    #[arg(long, global = true)]
    json: bool,

    /// Print only errors on stderr.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl OutputArgs {
    pub fn output(self) -> Output {
        Output::new(self.json, self.quiet)
    }
}

/// Options of every verb that uses the registry.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common options")]
pub struct Options {
    #[command(flatten)]
    pub target: TargetArgs,

    /// How long to wait for a response: `30`, `500ms`, `2s`, `5m`.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub output_args: OutputArgs,
}

impl Options {
    pub fn output(&self) -> Output {
        self.output_args.output()
    }
}

/// Accepts a token that clients can send. The error does not repeat it: it may be a secret.
#[derive(Clone)]
struct TokenParser;

impl TypedValueParser for TokenParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let token = value.to_string_lossy().into_owned();
        match check_token(&token) {
            Ok(()) => Ok(token),
            Err(problem) => Err(clap::Error::raw(
                ErrorKind::ValueValidation,
                format!(
                    "--token or SKILLS_TOKEN cannot be used: {problem}\n\n  \
                     tip: a token is one or more visible ASCII characters; leave it out for none\n"
                ),
            )
            .with_cmd(command)),
        }
    }
}

/// A variable that is set and not empty.
fn from_environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// `30` (seconds), `500ms`, `2s`, `5m`, or anything else that jiff accepts, such as `1h 30m` or `2d`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map(Duration::from_secs);
    let time = seconds
        .or_else(|_| SpanParser::new().parse_unsigned_duration(text))
        .or_else(|_| with_days(text))
        .map_err(|_| "write a number with a unit, such as `500ms`, `30s` or `5m`")?;
    match u64::try_from(time.as_millis()) {
        Ok(0) => Err("it must be at least 1ms".into()),
        Ok(_) => Ok(time),
        Err(_) => Err("it is too long".into()),
    }
}

/// A time with days, each of 24 hours.
fn with_days(text: &str) -> Result<Duration, jiff::Error> {
    let span = SpanParser::new().parse_span(text)?;
    let time = span.to_duration(SpanRelativeTo::days_are_24_hours())?;
    time.try_into()
}

/// The command line with the options that stand before the command behind it: `skills --url U list`
/// means `skills list --url U`. Without a command they are those of the worker.
pub fn command_first(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let takes_value = |option: &str| {
        let long = option.strip_prefix("--");
        let commands = std::iter::once(program).chain(program.get_subcommands());
        let mut arguments = commands.flat_map(Command::get_arguments);
        arguments.any(|arg| arg.get_long() == long && arg.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(option) = words.get(at).and_then(|word| word.to_str()) {
        if !option.starts_with('-') || option == "--" {
            break;
        }
        at += if takes_value(option) { 2 } else { 1 };
    }
    if at > 1
        && words
            .get(at)
            .is_some_and(|word| program.find_subcommand(word).is_some())
    {
        let command = words.remove(at);
        words.insert(1, command);
    }
    words
}

/// The command of a command line, such as `prompts get`; without one, the name of the program.
pub fn command_name(words: Vec<OsString>, program: &Command) -> String {
    let words = command_first(words, program);
    let mut command = program;
    let mut names = Vec::new();
    for word in &words[1..] {
        match command.find_subcommand(word) {
            Some(found) => {
                names.push(found.get_name());
                command = found;
            }
            None if word.as_encoded_bytes().starts_with(b"-") => {}
            None => break,
        }
    }
    if names.is_empty() {
        program.get_name().to_owned()
    } else {
        names.join(" ")
    }
}

/// Whether the command line contains `--json`. Known before the command line is parsed, so that
/// a mistake in it is reported as JSON too.
pub fn wants_json() -> bool {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.any(|word| word == "--json")
}

#[cfg(test)]
mod tests {
    use clap::ArgAction;

    use super::*;

    #[test]
    fn options_may_stand_before_the_command() {
        let url = || Arg::new("url").long("url").action(ArgAction::Set);
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
        let list = Command::new("list").alias("ls").arg(url()).arg(json);
        let program = Command::new("skills").arg(url()).subcommand(list);
        let check = |given: &str, expected: &str| {
            let words = given.split(' ').map(Into::into).collect();
            let words = command_first(words, &program);
            assert_eq!(words.join(OsStr::new(" ")), *expected, "for {given}");
        };
        check("skills --url u list x", "skills list --url u x");
        check("skills --url=u --json list", "skills list --url=u --json");
        check("skills list --url u", "skills list --url u");
        // The value of an option is not a command.
        check("skills --url list", "skills --url list");
        check("skills --url u", "skills --url u");
        check("skills", "skills");
        check("skills --help", "skills --help");
        check("skills -- list", "skills -- list");
        let check = |given: &str, expected: &str| {
            let words = given.split(' ').map(Into::into).collect();
            assert_eq!(command_name(words, &program), expected, "for {given}");
        };
        check("skills --url u list --json x", "list");
        check("skills ls", "list");
        check("skills --json", "skills");
        check("skills odd list", "skills");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = parse_duration(text).map_or_else(|problem| problem, |time| format!("{time:?}"));
        assert!(got.contains(expected), "for {text:?}: {got}");
    }

    #[test]
    fn timeouts() {
        check("30", "30s");
        check("2s", "2s");
        check("1500ms", "1.5s");
        check("1.5s", "1.5s");
        check("5m", "300s");
        check("1h 30m", "5400s");
        check("2d", "172800s");
        check("1d 12h", "129600s");
        check("400d", "34560000s");
        check("-2d", "a number with a unit");
        check("1month", "a number with a unit");
        check("0", "at least 1ms");
        check("0.1ms", "at least 1ms");
        check("-1s", "a number with a unit");
        check("", "a number with a unit");
        check("3x", "a number with a unit");
        check("99999999999999999999s", "a number with a unit");
        check("9999999999999999999s", "too long");
    }
}
