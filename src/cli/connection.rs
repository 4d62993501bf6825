//! A connection to the registry: finds it, asks it, and says what went wrong.

use std::cell::Cell;
use std::error::Error as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use skills_core::Kind;
use skills_iii::{CallError, Client, ErrorBody};

use super::options::Options;
use super::output::Output;
use super::{CliError, log};
use crate::app::{self, ConnectError, Connected, Location, Stay, Target};
use crate::engine::is_idempotent;

/// How long nothing moves before a spinner says that we wait.
const PATIENCE: Duration = Duration::from_millis(300);

/// A command's connection to the registry.
pub struct Connection {
    connected: Connected,
    timeout: Duration,
    /// How the command speaks.
    pub output: Output,
    /// Whether a spinner may say that we wait; not where something else moves.
    pub spins: Cell<bool>,
}

/// Finds the registry, does the work, and lets go of it again.
pub fn open<T>(
    options: &Options,
    work: impl AsyncFnOnce(&Connection) -> Result<T, CliError>,
) -> Result<T, CliError> {
    open_as(options, Stay::Short, work)
}

/// The same for whoever has thousands of questions.
pub fn open_for_many<T>(
    options: &Options,
    work: impl AsyncFnOnce(&Connection) -> Result<T, CliError>,
) -> Result<T, CliError> {
    open_as(options, Stay::Busy, work)
}

/// The same for whoever stays a while: a registry in this process follows its files.
pub fn open_watching<T>(
    options: &Options,
    work: impl AsyncFnOnce(&Connection) -> Result<T, CliError>,
) -> Result<T, CliError> {
    open_as(options, Stay::Long, work)
}

fn open_as<T>(
    options: &Options,
    stay: Stay,
    work: impl AsyncFnOnce(&Connection) -> Result<T, CliError>,
) -> Result<T, CliError> {
    log::start_for_a_verb(options.output_args.quiet);
    // One thread does: what is read stays where it was read, and there is less to start.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| CliError::broken(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let connection = Connection::begin(options, stay).await?;
        let outcome = work(&connection).await;
        connection.connected.close().await;
        outcome
    })
}

impl Connection {
    async fn begin(options: &Options, stay: Stay) -> Result<Self, CliError> {
        let output = options.output();
        let loaded = options.target.engine.load_optional_config();
        for warning in &loaded.warnings {
            output.warn(warning);
        }
        let timeout = options.timeout;
        let (target, named) = options.target.target();
        let connected = match target {
            Target::Directory(dir) => app::open_local(dir, &loaded, stay).await,
            Target::Engine(target) => {
                let url = target.url.clone();
                let what = format!("looking for {url}");
                let connecting = tokio::time::timeout(timeout, app::connect(target, &loaded, stay));
                let connected = with_spinner(output.may_animate(), &what, connecting).await;
                let connected = connected.unwrap_or_else(|_| {
                    let (url, after) = (url.clone(), timeout);
                    Err(ConnectError::Silent { url, after })
                });
                if let (true, Ok(Location::Here { data_dir, .. })) =
                    (named, connected.as_ref().map(|connected| &connected.place))
                {
                    let dir = data_dir.display();
                    output.note(&format!("no engine answers at {url}; using {dir}"));
                }
                connected
            }
        };
        let mut connected = connected.map_err(|error| unreachable(&error))?;
        if stay == Stay::Long {
            connected.follow_files(&loaded);
        }
        Ok(Self {
            connected,
            timeout,
            spins: Cell::new(output.may_animate()),
            output,
        })
    }

    /// The connection itself.
    pub fn client(&self) -> &Client {
        &self.connected.client
    }

    /// Calls a function and decodes its answer.
    pub async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        payload: &impl Serialize,
    ) -> Result<T, CliError> {
        let answer = self.call_raw(function, payload).await?;
        let text = answer.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(text).map_err(|error| CliError {
            kind: Kind::Broken,
            message: format!("`{function}` answered something unexpected: {error}"),
            hint: Some(
                "does another version of skills serve there? `skills doctor` may tell".into(),
            ),
        })
    }

    /// Calls a function; no answer at all is `None`.
    pub async fn call_raw(
        &self,
        function: &str,
        payload: &impl Serialize,
    ) -> Result<Option<Box<RawValue>>, CliError> {
        let payload = to_raw_value(payload)
            .map_err(|error| CliError::broken(format!("cannot say it as JSON: {error}")))?;
        let (client, timeout) = (self.client(), self.timeout);
        let calling = async {
            if is_idempotent(function) {
                client.call_idempotent(function, payload, timeout).await
            } else {
                client.call(function, payload, timeout).await
            }
        };
        let what = format!("waiting for {function}");
        let answer = with_spinner(self.spins.get(), &what, calling).await;
        answer.map_err(|error| self.failed(function, error))
    }

    fn failed(&self, function: &str, error: CallError) -> CliError {
        match error {
            CallError::TimedOut { timeout, .. } => CliError {
                kind: Kind::TimedOut,
                message: format!("`{function}` did not answer within {timeout:?}"),
                hint: Some("try again, or wait longer with --timeout".into()),
            },
            CallError::Disconnected => CliError {
                kind: Kind::Unavailable,
                message: format!("the engine went away before `{function}` answered"),
                hint: Some("is it running? try again".into()),
            },
            CallError::NotFound(_) if skills_api::find_function(function).is_some() => {
                self.missing(function)
            }
            CallError::NotFound(_) => CliError {
                kind: Kind::NotFound,
                message: format!("function not found: {function}"),
                hint: Some("is the worker that offers it connected?".into()),
            },
            CallError::Remote(body) => refused(&body),
        }
    }

    /// A function of ours that nobody offers.
    pub fn missing(&self, what: &str) -> CliError {
        let at = match &self.connected.place {
            Location::Engine { url } => format!("the engine at {url}"),
            Location::Here { data_dir, .. } => format!("the registry in {}", data_dir.display()),
        };
        CliError {
            kind: Kind::Unavailable,
            message: format!("{at} does not offer `{what}`"),
            hint: Some(
                "no skills worker runs there, or an older one: start this version with `skills --url ...`"
                    .into(),
            ),
        }
    }
}

/// Every kind, to find the one behind a code.
const KINDS: [Kind; 6] = [
    Kind::Invalid,
    Kind::NotFound,
    Kind::Forbidden,
    Kind::Unavailable,
    Kind::TimedOut,
    Kind::Broken,
];

/// A function answered with an error. Codes that are not ours come from engines and
/// other workers: something behind the registry did not do its part.
fn refused(body: &ErrorBody) -> CliError {
    let kind = KINDS
        .into_iter()
        .find(|kind| skills_api::code(*kind) == body.code);
    let (message, hint) = match kind {
        Some(_) => split_hint(&body.message),
        None if body.message.trim().is_empty() => {
            (format!("it failed with code `{}`", body.code), None)
        }
        None => (body.message.clone(), None),
    };
    CliError {
        kind: kind.unwrap_or(Kind::Unavailable),
        message,
        hint,
    }
}

/// Message and hint of a text that has the hint in parentheses at its end.
fn split_hint(text: &str) -> (String, Option<String>) {
    let mut depth = 0_usize;
    let inside = text.strip_suffix(')').and_then(|inside| {
        inside.rmatch_indices(['(', ')']).find_map(|(at, found)| {
            if found == ")" {
                depth += 1;
            } else if depth > 0 {
                depth -= 1;
            } else {
                return inside[..at]
                    .strip_suffix(' ')
                    .map(|m| (m, &inside[at + 1..]));
            }
            None
        })
    });
    match inside {
        // What an engine said about a failure is no advice.
        Some((message, hint)) if !hint.starts_with("code `") => {
            (message.to_owned(), Some(hint.to_owned()))
        }
        _ => (text.to_owned(), None),
    }
}

fn unreachable(error: &ConnectError) -> CliError {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let said = deeper.to_string();
        if !message.contains(&said) {
            message = format!("{message}: {said}");
        }
        cause = deeper.source();
    }
    CliError {
        kind: error.kind(),
        message,
        hint: error.hint(),
    }
}

/// Waits, and on a terminal says so when it takes a while.
async fn with_spinner<T>(spins: bool, what: &str, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    if !spins {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(PATIENCE, &mut work).await {
        return done;
    }
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let spinner = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(what.to_owned());
    spinner.tick();
    spinner.enable_steady_tick(Duration::from_millis(100));
    let done = work.await;
    spinner.finish_and_clear();
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, message: &str, expected: (Kind, &str, Option<&str>)) {
        let stop = refused(&ErrorBody::new(code, message));
        let got = (stop.kind, stop.message.as_str(), stop.hint.as_deref());
        assert_eq!(got, expected, "for {code}: {message}");
    }

    #[test]
    fn an_error_from_elsewhere_has_a_kind_and_a_hint() {
        check(
            "not_found",
            "skill not found: a (did you mean `b`?)",
            (
                Kind::NotFound,
                "skill not found: a",
                Some("did you mean `b`?"),
            ),
        );
        check(
            "unavailable",
            "could not x: y (the engine must run a state worker (`state::*`))",
            (
                Kind::Unavailable,
                "could not x: y",
                Some("the engine must run a state worker (`state::*`)"),
            ),
        );
        check("broken", "f(x)", (Kind::Broken, "f(x)", None));
        check("broken", "x)", (Kind::Broken, "x)", None));
        check("broken", "", (Kind::Broken, "", None));
        check(
            "unavailable",
            "it gave no reason (code `E1`)",
            (Kind::Unavailable, "it gave no reason (code `E1`)", None),
        );
        check(
            "E_ODD",
            "went (wrong)",
            (Kind::Unavailable, "went (wrong)", None),
        );
        check(
            "E_ODD",
            "",
            (Kind::Unavailable, "it failed with code `E_ODD`", None),
        );
    }

    #[test]
    fn every_kind_is_found_again_by_its_code() {
        for kind in KINDS {
            assert_eq!(
                refused(&ErrorBody::new(skills_api::code(kind), "x")).kind,
                kind
            );
        }
    }
}
