//! Rules about the source tree that neither the compiler nor Cargo checks.

mod dependencies;
mod retired_names;

use std::fs;
use std::path::{Path, PathBuf};

/// A longer file rarely has one purpose.
const MAX_LINES: usize = 400;

/// Every folder with Rust files of this workspace.
const SOURCE_FOLDERS: &[&str] = &["src", "crates", "tests", "benches", "examples"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The entries of a folder, which must exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The Rust files below a folder of this repository.
fn rust_files(folder: &str) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() {
                let generated =
                    matches!(&*name, "target" | "node_modules") || name.starts_with('.');
                folders.extend((!generated).then(|| path.clone()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no Rust files");
    files
}

/// The folders of the packages: the root and every crate.
fn packages() -> Vec<PathBuf> {
    let mut packages = vec![root().to_owned()];
    packages.extend(entries(&root().join("crates")));
    packages
}

fn manifest(package: &Path) -> String {
    fs::read_to_string(package.join("Cargo.toml")).unwrap()
}

/// A path as people write it, relative to the root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_file_has_a_module_comment_and_a_limited_length() {
    let mut problems = Vec::new();
    for file in SOURCE_FOLDERS.iter().flat_map(|folder| rust_files(folder)) {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        if lines > MAX_LINES {
            problems.push(format!(
                "{}: {lines} lines, limit {MAX_LINES}",
                shown(&file)
            ));
        }
        if !text.starts_with("//!") {
            problems.push(format!("{}: does not begin with `//!`", shown(&file)));
        }
    }
    assert_none(&problems);
}

/// Cargo runs a bench without an entry in the manifest with libtest, which finds nothing to do and
/// succeeds.
#[test]
fn every_bench_has_an_entry_without_harness() {
    let mut problems = Vec::new();
    let mut benches = 0;
    for package in packages() {
        let manifest = manifest(&package);
        let folder = package.join("benches");
        if !folder.exists() {
            continue;
        }
        for bench in entries(&folder) {
            let name = bench.file_stem().unwrap().to_str().unwrap();
            if !manifest.contains(&format!("name = \"{name}\"\nharness = false")) {
                problems.push(format!("{}: no `[[bench]]` entry", shown(&bench)));
            }
            benches += 1;
        }
    }
    assert_none(&problems);
    assert!(benches >= 10, "only {benches} benches were found");
}
