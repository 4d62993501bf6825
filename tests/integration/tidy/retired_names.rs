//! Names that were replaced by those of the field and must not come back where they were.

use std::fs;
use std::path::Path;

use super::{assert_none, rust_files, shown};

const CORE: &str = "crates/skills-core/src";
const III: &str = "crates/skills-iii/src";
const FILES: &str = "crates/skills-files/src";
const MCP: &str = "crates/skills-mcp/src";
const APP: &str = "src/app";
const CLI: &str = "src/cli";

/// Retired names, and the folders they were retired in. A name in lower case is that of a file, a
/// module or a function, and of the type in camel case; one that ends in `.rs` that of a file only.
const RETIRED: &[(&[&str], &[&str])] = &[
    (&["desk", "books", "Held", "Open"], &[MCP]),
    (&["wire"], &[MCP, "src/engine"]),
    (&["guarded", "process"], &[MCP]),
    (
        &["door", "gate", "Visit", "Way", "Stays", "Nobody"],
        &[MCP, III],
    ),
    (
        &["AtOnce", "at_hand", "glance", "look", "look_around"],
        &[MCP, CORE, III],
    ),
    (&["visit", "stay", "go", "patiently"], &[CLI]),
    (
        &[
            "reach",
            "approach",
            "Reaching",
            "Reached",
            "Place",
            "Where",
            "Whereabouts",
            "Serving",
            "Home",
            "Stay",
        ],
        &[APP, CLI],
    ),
    (
        &["bell", "doorbell", "ring", "rung", "heard", "tell"],
        &[APP, CORE, FILES, MCP, III],
    ),
    (&["turn"], &[FILES, CORE, MCP, III]),
    (&["thread", "on_a_thread", "card", "book", "Page"], &[FILES]),
    (&["own", "custom", "answer"], &[MCP]),
    (
        &[
            "page",
            "names.rs",
            "codes",
            "changes",
            "conversation",
            "Place",
        ],
        &[MCP],
    ),
    (
        &["side", "pulse", "fresh.rs", "line", "durable", "port"],
        &[III],
    ),
    (&["motion", "slot", "writers"], &[CORE]),
    (
        &["say", "voice", "tame", "figures", "many", "tally"],
        &[CLI],
    ),
    (&["direct"], &[FILES, MCP]),
    (
        &["house", "talk", "shelf", "word", "life", "bus"],
        &["tests"],
    ),
    (
        &[
            "PATIENCE", "AGAIN", "GOODBYE", "GRACE", "SOON", "LONG", "NOBODY",
        ],
        &["src", "crates", "tests", "benches"],
    ),
];

/// The keywords that a name of an item follows.
const ITEMS: &[&str] = &[
    "struct", "enum", "trait", "type", "fn", "const", "static", "mod",
];

#[test]
fn retired_names_do_not_return() {
    let mut problems = Vec::new();
    for (names, folders) in RETIRED {
        for file in folders.iter().flat_map(|folder| rust_files(folder)) {
            let spellings: Vec<_> = names.iter().flat_map(|name| spellings(name)).collect();
            for name in names_in(&file) {
                if spellings.contains(&name) {
                    problems.push(format!("{}: {name}", shown(&file)));
                }
            }
        }
    }
    assert_none(&problems);
}

/// A retired name as it is written for a file, module or function, and for a type.
fn spellings(name: &str) -> Vec<String> {
    if name.starts_with(char::is_uppercase) || name.contains('.') {
        return vec![name.to_owned()];
    }
    let camel = |word: &str| word[..1].to_uppercase() + &word[1..];
    let camel = name.split('_').map(camel).collect();
    vec![name.to_owned(), camel]
}

/// The stem of a file, the folder of a `mod.rs`, and the names of the items in it.
fn names_in(file: &Path) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let stems = [stem(file), stem(file.parent().unwrap())];
    let mut names: Vec<_> = stems.iter().map(|stem| format!("{stem}.rs")).collect();
    names.extend(stems);
    for line in fs::read_to_string(file).unwrap().lines() {
        let line = line.split("//").next().unwrap_or_default();
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        let items = words.windows(2).filter(|pair| ITEMS.contains(&pair[0]));
        names.extend(items.map(|pair| pair[1].to_owned()));
    }
    names
}
