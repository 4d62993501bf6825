//! What the Agent Skills specification demands of front matter, and what had to be repaired.

use std::ops::Range;

use skills_core::agent_skill::{About, violations};
use skills_core::front_matter::{self, Document, FrontMatter};
use skills_core::{nearest, quote};

use crate::finding::Edit;
use crate::input::Kind;
use crate::report::Sink;
use crate::rules::format as rules;

/// The keys of the specification.
const SPECIFIED: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// Keys that agents and registries are known to read.
const SEEN: &[&str] = &[
    "agent",
    "argument-hint",
    "arguments",
    "author",
    "category",
    "context",
    "disable-model-invocation",
    "effort",
    "function_id",
    "hooks",
    "model",
    "paths",
    "shell",
    "tags",
    "title",
    "triggers",
    "type",
    "user-invocable",
    "version",
    "visibility",
    "when_to_use",
];

/// The YAML of a document and where it is.
pub struct Place<'a> {
    pub start: usize,
    pub yaml: &'a str,
}

impl<'a> Place<'a> {
    pub fn of(text: &'a str) -> Option<Self> {
        let (Some(yaml), _) = front_matter::split(text) else {
            return None;
        };
        let start = text.find('\n')? + 1;
        Some(Self { start, yaml })
    }

    /// The line that begins with a top-level key; the first line without one.
    pub fn key(&self, key: &str) -> Range<usize> {
        let found = self.keys().find(|(found, _)| *found == key);
        found.map_or(0..3, |(_, line)| line)
    }

    /// The top-level keys with their lines.
    pub fn keys(&self) -> impl Iterator<Item = (&'a str, Range<usize>)> {
        let mut at = self.start;
        self.yaml.split_inclusive('\n').filter_map(move |line| {
            let start = at;
            at += line.len();
            let (key, _) = line.split_once(':')?;
            let is_key = !key.is_empty() && !key.starts_with([' ', '\t', '#', '-', '[', '{']);
            let key = key.trim_end().trim_matches(['"', '\'']);
            is_key.then(|| (key, start..start + line.trim_end().len()))
        })
    }
}

pub fn check(text: &str, document: &Document<'_>, kind: &Kind, sink: &mut Sink) {
    let place = Place::of(text);
    let at = |key: &str| place.as_ref().map_or(0..0, |place| place.key(key));
    match kind {
        Kind::Folder { name } => {
            for violation in violations(document, name) {
                let (message, help) = split_remedy(&violation.reason);
                let (rule, bytes) = match violation.about {
                    About::FrontMatter => (rules::FRONT_MATTER, first_line(text)),
                    // Reported with their places below.
                    About::Repair => continue,
                    About::Key("name") => (rules::NAME, at("name")),
                    About::Key("description") => (rules::DESCRIPTION, at("description")),
                    About::Key(key) => (rules::FIELD, at(key)),
                    About::YamlVersions => (rules::FIELD, first_line(text)),
                };
                sink.add(rule, bytes, format!("the file {message}"))
                    .help(help);
            }
        }
        _ => {
            if let Some(problem) = &document.problem {
                let (message, help) = split_remedy(problem);
                sink.add(
                    rules::FRONT_MATTER,
                    first_line(text),
                    format!("the file {message}"),
                )
                .help(help);
            }
        }
    }
    repairs(text, document, place.as_ref(), sink);
    if let (Some(front_matter), Some(place)) = (&document.front_matter, &place)
        && matches!(kind, Kind::Folder { .. })
    {
        unknown_keys(front_matter, place, sink);
    }
}

/// The message and the remedy of a reason.
fn split_remedy(reason: &str) -> (&str, &str) {
    reason.split_once("; ").unwrap_or((reason, "correct it"))
}

fn first_line(text: &str) -> Range<usize> {
    0..text.lines().next().unwrap_or_default().len()
}

fn repairs(text: &str, document: &Document<'_>, place: Option<&Place<'_>>, sink: &mut Sink) {
    let Some(place) = place else {
        if document.front_matter.is_some() {
            let end = text.len() - document.body.len();
            let insert = Edit {
                bytes: end..end,
                text: "---\n".into(),
            };
            sink.add(rules::REPAIRED, 0..3, "the front matter is not closed")
                .help("end it with a line `---`")
                .fix("close the front matter", vec![insert]);
        }
        return;
    };
    let Some(repair) = front_matter::repair(place.yaml) else {
        return;
    };
    let edit = || vec![smallest_edit(place, &repair.text)];
    if repair.tabs {
        let tab = place.yaml.find('\t').unwrap_or_default();
        let at = place.start + tab..place.start + tab + 1;
        sink.add(
            rules::TABS,
            at,
            "a tab indents the front matter, which YAML does not allow",
        )
        .help("use spaces")
        .fix("indent with spaces", edit());
    }
    if let Some(first) = repair.keys.first() {
        let keys = repair.keys.join("`, `");
        let message = format!("the value of `{keys}` is not valid YAML as written");
        sink.add(rules::REPAIRED, place.key(first), message)
            .help("put it in quotes")
            .fix("put it in quotes", edit());
    }
}

/// The lines that differ between the YAML and its repair, as one edit.
fn smallest_edit(place: &Place<'_>, repaired: &str) -> Edit {
    let old: Vec<_> = place.yaml.split_inclusive('\n').collect();
    let new: Vec<_> = repaired.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let rest = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = ends.take_while(same).count();
    let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let start = place.start + length(&old[..head]);
    Edit {
        bytes: start..start + length(&old[head..old.len() - tail]),
        text: new[head..new.len() - tail].concat(),
    }
}

fn unknown_keys(front_matter: &FrontMatter, place: &Place<'_>, sink: &mut Sink) {
    let all = || SPECIFIED.iter().chain(SEEN).copied();
    for (key, line) in place.keys() {
        if front_matter.get(key).is_none() || all().any(|known| known == key) {
            continue;
        }
        let near = nearest(&key.to_lowercase().replace('_', "-"), all());
        let draft = sink.add(
            rules::UNKNOWN_KEY,
            line.start..line.start + key.len(),
            format!("{} is not a key of a SKILL.md", quote(key)),
        );
        match near {
            Some(near) => {
                draft.help(format!("did you mean `{near}`?"));
                let is_free = SPECIFIED.contains(&near) && front_matter.get(near).is_none();
                // In quotes the key is not at the start of the line.
                if is_free && place.yaml[line.start - place.start..].starts_with(key) {
                    let edit = Edit {
                        bytes: line.start..line.start + key.len(),
                        text: near.into(),
                    };
                    draft.fix(format!("rename it to `{near}`"), vec![edit]);
                }
            }
            None => {
                draft.help("put it below `metadata`, as a text in quotes");
            }
        }
    }
}
