//! Any JSON as the payload of `state::*` functions, and as rows of the registry.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use memory_engine::Memory;
use serde_json::Value;
use serde_json::value::RawValue;
use skills_core::ResourceUri;
use skills_fuzz::{block_on, registry};
use skills_iii::state::{SqliteState, StoreOptions};
use skills_iii::call_state;

static STORE: LazyLock<Arc<SqliteState>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap().keep();
    Arc::new(SqliteState::open(&dir, StoreOptions::default()).unwrap())
});

const FUNCTIONS: [&str; 6] = [
    "state::get",
    "state::list",
    "state::list_groups",
    "state::set",
    "state::update",
    "state::delete",
];

fuzz_target!(|text: &str| {
    for line in text.lines() {
        if let Ok(payload) = serde_json::from_str::<&RawValue>(line) {
            block_on(async {
                for function in FUNCTIONS {
                    let _ = call_state(&STORE, function, payload).await;
                }
            });
        }
        if let Ok(row) = serde_json::from_str::<Value>(line) {
            read(&row);
        }
    }
});

fn read(row: &Value) {
    let engine = Memory::new();
    let registry = registry(&engine);
    engine.put("skills", "b", row);
    engine.put("prompts", "b", row);
    block_on(async {
        let skills = registry.skills().await.unwrap();
        assert!(skills.entries.iter().any(|skill| skill.id.as_str() == "a"));
        let _ = registry.read(&ResourceUri::Index).await.unwrap();
        let _ = registry.prompts().await.unwrap();
        let _ = registry.read(&"iii://b".parse().unwrap()).await;
    });
}
