//! `config.yaml`.
//!
//! A bad configuration never stops the program: valid settings apply, the others fall back
//! to their defaults, each with a warning.

mod limits;
mod lint;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skills_core::{LintSettings, RegistrySettings};
use skills_files::{ReadFileError, read_named_file};

use crate::limits::MAX_CONFIG_BYTES;
pub use limits::LimitSettings;

/// The configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Config {
    /// Scopes of state.
    pub scopes: Scopes,
    /// How long to wait for state, sections and prompt handlers, in milliseconds.
    pub state_timeout_ms: u64,
    /// Patterns of markdown files that are skills.
    pub skills: Vec<String>,
    /// Patterns of markdown files that are prompts.
    pub prompts: Vec<String>,
    /// Patterns of `.3md` documents, each the skills of one agent.
    pub agents: Vec<String>,
    /// Whether the places where agents keep skills are served too.
    pub discover: bool,
    /// Which functions MCP clients see as tools.
    pub mcp: Mcp,
    /// Whether `skills serve` publishes the skills to whoever reaches its HTTP port.
    pub publish: bool,
    /// The limits that an operator can set.
    pub limits: LimitSettings,
    /// What findings in skills mean.
    #[serde(skip)]
    pub lint: LintSettings,
}

/// Which functions on the engine are MCP tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mcp {
    /// Prefixes of function ids that are hidden.
    pub hide: Vec<String>,
    /// Whether a function needs `metadata.mcp.expose: true`.
    pub require_expose: bool,
}

/// The scopes of state that hold the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scopes {
    /// The scope of the skills.
    pub skills: String,
    /// The scope of the prompts.
    pub prompts: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            scopes: Scopes {
                skills: "skills".into(),
                prompts: "prompts".into(),
            },
            state_timeout_ms: 10_000,
            skills: Vec::new(),
            prompts: Vec::new(),
            mcp: Mcp::default(),
            publish: false,
            agents: Vec::new(),
            discover: false,
            limits: LimitSettings::default(),
            lint: LintSettings::default(),
        }
    }
}

/// A configuration and the warnings about its file.
#[derive(Debug, Default)]
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// The warnings, each with the path of the file.
    pub warnings: Vec<String>,
    /// The directory that relative patterns start from.
    pub base: PathBuf,
    /// Folders and documents that the command line names.
    pub paths: Vec<PathBuf>,
    /// The project whose places, with those of the user, are searched for skills.
    pub discover_in: Option<PathBuf>,
}

/// The form of the file: every setting is optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    scopes: Option<FileScopes>,
    state_timeout_ms: Option<u64>,
    skills: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    mcp: Option<FileMcp>,
    agents: Option<Vec<String>>,
    publish: Option<bool>,
    discover: Option<bool>,
    limits: Option<BTreeMap<String, Value>>,
    lint: Option<BTreeMap<String, Value>>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileScopes {
    skills: Option<String>,
    prompts: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileMcp {
    hide: Option<Vec<String>>,
    require_expose: Option<bool>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// Parses the file: a map, or the list of one map that an engine hands to its workers.
fn parse_maps(text: &str) -> Result<Vec<File>, serde_saphyr::Error> {
    // An alias repeats a value, and an alias of aliases any number of values.
    let alias_limits = serde_saphyr::alias_limits! { max_total_replayed_events: 10_000 };
    let options = serde_saphyr::options! { alias_limits: alias_limits };
    let first = significant_lines(text).next();
    if first.is_some_and(|line| line.starts_with(['-', '['])) {
        serde_saphyr::from_str_with_options(text, options)
    } else {
        serde_saphyr::from_str_with_options(text, options).map(|file| vec![file])
    }
}

/// The lines other than comments, blank lines and document markers.
fn significant_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.trim_start_matches('\u{feff}').lines();
    lines.filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "---"
    })
}

/// Reads the file, if it is a regular one: a pipe would make the program wait for its writer.
fn read_text(path: &Path) -> Result<String, String> {
    match read_named_file(path, MAX_CONFIG_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()),
        Err(ReadFileError::TooLarge { bytes }) => Err(format!(
            "it is too large: {bytes} bytes, at most {MAX_CONFIG_BYTES}"
        )),
        Err(error) => Err(error.to_string()),
    }
}

impl Config {
    /// Reads the file at `path`.
    pub fn load(path: &Path) -> LoadedConfig {
        let base = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let base = base.unwrap_or(Path::new(".")).to_owned();
        let (config, warnings) = match read_text(path) {
            Ok(text) => Self::parse(&text),
            Err(error) => (
                Self::default(),
                vec![format!("{error}; the defaults apply")],
            ),
        };
        let place = |warning: String| format!("{}: {warning}", path.display());
        LoadedConfig {
            discover_in: config.discover.then(|| base.clone()),
            config,
            warnings: warnings.into_iter().map(place).collect(),
            base,
            paths: Vec::new(),
        }
    }

    /// Parses the text of a file; returns the configuration and the warnings.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut warnings = Vec::new();
        let files = if significant_lines(text).next().is_none() {
            Err("is empty".to_owned())
        } else {
            parse_maps(text).map_err(|error| {
                let error = error.to_string();
                let first = error.lines().next().unwrap_or_default();
                first.trim_start_matches("error: ").to_owned()
            })
        };
        let file = match files {
            Ok(mut files) if files.len() == 1 => files.remove(0),
            Ok(files) => {
                let problem = format!("has {} maps instead of one", files.len());
                return (config, vec![format!("{problem}; the defaults apply")]);
            }
            Err(problem) => return (config, vec![format!("{problem}; the defaults apply")]),
        };
        for key in file.other.keys() {
            warnings.push(format!("`{key}` is not a setting; ignored"));
        }
        let scopes = file.scopes.unwrap_or_default();
        let mut scope = |name: &str, given: Option<String>, kept: &mut String| match given {
            Some(given) if given.trim().is_empty() => {
                warnings.push(format!(
                    "`scopes.{name}` must be non-empty; `{kept}` applies"
                ));
            }
            Some(given) => *kept = given,
            None => {}
        };
        scope("skills", scopes.skills, &mut config.scopes.skills);
        scope("prompts", scopes.prompts, &mut config.scopes.prompts);
        if config.scopes.skills == config.scopes.prompts {
            let both = &config.scopes.skills;
            warnings.push(format!(
                "both scopes are `{both}`; the defaults apply to scopes"
            ));
            config.scopes = Self::default().scopes;
        }
        match file.state_timeout_ms {
            Some(0) => warnings.push("`state_timeout_ms` must be at least 1; 10000 applies".into()),
            Some(given) => config.state_timeout_ms = given,
            None => {}
        }
        let mcp = file.mcp.unwrap_or_default();
        for key in mcp.other.keys() {
            warnings.push(format!("`mcp.{key}` is not a setting; ignored"));
        }
        config.mcp.require_expose = mcp.require_expose.unwrap_or_default();
        config.mcp.hide = mcp.hide.unwrap_or_default();
        let before = config.mcp.hide.len();
        config.mcp.hide.retain(|prefix| !prefix.is_empty());
        if config.mcp.hide.len() < before {
            warnings.push("`mcp.hide` has an empty prefix, which would hide all; ignored".into());
        }
        config.skills = file.skills.unwrap_or_default();
        config.prompts = file.prompts.unwrap_or_default();
        config.agents = file.agents.unwrap_or_default();
        config.publish = file.publish.unwrap_or_default();
        config.discover = file.discover.unwrap_or_default();
        warnings.extend(config.limits.apply(file.limits.unwrap_or_default()));
        let (lint, problems) = lint::parse(file.lint.unwrap_or_default());
        config.lint = lint;
        warnings.extend(problems);
        (config, warnings)
    }

    /// The settings of the registry.
    pub fn settings(&self) -> RegistrySettings {
        RegistrySettings {
            skills_scope: self.scopes.skills.clone(),
            prompts_scope: self.scopes.prompts.clone(),
            timeout: Duration::from_millis(self.state_timeout_ms),
            lint: self.lint.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, change: impl FnOnce(&mut Config), warning: &str) {
        let mut expected = Config::default();
        change(&mut expected);
        let (config, warnings) = Config::parse(text);
        assert_eq!(config, expected, "for {text:?}");
        let all = warnings.join("\n");
        assert!(
            all.contains(warning) && all.is_empty() == warning.is_empty(),
            "for {text:?}: {all}"
        );
    }

    #[test]
    fn configurations() {
        check(
            "scopes:\n  skills: s\n",
            |c| c.scopes.skills = "s".into(),
            "",
        );
        check(
            "- scopes:\n    prompts: p\n  state_timeout_ms: 5\n",
            |c| {
                c.scopes.prompts = "p".into();
                c.state_timeout_ms = 5;
            },
            "",
        );
        check(
            "skills:\n  - a/**/*.md\n",
            |c| c.skills = vec!["a/**/*.md".into()],
            "",
        );
        check(
            "agents: [agents/*.3md]\n",
            |c| c.agents = vec!["agents/*.3md".into()],
            "",
        );
        check(
            "mcp:\n  hide: ['internal::', '']\n  require_expose: true\n",
            |c| {
                c.mcp.hide = vec!["internal::".into()];
                c.mcp.require_expose = true;
            },
            "empty prefix",
        );
        check("publish: true\n", |c| c.publish = true, "");
        check("mcp:\n  hied: []\n", |_| {}, "`mcp.hied` is not a setting");
        check("", |_| {}, "is empty");
        check("---\n# nothing yet\n", |_| {}, "is empty");
        check("colour: blue\n", |_| {}, "`colour` is not a setting");
        check("state_timeout_ms: soon\n", |_| {}, "defaults apply");
        check("state_timeout_ms: 0\n", |_| {}, "at least 1");
        check("state_timeout_ms: -4\n", |_| {}, "defaults apply");
        check(
            "scopes:\n  skills: ''\n",
            |_| {},
            "`scopes.skills` must be non-empty",
        );
        check(
            "scopes:\n  skills: x\n  prompts: x\n",
            |_| {},
            "both scopes are `x`",
        );
        check("- {}\n- {}\n", |_| {}, "2 maps");
        check("[]\n", |_| {}, "0 maps");
        check("skills: docs/*.md\n", |_| {}, "line 1 column 9");
        check("mcp:\n  hide: {}\n", |_| {}, "line 2 column 9");
        // A number where a text is expected is taken as text.
        check(
            "skills: [5]\nstate_timeout_ms: '7'\n",
            |c| (c.skills, c.state_timeout_ms) = (vec!["5".into()], 7),
            "",
        );
        check("discover: true\n", |c| c.discover = true, "");
        check("discover: 5\n", |_| {}, "defaults apply");
        check(
            "limits:\n  http_sessions: 7\n",
            |c| c.limits.http_sessions = 7,
            "",
        );
        check("limits: 5\n", |_| {}, "defaults apply");
        check("{ not yaml", |_| {}, "defaults apply");
        check("just words\n", |_| {}, "defaults apply");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_huge_file_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(path("pipe.yaml")).status().unwrap().success());
        let huge = std::fs::File::create(path("huge.yaml")).unwrap();
        huge.set_len(1 << 40).unwrap();
        for (name, problem) in [
            ("pipe.yaml", "it is not a regular file; the defaults apply"),
            (
                "huge.yaml",
                "it is too large: 1099511627776 bytes, at most 1048576",
            ),
        ] {
            let loaded = Config::load(&path(name));
            assert_eq!(loaded.config, Config::default());
            assert!(
                loaded.warnings[0].contains(problem),
                "{:?}",
                loaded.warnings
            );
        }
    }

    #[test]
    fn a_missing_file_is_a_warning_that_names_it() {
        let loaded = Config::load(Path::new("no/such/config.yaml"));
        assert_eq!(loaded.config, Config::default());
        assert!(
            loaded.warnings[0].starts_with("no/such/config.yaml: "),
            "{:?}",
            loaded.warnings
        );
        assert_eq!(loaded.base, Path::new("no/such"));
    }
}
