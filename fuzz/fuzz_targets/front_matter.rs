//! Any text as front matter, alone and at the top of a document.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_core::front_matter::{Document, FrontMatter, split};

fuzz_target!(|text: &str| {
    read(text);
    let document = format!("---\n{text}\n---\nBody.\n");
    if let (Some(yaml), _) = split(&document) {
        read(yaml);
    }
    assert!(text.ends_with(Document::parse(text).body));
    let (yaml, body) = split(text);
    assert!(yaml.unwrap_or_default().len() + body.len() <= text.len());
});

fn read(yaml: &str) {
    if let Ok(front_matter) = FrontMatter::parse(yaml) {
        for key in ["description", "name", "triggers", "a"] {
            let _ = front_matter.text(key);
            front_matter.phrases(key);
        }
        serde_json::from_str::<serde_json::Value>(front_matter.json()).unwrap();
    }
}
