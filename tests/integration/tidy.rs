//! Rules about the code itself: who may know whom, how files open, how long they get.

use std::fs;
use std::path::{Path, PathBuf};

/// Longer files rarely answer one question.
const LINES_MAX: usize = 400;

/// Who must not mention whom: a folder or file, and words that may not occur in it.
const WALLS: &[(&str, &[&str])] = &[
    (
        "crates/skills-core/src",
        &[
            "skills_iii",
            "agent3md",
            "tokio::",
            "std::fs",
            "std::net",
            "std::env",
        ],
    ),
    (
        "crates/skills-iii/src",
        &["skills_core", "agent3md", "iii_sdk"],
    ),
    (
        "crates/agent3md/src",
        &[
            "skills_core",
            "skills_iii",
            "tokio::",
            "std::fs",
            "std::net",
        ],
    ),
    // Surfaces know the registry, not each other and not what is behind it.
    (
        "src/functions",
        &[
            "crate::app",
            "crate::cli",
            "crate::mcp",
            "crate::web",
            "crate::engine",
            "crate::files",
            "crate::agents",
            "skills_iii",
        ],
    ),
    (
        "src/mcp",
        &[
            "crate::app",
            "crate::cli",
            "crate::functions",
            "crate::web",
            "crate::files",
            "crate::agents",
        ],
    ),
    (
        "src/web",
        &[
            "crate::app",
            "crate::cli",
            "crate::functions",
            "crate::mcp",
            "crate::files",
            "crate::agents",
        ],
    ),
    // What is behind the registry knows no surface.
    (
        "src/engine",
        &[
            "crate::app",
            "crate::cli",
            "crate::functions",
            "crate::mcp",
            "crate::web",
        ],
    ),
    (
        "src/files",
        &[
            "crate::app",
            "crate::cli",
            "crate::functions",
            "crate::mcp",
            "crate::web",
            "crate::engine",
        ],
    ),
    (
        "src/agents",
        &[
            "crate::app",
            "crate::cli",
            "crate::functions",
            "crate::mcp",
            "crate::web",
            "crate::engine",
        ],
    ),
];

/// What the rules crate may depend on: nothing that reaches outside.
const CORE_MAY_USE: &[&str] = &[
    "futures-util",
    "pulldown-cmark",
    "serde",
    "serde_json",
    "strsim",
    "thiserror",
    "tracing",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a place, if the place exists.
fn rust_files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let Ok(entries) = fs::read_dir(place) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir()
            && !matches!(name.as_str(), "target" | "node_modules")
            && !name.starts_with('.')
        {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[track_caller]
fn nothing(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn nobody_looks_over_a_wall() {
    let mut problems = Vec::new();
    for (place, words) in WALLS {
        for file in rust_files(&root().join(place)) {
            let text = fs::read_to_string(&file).unwrap();
            // Benches and tests inside the file may know more.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                let line = line.split("//").next().unwrap_or_default();
                for word in words.iter().filter(|word| line.contains(**word)) {
                    problems.push(format!(
                        "{}:{}: mentions `{word}`",
                        file.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    nothing(&problems);
}

#[test]
fn the_rules_depend_on_nothing_that_reaches_outside() {
    let manifest = fs::read_to_string(root().join("crates/skills-core/Cargo.toml")).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    let strangers: Vec<_> = names
        .filter(|name| !name.is_empty() && !CORE_MAY_USE.contains(name))
        .map(|name| format!("skills-core depends on `{name}`"))
        .collect();
    nothing(&strangers);
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    let mut problems = Vec::new();
    let files: Vec<_> = ["src", "crates", "tests", "benches", "examples"]
        .iter()
        .flat_map(|place| rust_files(&root().join(place)))
        .collect();
    assert!(files.len() > 20, "the tree was not found");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        if lines > LINES_MAX {
            problems.push(format!(
                "{}: {lines} lines, at most {LINES_MAX}",
                file.display()
            ));
        }
        if !text.starts_with("//!") {
            problems.push(format!(
                "{}: does not open with what it is for",
                file.display()
            ));
        }
    }
    nothing(&problems);
}

/// Without a word in the manifest a bench is a test program of no tests: it says nothing,
/// and that it is fine.
#[test]
fn every_bench_runs() {
    let mut problems = Vec::new();
    for member in [
        ".",
        "crates/skills-core",
        "crates/skills-iii",
        "crates/agent3md",
    ] {
        let folder = root().join(member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for bench in fs::read_dir(folder.join("benches")).unwrap() {
            let bench = bench.unwrap().path();
            let name = bench.file_stem().unwrap().to_str().unwrap();
            if !manifest.contains(&format!("name = \"{name}\"\nharness = false")) {
                problems.push(format!(
                    "{}: no `[[bench]]` without harness",
                    bench.display()
                ));
            }
        }
    }
    nothing(&problems);
}
