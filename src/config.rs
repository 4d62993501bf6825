//! `config.yaml`.
//!
//! A bad configuration never stops the program: valid settings apply, the others fall back
//! to their defaults, each with a warning.

mod history;
mod index;
mod leases;
mod limits;
mod lint;
mod node;
mod scopes;
mod section;
mod sources;
#[cfg(test)]
mod tests;
mod visibility;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use skills_core::{LintSettings, RegistrySettings, VisibilityRules};
use skills_files::{ReadFileError, read_named_file};

use crate::limits::MAX_CONFIG_BYTES;
pub use history::HistorySettings;
pub use index::IndexSettings;
pub use leases::LeaseConfig;
pub use limits::LimitSettings;
use node::{Entry, Node, Place, Value};
pub use scopes::Scopes;
use section::Section;
pub use section::Warning;
pub use sources::SourceSettings;

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
    /// Who may reach `skills serve` besides this machine.
    pub http: Http,
    /// Whether `skills serve` publishes the skills to every client that reaches its HTTP port.
    pub publish: bool,
    /// How long the index may be.
    pub index: IndexSettings,
    /// The visibility of skills whose ids match a pattern.
    pub visibility: VisibilityRules,
    /// How files and registrations with the same id get on.
    pub sources: SourceSettings,
    /// What happens to entries past their leases.
    pub leases: LeaseConfig,
    /// What is kept of skills and prompts that change.
    pub history: HistorySettings,
    /// Whether the uses of skills are counted.
    pub usage: bool,
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
    /// Whether no function is a tool, because the settings were not understood.
    pub no_functions: bool,
}

/// The names under which `skills serve` may be reached, for HTTP and for workers, and its page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Http {
    /// Host names of the server, besides those of this machine.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may connect.
    pub allowed_origins: Vec<String>,
    /// Whether the web page is served.
    pub page: bool,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            page: true,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            scopes: Scopes::default(),
            state_timeout_ms: 10_000,
            skills: Vec::new(),
            prompts: Vec::new(),
            mcp: Mcp::default(),
            http: Http::default(),
            publish: false,
            agents: Vec::new(),
            discover: false,
            index: IndexSettings::default(),
            visibility: VisibilityRules::default(),
            sources: SourceSettings::default(),
            leases: LeaseConfig::default(),
            history: HistorySettings::default(),
            usage: true,
            limits: LimitSettings::default(),
            lint: LintSettings::default(),
        }
    }
}

impl Http {
    fn read(section: &mut Section<'_>) -> Self {
        let mut take = |name, expected| section.take(name, expected, Node::texts);
        Self {
            allowed_hosts: take("allowed_hosts", "a list of host names").unwrap_or_default(),
            allowed_origins: take("allowed_origins", "a list of origins").unwrap_or_default(),
            page: section.take("page", SWITCH, Node::bool).unwrap_or(true),
        }
    }
}

impl Mcp {
    /// Reads the section `mcp` of the file. It protects, so a mistake anywhere in it hides every
    /// function: a misspelt `hide` must not make a function a tool.
    fn read(file: &mut Section<'_>) -> Self {
        let warnings = file.warning_count();
        let mut mcp = file.section("mcp", "mcp.", |section| Self {
            hide: section
                .take("hide", "a list of prefixes of function ids", Node::texts)
                .unwrap_or_default(),
            require_expose: section
                .take("require_expose", SWITCH, Node::bool)
                .unwrap_or(false),
            no_functions: false,
        });
        if file.warning_count() > warnings {
            mcp.no_functions = true;
            file.push(Warning::file(
                "no function of the engine is an MCP tool until `mcp` is right",
            ));
        }
        let prefixes = mcp.hide.len();
        mcp.hide.retain(|prefix| !prefix.is_empty());
        if mcp.hide.len() < prefixes {
            file.push(Warning::file(
                "`mcp.hide` has an empty prefix, which would hide all; ignored",
            ));
        }
        mcp
    }
}

/// A configuration and the warnings about its file.
#[derive(Clone, Debug, Default)]
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
    /// Why nothing in a file that somebody named could be used: it cannot be read, or it is not
    /// a map of settings.
    pub unusable: Option<String>,
}

impl LoadedConfig {
    fn new(path: &Path, parsed: Result<Parsed, Warning>) -> Self {
        let base = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let base = base.unwrap_or(Path::new(".")).to_owned();
        let place = |warning: &Warning| format!("{}:{warning}", path.display());
        match parsed {
            Ok(parsed) => Self {
                discover_in: parsed.config.discover.then(|| base.clone()),
                warnings: parsed.warnings.iter().map(place).collect(),
                config: parsed.config,
                base,
                ..Self::default()
            },
            Err(warning) => {
                let unusable = place(&warning);
                let mut config = Config::default();
                // The file may have hidden functions: what it protected is not known.
                config.mcp.no_functions = true;
                Self {
                    config,
                    warnings: vec![format!(
                        "{unusable}; the defaults apply, and no function of the engine is an MCP tool"
                    )],
                    unusable: Some(unusable),
                    base,
                    ..Self::default()
                }
            }
        }
    }
}

/// What a file says.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The configuration.
    pub config: Config,
    /// What is wrong with single settings.
    pub warnings: Vec<Warning>,
    /// How many settings of this program the file has.
    settings: usize,
}

const PATTERNS: &str = "a list of patterns";
const SWITCH: &str = "true or false";

/// Parses the file: a map, or the list of one map that an engine hands to its workers.
fn parse_map(text: &str) -> Result<Vec<Entry>, Warning> {
    // An alias repeats a value, and an alias of aliases any number of values.
    let alias_limits = serde_saphyr::alias_limits! { max_total_replayed_events: 10_000 };
    let options = serde_saphyr::options! { alias_limits: alias_limits };
    let mut node = serde_saphyr::from_str_with_options::<Node>(text, options).map_err(|error| {
        let place = error.location().map(|location| Place {
            line: location.line(),
            column: location.column(),
        });
        Warning::new(place, "this is not valid YAML")
    })?;
    if let Value::List(nodes) = &mut node.value {
        match <[Node; 1]>::try_from(std::mem::take(nodes)) {
            Ok([only]) => node = only,
            Err(nodes) => {
                let message = format!("it has {} maps instead of one", nodes.len());
                return Err(Warning::file(message));
            }
        }
    }
    if let Value::Map(entries) = node.value {
        return Ok(entries);
    }
    let message = format!("it must be a map of settings, not {node}");
    Err(Warning::new(Some(node.place), message))
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
fn read_text(path: &Path) -> Result<String, Warning> {
    let problem = match read_named_file(path, MAX_CONFIG_BYTES) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(_) => "it is not UTF-8".to_owned(),
        },
        Err(ReadFileError::TooLarge { bytes }) => {
            format!("it is too large: {bytes} bytes, at most {MAX_CONFIG_BYTES}")
        }
        Err(error) => error.to_string(),
    };
    Err(Warning::file(problem))
}

impl Config {
    /// Reads the file at `path`, which somebody named.
    pub fn load(path: &Path) -> LoadedConfig {
        let parsed = read_text(path).and_then(|text| Self::parse(&text));
        LoadedConfig::new(path, parsed)
    }

    /// Reads the file at the default path. It may be absent, or belong to another program.
    pub fn load_default(path: &Path) -> LoadedConfig {
        let parsed = read_text(path).and_then(|text| Self::parse(&text));
        let is_ours = match &parsed {
            Ok(parsed) => parsed.settings > 0 || parsed.warnings.is_empty(),
            Err(_) => path.exists(),
        };
        let parsed = if is_ours {
            parsed
        } else {
            Ok(Parsed::default())
        };
        LoadedConfig {
            unusable: None,
            ..LoadedConfig::new(path, parsed)
        }
    }

    /// Parses the text of a file. A file that is not a map of settings is an error; a bad setting
    /// is a warning, and its default applies.
    pub fn parse(text: &str) -> Result<Parsed, Warning> {
        if significant_lines(text).next().is_none() {
            return Ok(Parsed::default());
        }
        let mut parsed = Parsed::default();
        let config = &mut parsed.config;
        let mut file = Section::new("", parse_map(text)?, &mut parsed.warnings);
        if let Some(patterns) = file.take("skills", PATTERNS, Node::texts) {
            config.skills = patterns;
        }
        if let Some(patterns) = file.take("prompts", PATTERNS, Node::texts) {
            config.prompts = patterns;
        }
        if let Some(patterns) = file.take("agents", PATTERNS, Node::texts) {
            config.agents = patterns;
        }
        config.discover = file.take("discover", SWITCH, Node::bool).unwrap_or(false);
        config.usage = file.take("usage", SWITCH, Node::bool).unwrap_or(true);
        config.publish = file.take("publish", SWITCH, Node::bool).unwrap_or(false);
        let timeout = |node: &Node| node.number().filter(|&timeout| timeout > 0);
        let expected = "a number of milliseconds, at least 1";
        if let Some(timeout) = file.take("state_timeout_ms", expected, timeout) {
            config.state_timeout_ms = timeout;
        }
        config.scopes = Scopes::read(&mut file);
        config.mcp = Mcp::read(&mut file);
        config.http = file.section("http", "http.", Http::read);
        file.section("index", "index.", |section| config.index.read(section));
        visibility::read(&mut file, &mut config.visibility);
        config.sources = file.section("sources", "sources.", SourceSettings::read);
        config.leases = file.section("leases", "leases.", LeaseConfig::read);
        file.section("history", "history.", |section| {
            config.history.read(section);
        });
        file.section("limits", "limits.", |section| config.limits.read(section));
        config.lint = file.section("lint", "lint.", lint::read);
        parsed.settings = file.finish();
        Ok(parsed)
    }

    /// The settings of the registry.
    pub fn settings(&self) -> RegistrySettings {
        RegistrySettings {
            skills_scope: self.scopes.skills.clone(),
            prompts_scope: self.scopes.prompts.clone(),
            timeout: Duration::from_millis(self.state_timeout_ms),
            lint: self.lint.clone(),
            index_max_bytes: self.index.max_bytes,
            visibility: self.visibility.clone(),
            on_conflict: self.sources.on_conflict,
            leases: self.leases.settings(),
            history_versions: self.history.versions,
            usage: self.usage,
        }
    }
}
