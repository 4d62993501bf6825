//! A connection to an engine that runs elsewhere.

use std::time::Duration;

use skills_iii::client::BadAddress;
use skills_iii::{Client, ClientOptions};

/// The shortest time between taking a call and answering it. The engine notes down
/// who waits only after it has passed the call on; an answer from memory can come
/// in between, and would be lost.
const TURNAROUND: Duration = Duration::from_micros(200);

/// Starts connecting to the engine at `url`, and stays connected.
pub fn connect(url: &str, token: Option<String>) -> Result<Client, BadAddress> {
    let defaults = ClientOptions::default();
    let options = ClientOptions {
        name: format!("skills@{}", defaults.name),
        version: env!("CARGO_PKG_VERSION").into(),
        description: Some(env!("CARGO_PKG_DESCRIPTION").into()),
        token,
        reply_delay: TURNAROUND,
        ..defaults
    };
    Client::connect(url, options)
}
