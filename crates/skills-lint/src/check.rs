//! Runs every check over a collection.

use std::borrow::Cow;
use std::sync::Arc;

use agent3md::Span;
use skills_core::{LintSettings, SkillId};

use crate::finding::{Finding, Findings};
use crate::input::{Collection, File, Kind, Skill};
use crate::report::{Sink, severity};
use crate::{format, links, routing, rules, trust};

/// A file with its text and its findings so far.
pub struct CheckedFile<'a> {
    pub file: &'a File,
    /// Its text; empty if it is not text.
    pub text: Cow<'a, str>,
    pub sink: Sink,
}

impl<'a> CheckedFile<'a> {
    fn new(file: &'a File, text: Option<Cow<'a, str>>) -> Self {
        Self {
            file,
            text: text.unwrap_or_default(),
            sink: Sink::default(),
        }
    }

    fn finish(self, settings: &LintSettings, findings: &mut Findings) {
        let is_exact = matches!(self.text, Cow::Borrowed(_));
        let place = (&self.file.shown, &*self.text);
        self.sink.finish(place, is_exact, settings, findings);
    }
}

/// A skill with the findings so far.
pub struct CheckedSkill<'a> {
    pub skill: &'a Skill,
    pub document: CheckedFile<'a>,
    pub bundled: Vec<CheckedFile<'a>>,
}

impl<'a> CheckedSkill<'a> {
    fn new(skill: &'a Skill) -> Self {
        // Whatever a document holds, it is read as text.
        let bytes = skill.document.bytes.as_deref().unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let bundled = skill.bundled.iter();
        Self {
            skill,
            document: CheckedFile::new(&skill.document, Some(text)),
            bundled: bundled
                .map(|file| CheckedFile::new(file, file.text()))
                .collect(),
        }
    }
}

/// Checks everything at once.
pub fn check(collection: &Collection, settings: &LintSettings) -> Findings {
    let mut skills: Vec<_> = collection.skills.iter().map(CheckedSkill::new).collect();
    for skill in &mut skills {
        format::check(skill);
        let is_markdown = skill.skill.kind != Kind::Agent3md;
        trust::check(&mut skill.document, is_markdown);
        for file in &mut skill.bundled {
            let is_markdown = file.file.is_markdown();
            trust::check(file, is_markdown);
        }
    }
    links::check(&mut skills, collection);
    routing::check(&mut skills);
    let mut findings = Findings::default();
    for skill in skills {
        skill.document.finish(settings, &mut findings);
        for file in skill.bundled {
            file.finish(settings, &mut findings);
        }
    }
    let rule = rules::format::UNSERVED;
    if let Some(severity) = severity(rule, settings) {
        let unserved = collection.unserved.iter();
        findings.all.extend(unserved.map(|unserved| Finding {
            rule,
            severity,
            file: Arc::clone(&unserved.shown),
            at: Span {
                line: 1,
                column: 1,
                bytes: 0..0,
            },
            message: unserved.reason.clone(),
            help: None,
            fix: None,
        }));
    }
    findings
}

/// Checks one markdown text, as a worker registers it.
pub fn check_text(id: Option<&SkillId>, text: &str, settings: &LintSettings) -> Findings {
    let shown = id.map_or_else(|| "text".into(), |id| format!("iii://{id}"));
    let collection = Collection {
        skills: vec![Skill {
            id: id.cloned(),
            kind: Kind::Markdown,
            document: File {
                name: "SKILL.md".into(),
                shown: shown.into(),
                bytes: Some(text.into()),
            },
            bundled: Vec::new(),
        }],
        is_partial: true,
        ..Collection::default()
    };
    check(&collection, settings)
}
