//! A connection to an engine that runs elsewhere.

use std::time::Duration;

use skills_iii::client::BadAddress;
use skills_iii::{Client, ClientOptions};

/// An answer given sooner than this is said twice. The engine notes down who waits
/// only after it has passed the call on, and drops an answer that comes in between,
/// as one from memory can; it ignores the second of two.
const REPEAT: Duration = Duration::from_millis(100);

/// Starts connecting to the engine at `url`, and stays connected.
pub fn connect(url: &str, token: Option<String>) -> Result<Client, BadAddress> {
    let defaults = ClientOptions::default();
    let options = ClientOptions {
        name: worker_name().unwrap_or_else(|| format!("skills@{}", defaults.name)),
        version: env!("CARGO_PKG_VERSION").into(),
        description: Some(env!("CARGO_PKG_DESCRIPTION").into()),
        token,
        repeat_reply: Some(REPEAT),
        ..defaults
    };
    Client::connect(url, options)
}

/// Starts connecting to the engine at `url` as somebody who asks and leaves again.
pub fn visit(url: &str, token: Option<String>) -> Result<Client, BadAddress> {
    let defaults = ClientOptions::default();
    let options = ClientOptions {
        name: format!("skills-visitor@{}", defaults.name),
        version: env!("CARGO_PKG_VERSION").into(),
        token,
        ..defaults
    };
    Client::connect(url, options)
}

/// The name under which an engine that starts its workers itself waits for us.
fn worker_name() -> Option<String> {
    std::env::var("III_WORKER_NAME")
        .ok()
        .filter(|name| !name.trim().is_empty())
}
