//! `--manifest`: what an engine needs to know to install the worker.

use serde_json::{Value, json};

use crate::config::Config;

/// The platforms the worker is built for.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
];

/// The manifest.
pub fn manifest() -> Value {
    let Config {
        scopes,
        state_timeout_ms,
        skills,
        prompts,
        mcp,
        agents,
    } = Config::default();
    json!({
        "name": "skills",
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "default_config": {
            "scopes": { "skills": scopes.skills, "prompts": scopes.prompts },
            "state_timeout_ms": state_timeout_ms,
            "skills": skills,
            "prompts": prompts,
            "mcp": { "hide": mcp.hide, "require_expose": mcp.require_expose },
            "agents": agents,
        },
        "supported_targets": TARGETS,
    })
}
