//! How a command reaches the registry: on a data directory, or by a skills worker on an engine.
//!
//! On a data directory operations run in this process and errors keep their type. An engine
//! transports errors as a code and a text; only that path decodes them.

use std::cell::Cell;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use skills_api::Operation;
use skills_core::{Error, Json, Kind};
use skills_iii::{CallError, Client, ErrorBody};

use super::options::Options;
use super::output::Output;
use super::{CliError, log};
use crate::app::{
    ConnectError, LocalRegistry, Location, SHUTDOWN_TIMEOUT, Target, finish_usage, locate,
};
use crate::engine::is_idempotent;

/// How long a call may take before a spinner appears.
const SPINNER_DELAY: Duration = Duration::from_millis(300);

/// Who made a change on a data directory, in its version. An engine adds the worker instead.
const CALLER: &str = "command line";

/// Where the registry of a command is.
pub enum Access {
    /// On a data directory, in this process.
    Local(LocalRegistry),
    /// On an engine elsewhere.
    Remote {
        /// A connection to the engine.
        client: Client,
        /// Its address.
        url: String,
    },
}

/// A command's connection to the registry.
pub struct Connection {
    /// Where the registry is.
    pub access: Access,
    timeout: Duration,
    /// What the command prints to.
    pub output: Output,
    /// Whether a spinner may appear; not beside a progress bar.
    pub spins: Cell<bool>,
}

/// Opens a connection, does the work, and closes the connection.
pub fn open<T>(
    options: &Options,
    work: impl AsyncFnOnce(&Connection) -> Result<T, CliError>,
) -> Result<T, CliError> {
    log::start_for_a_verb(options.output_args.quiet);
    // A single thread starts faster, and reads need no other.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| CliError::broken(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let connection = Connection::open(options).await?;
        let outcome = work(&connection).await;
        match &connection.access {
            Access::Local(local) => {
                finish_usage(&local.registry).await;
                local.close();
            }
            Access::Remote { client, .. } => client.shutdown(SHUTDOWN_TIMEOUT).await,
        }
        outcome
    })
}

impl Connection {
    async fn open(options: &Options) -> Result<Self, CliError> {
        let output = options.output();
        let loaded = options.target.engine.usable_config()?;
        for warning in &loaded.warnings {
            output.warn(warning);
        }
        let timeout = options.timeout;
        let (mut target, named) = options.target.target();
        if let Target::Engine(engine) = &mut target {
            engine.is_required = options.target.requires_engine();
        }
        let named_url = match &target {
            Target::Engine(engine) if named => Some(engine.url.clone()),
            _ => None,
        };
        let location = find(target, timeout, &output).await?;
        let access = match location {
            Location::Engine { client, url } => Access::Remote { client, url },
            Location::Directory(dir) => {
                if let Some(url) = named_url {
                    let dir = dir.display();
                    output.note(&format!("no engine is listening at {url}; using {dir}"));
                }
                let local = LocalRegistry::open(dir, &loaded);
                Access::Local(local.map_err(ConnectError::from)?)
            }
        };
        Ok(Self {
            access,
            timeout,
            spins: Cell::new(output.may_animate()),
            output,
        })
    }

    /// Calls an operation of the registry.
    pub async fn call<T: DeserializeOwned>(
        &self,
        operation: &Operation,
        payload: &impl Serialize,
    ) -> Result<T, CliError> {
        self.call_function(operation.id, payload).await
    }

    /// Calls any function. A function without a result returns JSON's `null`.
    pub async fn call_function<T: DeserializeOwned>(
        &self,
        function: &str,
        payload: &impl Serialize,
    ) -> Result<T, CliError> {
        let payload = to_raw_value(payload)
            .map_err(|error| CliError::broken(format!("cannot encode the payload: {error}")))?;
        let timeout = self.timeout;
        let call = async {
            match &self.access {
                Access::Local(local) => {
                    let call = call_local(local, function, payload);
                    let result = tokio::time::timeout(timeout, call).await;
                    result.unwrap_or_else(|_| Err(timed_out(function, timeout)))
                }
                Access::Remote { client, url } => {
                    let result = if is_idempotent(function) {
                        client.call_idempotent(function, payload, timeout).await
                    } else {
                        client.call(function, payload, timeout).await
                    };
                    result.map_err(|error| match error {
                        CallError::NotFound(_) if skills_api::find_function(function).is_some() => {
                            not_offered(url, function)
                        }
                        error => call_failed(function, error),
                    })
                }
            }
        };
        let message = format!("waiting for {function}");
        let result = with_spinner(self.spins.get(), &message, call).await?;
        let text = result.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(text).map_err(|error| {
            CliError::broken(format!(
                "`{function}` returned an unexpected result: {error}"
            ))
            .with_hint("is another version of skills serving there? `skills doctor` checks it")
        })
    }
}

async fn find(
    target: Target,
    timeout: Duration,
    output: &Output,
) -> Result<Location, ConnectError> {
    let Target::Engine(engine) = &target else {
        return locate(target).await;
    };
    let url = engine.url.clone();
    let message = format!("looking for {url}");
    let located = tokio::time::timeout(timeout, locate(target));
    let located = with_spinner(output.may_animate(), &message, located).await;
    located.unwrap_or(Err(ConnectError::Silent {
        url,
        after: timeout,
    }))
}

async fn call_local(
    local: &LocalRegistry,
    function: &str,
    payload: Json,
) -> Result<Option<Json>, CliError> {
    match skills_api::find_function(function) {
        Some(operation) => {
            let payload = skills_api::with_caller(payload, CALLER);
            let result = (operation.run)(Arc::clone(&local.registry), payload).await;
            result.map(Some).map_err(operation_failed)
        }
        None => local
            .engine
            .call_function(function, &payload)
            .await
            .map_err(|error| call_failed(function, error)),
    }
}

fn operation_failed(error: Error) -> CliError {
    let mut error = CliError::from(error);
    if error.hint.is_none() {
        // The state functions return failures of the store as text, hint included.
        (error.message, error.hint) = split_hint(&error.message);
    }
    error
}

fn timed_out(function: &str, timeout: Duration) -> CliError {
    let message = format!("`{function}` did not answer within {timeout:?}");
    CliError::new(Kind::TimedOut, message).with_hint("try again, or wait longer with --timeout")
}

/// The error for a call that failed.
pub fn call_failed(function: &str, error: CallError) -> CliError {
    match error {
        CallError::TimedOut { timeout, .. } => timed_out(function, timeout),
        CallError::Disconnected => {
            let message = format!("the engine disconnected before `{function}` answered");
            CliError::new(Kind::Unavailable, message).with_hint("is it running? try again")
        }
        CallError::NotFound(_) => CliError::not_found(
            format!("function not found: {function}"),
            "is the worker that offers it connected?",
        ),
        CallError::Remote(body) => decode_error(&body),
    }
}

/// The error for an operation or a trigger type of the registry that an engine does not have.
pub fn not_offered(url: &str, id: &str) -> CliError {
    let message = format!("the engine at {url} does not offer `{id}`");
    CliError::new(Kind::Unavailable, message).with_hint(
        "no skills worker runs there, or an older one: start this version with `skills --url ...`",
    )
}

/// Decodes the error of a function. A code that is not in our table comes from an engine or
/// another worker: its function failed.
fn decode_error(body: &ErrorBody) -> CliError {
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| skills_api::code(*kind) == body.code);
    let (message, hint) = match kind {
        Some(_) => split_hint(&body.message),
        None if body.message.trim().is_empty() => {
            (format!("it failed with code `{}`", body.code), None)
        }
        None => (body.message.clone(), None),
    };
    let elsewhere = if body.is_temporary() {
        Kind::Unavailable
    } else {
        Kind::Failed
    };
    CliError {
        kind: kind.unwrap_or(elsewhere),
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
        // The code of a failure is not a hint.
        Some((message, hint)) if !hint.starts_with("code `") => {
            (message.to_owned(), Some(hint.to_owned()))
        }
        _ => (text.to_owned(), None),
    }
}

impl From<ConnectError> for CliError {
    fn from(error: ConnectError) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let text = deeper.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = deeper.source();
        }
        Self {
            kind: error.kind(),
            message,
            hint: error.hint(),
        }
    }
}

/// Awaits `work`; shows a spinner when it takes a while.
async fn with_spinner<T>(spins: bool, message: &str, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    if !spins {
        return work.await;
    }
    if let Ok(done) = tokio::time::timeout(SPINNER_DELAY, &mut work).await {
        return done;
    }
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let spinner = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(message.to_owned());
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
        let stop = decode_error(&ErrorBody::new(code, message));
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
            "worker_overloaded",
            "it does not keep up",
            (Kind::Unavailable, "it does not keep up", None),
        );
        check(
            "E_ODD",
            "went (wrong)",
            (Kind::Failed, "went (wrong)", None),
        );
        check(
            "E_ODD",
            "",
            (Kind::Failed, "it failed with code `E_ODD`", None),
        );
    }

    #[test]
    fn every_kind_is_found_again_by_its_code() {
        for kind in Kind::ALL {
            assert_eq!(
                decode_error(&ErrorBody::new(skills_api::code(kind), "x")).kind,
                kind
            );
        }
    }
}
