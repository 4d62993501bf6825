//! `--manifest`: describes the worker to an engine that installs it.

use serde_json::{Value, json};

use crate::config::Config;

/// The platforms that the worker is built for.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
];

pub fn manifest() -> Value {
    json!({
        "name": "skills",
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "default_config": Config::default(),
        "supported_targets": TARGETS,
    })
}
