//! Which crate may depend on which: Cargo enforces the manifests, this enforces their contents.

use std::collections::BTreeMap;

use super::{assert_none, manifest, packages};

/// What each crate may depend on within the workspace.
const WORKSPACE_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("agent3md", &[]),
    ("skills-access", &[]),
    ("skills-allocator", &[]),
    ("skills-core", &["agent3md", "skills-search"]),
    ("skills-iii", &["skills-access"]),
    ("skills-search", &["agent3md"]),
    ("skills-files", &["agent3md", "skills-core"]),
    ("skills-lint", &["agent3md", "skills-core", "skills-search"]),
    ("skills-api", &["skills-core", "skills-lint"]),
    (
        "skills-mcp",
        &["agent3md", "skills-access", "skills-api", "skills-core"],
    ),
    (
        "skills-web",
        &["skills-access", "skills-api", "skills-core"],
    ),
    (
        "skills",
        &[
            "agent3md",
            "skills-access",
            "skills-allocator",
            "skills-api",
            "skills-core",
            "skills-files",
            "skills-iii",
            "skills-lint",
            "skills-mcp",
            "skills-search",
            "skills-web",
        ],
    ),
];

/// What the crates without I/O may depend on outside the workspace.
const PURE_DEPENDENCIES: &[(&str, &[&str])] = &[
    (
        "agent3md",
        &[
            "serde",
            "serde_json",
            "strsim",
            "thiserror",
            "unicode-properties",
        ],
    ),
    (
        "skills-search",
        &[
            "fearless_simd",
            "hashbrown",
            "rust-stemmers",
            "unicode-normalization",
        ],
    ),
    (
        "skills-core",
        &[
            "futures-util",
            "pulldown-cmark",
            "serde",
            "serde-saphyr",
            "serde_json",
            "sha2",
            "thiserror",
            "tracing",
        ],
    ),
    ("skills-lint", &["aho-corasick", "pulldown-cmark"]),
];

/// The libraries of the surfaces, and the crates that may depend on them.
const SURFACE_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("clap", &["skills"]),
    ("axum", &["skills", "skills-mcp", "skills-web"]),
    ("maud", &["skills-web"]),
    ("rmcp", &["skills", "skills-mcp"]),
];

/// The dependencies that each crate ships with, by its name.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let named = |package: &std::path::PathBuf| {
        let manifest = manifest(package);
        let name = manifest
            .split("\n[package]\n")
            .last()
            .and_then(|text| text.split("name = \"").nth(1)?.split('"').next())
            .expect("a manifest names its package");
        (name.to_owned(), shipped_dependencies(&manifest))
    };
    packages().iter().map(named).collect()
}

/// The names in `[dependencies]`, for every target.
fn shipped_dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut shipped = false;
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            shipped = header == "dependencies"
                || header.starts_with("target.") && header.ends_with(".dependencies");
            names.extend(header.strip_prefix("dependencies.").map(str::to_owned));
        } else if shipped && !line.starts_with('#') {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            names.extend((!name.is_empty()).then(|| name.to_owned()));
        }
    }
    names
}

fn allowed<'a>(table: &[(&str, &'a [&'a str])], name: &str) -> &'a [&'a str] {
    let row = table.iter().find(|(row, _)| *row == name);
    row.unwrap_or_else(|| panic!("{name} is not in the table"))
        .1
}

#[test]
fn crates_depend_only_on_the_crates_below_them() {
    let dependencies = dependencies();
    assert_eq!(dependencies.len(), WORKSPACE_DEPENDENCIES.len());
    let mut problems = Vec::new();
    for (name, used) in &dependencies {
        let allowed = allowed(WORKSPACE_DEPENDENCIES, name);
        let members = used.iter().filter(|name| dependencies.contains_key(*name));
        for used in members.filter(|used| !allowed.contains(&used.as_str())) {
            problems.push(format!("{name} depends on {used}"));
        }
    }
    assert_none(&problems);
}

#[test]
fn the_pure_crates_depend_on_nothing_that_does_io() {
    let dependencies = dependencies();
    let mut problems = Vec::new();
    for (name, pure) in PURE_DEPENDENCIES {
        let below = allowed(WORKSPACE_DEPENDENCIES, name);
        for used in &dependencies[*name] {
            if !pure.contains(&used.as_str()) && !below.contains(&used.as_str()) {
                problems.push(format!("{name} depends on {used}"));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn only_the_surfaces_depend_on_their_libraries() {
    let dependencies = dependencies();
    let mut problems = Vec::new();
    for (library, crates) in SURFACE_DEPENDENCIES {
        for (name, used) in &dependencies {
            if used.iter().any(|used| used == library) && !crates.contains(&name.as_str()) {
                problems.push(format!("{name} depends on {library}"));
            }
        }
    }
    assert_none(&problems);
}
