//! Any text as the body of a skill: head, index, links, and the rendering for a terminal.

#![no_main]

#[path = "../../src/cli/markdown.rs"]
mod markdown;

use libfuzzer_sys::fuzz_target;
use memory_engine::Memory;
use serde_json::json;
use skills_core::{DESCRIPTION_MAX, Head, SkillId, index};
use skills_fuzz::{block_on, registry};

fuzz_target!(|text: &str| {
    let head = Head::of(text);
    if let Some(description) = &head.description {
        assert!(description.chars().count() <= DESCRIPTION_MAX + 3, "{description}");
        assert!(!description.contains('\n'), "{description}");
    }
    let id: SkillId = "a/b".parse().unwrap();
    let index = index::render([(&id, &head)].into_iter());
    let lines = index.lines().filter(|line| line.contains("](iii://a/b)"));
    assert_eq!(lines.count(), 1, "{index}");
    // What a document contains never reaches the terminal as a control sequence of its own.
    let shown = markdown::render(text);
    assert!(!shown.contains('\u{9b}') && !shown.contains('\u{202e}'), "{shown:?}");

    let engine = Memory::new();
    let registry = registry(&engine);
    let row = json!({ "id": "b", "skill": text, "registered_at": "t" });
    engine.put("skills", "b", &row);
    block_on(async {
        let id = "b".parse().unwrap();
        let _ = registry.resolve(&id).await;
        let _ = registry.route(text, None).await;
    });
});
