//! Connections to an engine that runs elsewhere.

use std::time::Duration;

use skills_iii::client::BadAddress;
use skills_iii::{Client, ClientOptions};

/// An answer sent sooner than this after its call is sent a second time. The engine records
/// the caller only after it has forwarded the call and drops an answer that arrives in
/// between; it ignores the second of two answers.
const REPEAT_REPLY: Duration = Duration::from_millis(100);

/// What the names of callers begin with.
pub const CALLER_PREFIX: &str = "skills-caller@";

/// Connects to the engine at `url` as a worker, and reconnects when the connection is lost.
/// A message of the engine may have at most `max_message_bytes`.
pub fn connect_worker(
    url: &str,
    token: Option<String>,
    max_message_bytes: usize,
) -> Result<Client, BadAddress> {
    let defaults = ClientOptions::default();
    let options = ClientOptions {
        name: worker_name().unwrap_or_else(|| format!("skills@{}", defaults.name)),
        version: env!("CARGO_PKG_VERSION").into(),
        description: Some(env!("CARGO_PKG_DESCRIPTION").into()),
        token,
        repeat_reply: Some(REPEAT_REPLY),
        max_message_bytes,
        ..defaults
    };
    Client::connect(url, options)
}

/// Connects to the engine at `url` as a caller that offers no functions.
pub fn connect_caller(url: &str, token: Option<String>) -> Result<Client, BadAddress> {
    let defaults = ClientOptions::default();
    let options = ClientOptions {
        name: format!("{CALLER_PREFIX}{}", defaults.name),
        version: env!("CARGO_PKG_VERSION").into(),
        token,
        ..defaults
    };
    Client::connect(url, options)
}

/// The name under which an engine that starts its workers itself expects this process.
fn worker_name() -> Option<String> {
    std::env::var("III_WORKER_NAME")
        .ok()
        .filter(|name| !name.trim().is_empty())
}
