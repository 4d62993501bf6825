//! Links between skills and files, over the whole collection.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use skills_core::links::{Link, Target, link};
use skills_core::{FilePath, ResourceUri, SKILL_MD, SkillId, quote};

use crate::check::{CheckedFile, CheckedSkill};
use crate::cycles::Graph;
use crate::finding::Edit;
use crate::input::{Collection, Kind};
use crate::limits::MAX_FINDINGS_PER_RULE;
use crate::rules::{format, links as rules};
use crate::suggestions::Suggestions;

/// What links can lead to.
struct Targets {
    /// The ids of all skills.
    skills: BTreeSet<String>,
    /// The paths of all files and folders, each after the id of its skill.
    paths: BTreeSet<String>,
    /// The same by their lowercase form.
    by_lowercase: HashMap<String, String>,
}

impl Targets {
    fn of(skills: &[CheckedSkill<'_>], collection: &Collection) -> Self {
        let mut targets = Self {
            skills: BTreeSet::new(),
            paths: BTreeSet::new(),
            by_lowercase: HashMap::new(),
        };
        for CheckedSkill { skill, .. } in skills {
            let Some(id) = &skill.id else { continue };
            if skill.kind == Kind::Prompt {
                continue;
            }
            targets.skills.insert(id.to_string());
            let files = skill.bundled.iter().map(|file| &*file.name);
            let is_folder = matches!(skill.kind, Kind::Folder { .. });
            for name in files.chain(is_folder.then_some(SKILL_MD)) {
                targets.add_path(id, name);
            }
        }
        for known in &collection.known {
            targets.skills.insert(known.id.to_string());
            for file in &known.files {
                targets.add_path(&known.id, file.as_str());
            }
        }
        targets
    }

    /// Adds a file and the folders that it is in.
    fn add_path(&mut self, id: &SkillId, name: &str) {
        let mut path = &*format!("{id}/{name}");
        while self.paths.insert(path.to_owned()) {
            self.by_lowercase
                .insert(path.to_lowercase(), path.to_owned());
            match path.rsplit_once('/') {
                Some((folder, _)) => path = folder,
                None => break,
            }
        }
    }

    fn has_skill(&self, id: &SkillId) -> bool {
        // Markdown of a folder can be addressed without its extension.
        self.skills.contains(id.as_str()) || self.paths.contains(&format!("{id}.md"))
    }
}

pub fn check(skills: &mut [CheckedSkill<'_>], collection: &Collection) {
    let targets = Targets::of(skills, collection);
    let mut suggestions = Suggestions::default();
    let mut graph = Graph::default();
    for (at, skill) in skills.iter_mut().enumerate() {
        if matches!(skill.skill.kind, Kind::Agent3md | Kind::Prompt) {
            continue;
        }
        let is_folder = matches!(skill.skill.kind, Kind::Folder { .. });
        let id = skill.skill.id.as_ref();
        let path_of = |file: &str| FilePath::in_skill(id.filter(|_| is_folder)?, file).ok();
        let path = path_of(SKILL_MD);
        let found = check_file(
            &mut skill.document,
            path.as_ref(),
            &targets,
            collection,
            &mut suggestions,
        );
        let mut linked: HashSet<String> = HashSet::new();
        for (target, bytes) in found {
            if let (Some(from), Destination::Skill(to)) = (id, &target) {
                graph.add(from.as_str(), to.clone(), at, bytes);
            } else if let Destination::File(path) = target {
                linked.insert(path);
            }
        }
        let mut named = Named::in_document(skill.document.text);
        for file in &mut skill.bundled {
            let path = path_of(&file.file.name);
            if !file.file.is_markdown() || path.is_none() {
                continue;
            }
            let found = check_file(file, path.as_ref(), &targets, collection, &mut suggestions);
            let is_linked = path.is_some_and(|path| linked.contains(path.as_str()));
            if is_linked {
                deep_references(file, &found, &linked, &mut named);
            }
        }
    }
    graph.report_cycles(skills);
}

/// An existing target.
enum Destination {
    Skill(String),
    File(String),
}

/// Reports the dead links of a file and returns the others with their places.
fn check_file(
    checked: &mut CheckedFile<'_>,
    path: Option<&FilePath>,
    targets: &Targets,
    collection: &Collection,
    suggestions: &mut Suggestions,
) -> Vec<(Destination, Range<usize>)> {
    let mut found = Vec::new();
    // Suggestions are costly, and not more findings than this are reported.
    let mut dead = 0;
    let (text, sink) = (checked.text, &mut checked.sink);
    let links = checked.markdown.iter().flat_map(|read| &read.links);
    let links = links.filter_map(|(address, bytes)| link(address, bytes.clone(), path));
    for Link { uri, to, bytes } in links {
        let quoted = || quote(&uri);
        match to {
            Ok(Target::Skill(id)) if targets.has_skill(&id) => {
                found.push((Destination::Skill(id.to_string()), bytes));
            }
            Ok(Target::Version(id, _) | Target::SkillFrom(_, id)) if targets.has_skill(&id) => {
                // Which versions and hidden texts there are is known to the registry only. They
                // are other texts than the one that is checked, so no cycle goes through them.
            }
            Ok(
                ref target @ (Target::Skill(ref id)
                | Target::Version(ref id, _)
                | Target::SkillFrom(_, ref id)),
            ) => {
                if collection.is_partial {
                    continue;
                }
                dead += 1;
                let near = (dead <= MAX_FINDINGS_PER_RULE)
                    .then(|| suggestions.find(id.as_str(), &targets.skills))
                    .flatten();
                let draft = sink.add(rules::DEAD_SKILL, bytes, || {
                    format!("{} leads to no skill", quoted())
                });
                if let Some(near) = near.and_then(|near| with_id(target, near)) {
                    draft.help(format!("did you mean `{near}`?"));
                }
            }
            Ok(Target::File(file)) if targets.paths.contains(file.as_str()) => {
                found.push((Destination::File(file.to_string()), bytes));
            }
            Ok(Target::File(file)) => {
                let own = path.and_then(|path| path.as_str().split('/').next());
                let is_own = own == file.as_str().split('/').next();
                if collection.is_partial && !is_own || is_placeholder(&uri) {
                    continue;
                }
                let actual = targets.by_lowercase.get(&file.as_str().to_lowercase());
                if let Some(actual) = actual {
                    let (wrong, right) =
                        (last_parts(file.as_str(), &uri), last_parts(actual, &uri));
                    let message = || format!("{} has the wrong case", quoted());
                    let draft = sink.add(rules::CASE, bytes.clone(), message);
                    draft.help(format!("write `{right}`"));
                    // Images may be inside each other, so that each has all those inside it.
                    if draft.is_kept()
                        && !wrong.is_empty()
                        && let Some(at) = text[bytes.clone()].rfind(wrong)
                    {
                        let at = bytes.start + at;
                        let edit = Edit {
                            bytes: at..at + wrong.len(),
                            text: right.to_owned(),
                        };
                        draft.fix(format!("write `{right}`"), vec![edit]);
                    }
                    continue;
                }
                dead += 1;
                let near = (dead <= MAX_FINDINGS_PER_RULE)
                    .then(|| suggestions.find(file.as_str(), &targets.paths))
                    .flatten();
                let draft = sink.add(rules::DEAD_FILE, bytes, || {
                    format!("{} leads to no file", quoted())
                });
                if let Some(near) = near {
                    let folder = path.and_then(|path| path.as_str().rsplit_once('/'));
                    let below = folder.and_then(|(folder, _)| near.strip_prefix(folder));
                    let below = below.and_then(|below| below.strip_prefix('/'));
                    draft.help(format!("did you mean `{}`?", below.unwrap_or(near)));
                } else {
                    draft.help("add the file, or remove the link");
                }
            }
            Ok(Target::Section(function)) => {
                let id = function.to_string();
                let offered = collection.functions.as_ref();
                if offered.is_some_and(|offered| !offered.contains(&id)) {
                    let message = || format!("{} calls `{id}`, which no worker offers", quoted());
                    sink.add(rules::DEAD_SECTION, bytes, message)
                        .help("start its worker, or remove the link");
                }
            }
            Err(_) if is_placeholder(&uri) => {}
            Err(reason) => {
                let (message, help) = reason.split_once("; ").unwrap_or((&reason, "correct it"));
                sink.add(rules::OUTSIDE, bytes, || format!("{}: {message}", quoted()))
                    .help(help);
            }
        }
    }
    found
}

/// The same address with another id.
fn with_id(target: &Target, id: &str) -> Option<ResourceUri> {
    let id = id.parse().ok()?;
    match target {
        Target::Version(_, version) => Some(ResourceUri::Version(id, version.clone())),
        Target::SkillFrom(origin, _) => Some(ResourceUri::SkillFrom(*origin, id)),
        Target::Skill(_) | Target::File(_) | Target::Section(_) => Some(ResourceUri::Skill(id)),
    }
}

/// The end of a path that is as long as the link, which begins with `./` or `../`.
fn last_parts<'a>(path: &'a str, uri: &str) -> &'a str {
    let parts = uri
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".."));
    let count = parts.count();
    let cut = path.rmatch_indices('/').nth(count.saturating_sub(1));
    cut.map_or(path, |(at, _)| &path[at + 1..])
}

/// Whether an address stands for one that a reader fills in.
fn is_placeholder(uri: &str) -> bool {
    const WORDS: &[&str] = &[
        "url",
        "link",
        "path",
        "file",
        "href",
        "uri",
        "target",
        "destination",
    ];
    let has_name = uri.contains(['.', '/']);
    uri.contains(['{', '<', '$', '*', ' ', '|', '=', '(', '…', '%'])
        || uri.contains("...")
        || uri.starts_with("path/to")
        || uri.starts_with("./path/to")
        || !has_name
            && (WORDS.contains(&&*uri.to_lowercase()) || uri.chars().any(char::is_uppercase))
        || !has_name && uri.contains(['-', '_'])
}

/// The names that a document has anywhere in its text. It is searched once for each: every file of
/// a folder may lead to every other one.
struct Named<'a> {
    document: &'a str,
    searched: HashMap<String, bool>,
}

impl<'a> Named<'a> {
    fn in_document(document: &'a str) -> Self {
        Self {
            document,
            searched: HashMap::new(),
        }
    }

    fn has(&mut self, name: &str) -> bool {
        if let Some(has) = self.searched.get(name) {
            return *has;
        }
        let has = self.document.contains(name);
        self.searched.insert(name.to_owned(), has);
        has
    }
}

/// Reports the links of a referenced file to documents that SKILL.md does not name.
fn deep_references(
    checked: &mut CheckedFile<'_>,
    found: &[(Destination, Range<usize>)],
    linked: &HashSet<String>,
    named: &mut Named<'_>,
) {
    let mut judged: HashSet<&str> = HashSet::new();
    for (target, bytes) in found {
        let Destination::File(path) = target else {
            continue;
        };
        if !judged.insert(path) {
            continue;
        }
        let base = path.rsplit('/').next().unwrap_or(path);
        let is_markdown = base.rsplit('.').next() == Some("md") && base != SKILL_MD;
        if is_markdown && !linked.contains(path) && !named.has(base) {
            let message = || format!("only this file, and not SKILL.md, leads to {}", quote(base));
            checked
                .sink
                .add(format::DEEP_REFERENCE, bytes.clone(), message)
                .help("link it from SKILL.md");
        }
    }
}
