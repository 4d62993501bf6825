//! Any text as the body of a skill: head, index, headings, cuts, links, and the rendering for a
//! terminal.

#![no_main]

#[path = "../../src/cli/markdown.rs"]
mod markdown;

use libfuzzer_sys::fuzz_target;
use memory_engine::Memory;
use serde_json::json;
use skills_core::index::{Entry, Index, Lines};
use skills_core::limits::MAX_SKILL_DESCRIPTION_CHARS;
use skills_core::{FetchOptions, Head, IndexPart, SkillId, Visibility};
use skills_fuzz::{block_on, registry};

fuzz_target!(|text: &str| {
    let head = Head::of(text);
    if let Some(description) = &head.description {
        assert!(description.chars().count() <= MAX_SKILL_DESCRIPTION_CHARS + 3, "{description}");
        assert!(!description.contains('\n'), "{description}");
    }
    let id: SkillId = "a/b".parse().unwrap();
    let visibility = Visibility::Auto;
    let entry = Entry { id: &id, head: &head, visibility };
    let index = Index {
        registered: &Lines::new([entry].into_iter()),
        custom: &Lines::default(),
        max_bytes: usize::MAX,
    };
    let index = index.render(&IndexPart::default(), usize::MAX).unwrap().text;
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
        let _ = registry.read(&"iii://b?toc".parse().unwrap()).await;
        for max_tokens in [1, 100] {
            let options = FetchOptions { max_tokens: Some(max_tokens), partial: true };
            let _ = registry.fetch(Some("iii://b"), None, options).await;
        }
        let _ = registry.route(text, None).await;
    });
});
