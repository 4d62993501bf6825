//! The files of a skill folder: what nothing names, scripts and secrets.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::check::CheckedSkill;
use crate::rules::format as rules;

pub fn check(skill: &mut CheckedSkill<'_>) {
    let named = mentions(skill);
    for (file, is_named) in skill.bundled.iter_mut().zip(named) {
        let name = &*file.file.name;
        let quoted = skills_core::quote(name);
        if file.file.is_damaged_text() {
            file.sink
                .add(rules::NOT_UTF8, 0..0, "the text is not UTF-8")
                .help("save it as UTF-8");
        }
        if holds_secrets(name) {
            let message = format!("{quoted} holds secrets by its name");
            file.sink
                .add(rules::SECRET_FILE, 0..0, message)
                .help("remove it; name a template `.env.example`");
            continue;
        }
        if is_script(name) && !file.text.trim().is_empty() && !file.text.starts_with("#!") {
            let message = format!("{quoted} has no interpreter line");
            file.sink
                .add(rules::NO_INTERPRETER, 0..0, message)
                .help("begin it with `#!/usr/bin/env bash` or the like");
        }
        if !is_named && !speaks_for_itself(name) {
            let message = format!("no text of the skill names {quoted}");
            file.sink
                .add(rules::UNLINKED_FILE, 0..0, message)
                .help("name it in SKILL.md, or remove it");
        }
    }
}

/// Whether each bundled file, or a folder that it is in, is named in another text of the skill.
fn mentions(skill: &CheckedSkill<'_>) -> Vec<bool> {
    let mut named = vec![false; skill.bundled.len()];
    // The files that a pattern names.
    let mut patterns: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, file) in skill.bundled.iter().enumerate() {
        let name = &*file.file.name;
        let (folders, base) = name.rsplit_once('/').unwrap_or(("", name));
        let stem = base.rsplit_once('.').map(|(stem, _)| stem);
        let is_code = stem.is_some() && CODE.iter().any(|extension| base.ends_with(extension));
        let folders = folders.split('/').filter(|folder| !folder.is_empty());
        let folders = folders.flat_map(|f| [format!("{f}/"), format!("/{f}"), format!("`{f}`")]);
        let stem = stem
            .filter(|stem| is_code && stem.len() > 2)
            .map(str::to_owned);
        for pattern in folders.chain([base.to_owned()]).chain(stem) {
            patterns.entry(pattern.to_lowercase()).or_default().push(at);
        }
    }
    let (words, files): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
    // Matches that do not overlap: their number is limited by the text.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(&words);
    let Ok(automaton) = automaton else {
        return vec![true; named.len()];
    };
    let documents = skill
        .bundled
        .iter()
        .enumerate()
        .map(|(at, file)| (Some(at), file));
    for (own, text) in documents.chain([(None, &skill.document)]) {
        let mut seen = vec![false; words.len()];
        for found in automaton.find_iter(text.text) {
            let pattern = found.pattern().as_usize();
            if std::mem::replace(&mut seen[pattern], true) {
                continue;
            }
            for &file in files[pattern].iter().filter(|file| Some(**file) != own) {
                named[file] = true;
            }
        }
    }
    named
}

/// Files that other files name without their extension.
const CODE: &[&str] = &[
    ".py", ".js", ".ts", ".mjs", ".tsx", ".jsx", ".sh", ".rb", ".xsd",
];

/// Files that tools and people look for by their names.
fn speaks_for_itself(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "license",
        "licence",
        "notice",
        "copying",
        "readme",
        "changelog",
        "__init__",
        "package",
        "package-lock",
        "requirements",
        "pyproject",
        "tsconfig",
        "openai",
        "skill",
        "cargo",
        "makefile",
        "dockerfile",
        "third_party_notices",
        "metadata",
        "conftest",
    ];
    let base = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let stem = base.split('.').next().unwrap_or_default();
    stem.is_empty() || NAMES.contains(&stem)
}

/// Whether a file is run by its first line: a shell script, or one without an extension among
/// scripts. Files that others read are not.
fn is_script(name: &str) -> bool {
    let (folder, base) = name.rsplit_once('/').unwrap_or(("", name));
    let is_read = folder.split('/').any(|part| part == "lib")
        || ["lib", "common", "utils", "env", "config"]
            .contains(&base.split('.').next().unwrap_or_default());
    let last = folder.rsplit('/').next().unwrap_or_default();
    let is_bare = !base.contains('.') && (last == "scripts" || last == "bin");
    let is_shell = [".sh", ".bash", ".zsh"]
        .iter()
        .any(|end| base.ends_with(end));
    !is_read && (is_bare || is_shell) && !speaks_for_itself(name)
}

/// Whether the name of a file says that it holds secrets.
fn holds_secrets(name: &str) -> bool {
    const NAMES: &[&str] = &[
        ".env",
        ".envrc",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        ".pypirc",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
    ];
    const ENDS: &[&str] = &[".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];
    const TEMPLATES: &[&str] = &[
        "example", "sample", "template", "dist", "defaults", "schema",
    ];
    let base = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let is_env = base
        .strip_prefix(".env.")
        .is_some_and(|rest| !rest.split('.').any(|part| TEMPLATES.contains(&part)));
    is_env || NAMES.contains(&&*base) || ENDS.iter().any(|end| base.ends_with(end))
}
