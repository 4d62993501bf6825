//! How a worker connects and what it calls itself.

use std::time::Duration;

use crate::link::Heartbeat;
use crate::message::{Object, Raw};
use crate::queue::QueueLimits;

/// Settings of a [`super::Client`].
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The worker's name; two live workers cannot have the same. Host name and
    /// process id unless set.
    pub name: String,
    /// The version it announces.
    pub version: String,
    /// What it is for, in words.
    pub description: Option<String>,
    /// Sent as a bearer token when connecting.
    pub token: Option<String>,
    /// Says an answer again that was given sooner than this after its call
    /// came, once it is this old. Some engines send a call on first and note
    /// down who waits for it second: an answer in between is lost, however long
    /// it was held back. One that has it ignores the second.
    pub repeat_reply: Option<Duration>,
    /// The largest message taken, in bytes.
    pub max_message_bytes: usize,
    /// How the connection is watched.
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
            max_message_bytes: 1 << 30,
            heartbeat: Heartbeat::default(),
            queue: QueueLimits {
                messages: 65_536,
                bytes: 1 << 30,
            },
            reconnect: (Duration::from_millis(100), Duration::from_secs(5)),
        }
    }
}

impl ClientOptions {
    /// The defaults under another name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// How the worker introduces itself to an engine.
    pub(super) fn introduction(&self) -> Raw {
        let text = Object::new()
            .text("runtime", "rust")
            .text("version", &self.version)
            .text("name", &self.name)
            .text_if("description", self.description.as_deref())
            .text(
                "os",
                &format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            )
            .raw("pid", &std::process::id().to_string())
            .end();
        Raw::from(serde_json::value::RawValue::from_string(text).expect("an object just built"))
    }
}

fn host_name() -> String {
    let from_kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = std::env::var("HOSTNAME")
        .ok()
        .or_else(from_kernel)
        .unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "localhost".to_owned()
    } else {
        name.to_owned()
    }
}
