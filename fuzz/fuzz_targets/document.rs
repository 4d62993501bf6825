//! Any text as an agent.3md document: both parsers agree, nothing panics, and the parts hold together.

#![no_main]

#[path = "../../crates/agent3md/tests/integration/property/mod.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    property::agreement::agrees(&text);
    property::soundness::holds(&text);
});
