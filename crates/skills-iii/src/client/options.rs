//! How a worker connects and introduces itself.

use std::time::Duration;

use serde_json::value::to_raw_value;

use crate::limits::MAX_ENGINE_MESSAGE_BYTES;
use crate::link::Heartbeat;
use crate::message::Raw;
use crate::queue::QueueLimits;

/// Settings of a [`super::Client`].
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The worker's name. Two connected workers cannot have the same name. The default is the
    /// host name and the process id.
    pub name: String,
    /// The worker's version.
    pub version: String,
    /// What the worker is for.
    pub description: Option<String>,
    /// Sent as a bearer token when connecting.
    pub token: Option<String>,
    /// Sends a reply again that was given sooner than this after its call arrived, once it is
    /// this old. Some engines forward a call first and register its caller second, and lose a
    /// reply that arrives in between. Engines ignore a second reply.
    pub repeat_reply: Option<Duration>,
    /// The largest accepted message, in bytes.
    pub max_message_bytes: usize,
    /// The timeouts of the connection.
    pub heartbeat: Heartbeat,
    /// How much may wait to be sent.
    pub queue: QueueLimits,
    /// The first and the longest pause between two attempts to connect.
    pub reconnect: (Duration, Duration),
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            name: format!("{}:{}", host_name(), std::process::id()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: None,
            token: None,
            repeat_reply: None,
            max_message_bytes: MAX_ENGINE_MESSAGE_BYTES,
            heartbeat: Heartbeat::default(),
            queue: QueueLimits::default(),
            reconnect: (Duration::from_millis(100), Duration::from_secs(5)),
        }
    }
}

impl ClientOptions {
    /// The defaults with this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The payload of `engine::workers::register`.
    pub(super) fn introduction(&self) -> Raw {
        let mut fields = serde_json::json!({
            "runtime": "rust",
            "version": self.version,
            "name": self.name,
            "os": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            "pid": std::process::id(),
        });
        if let Some(description) = &self.description {
            fields["description"] = description.as_str().into();
        }
        to_raw_value(&fields).expect("a JSON value can be written")
    }
}

fn host_name() -> String {
    let from_kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("HOSTNAME").ok().or_else(from_kernel);
    match name.as_deref().map(str::trim) {
        None | Some("") => "localhost".to_owned(),
        Some(name) => name.to_owned(),
    }
}
