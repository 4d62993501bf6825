//! Any text as `config.yaml`: a bad one gives warnings, and each setting that is accepted is valid.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills::config::Config;

fuzz_target!(|text: &str| {
    let Ok(parsed) = Config::parse(text) else {
        return;
    };
    let config = parsed.config;
    assert!(config.state_timeout_ms > 0);
    assert_ne!(config.scopes.skills, config.scopes.prompts);
    assert!(!config.scopes.skills.trim().is_empty());
    assert!(!config.mcp.hide.iter().any(String::is_empty));
    assert!(config.limits.http_sessions > 0);
});
