//! Runs every check over a collection.

use std::borrow::Cow;
use std::sync::Arc;

use agent3md::Span;
use skills_core::{LintSettings, SkillId};

use crate::finding::{Finding, Findings};
use crate::input::{Collection, File, Kind, Skill};
use crate::markdown::{Markdown, Parts};
use crate::report::{Sink, severity};
use crate::{format, links, routing, rules, trust};

/// The texts of a skill: its document, then the files of its folder.
type Texts<'a> = (Cow<'a, str>, Vec<Cow<'a, str>>);

fn texts(skill: &Skill) -> Texts<'_> {
    // A document is read as text, whatever bytes it has.
    let bytes = skill.document.bytes.as_deref().unwrap_or_default();
    let bundled = skill.bundled.iter();
    let bundled = bundled.map(|file| file.text().unwrap_or_default());
    (String::from_utf8_lossy(bytes), bundled.collect())
}

/// A file with its text and its findings so far.
pub struct CheckedFile<'a> {
    pub file: &'a File,
    /// Its text; empty if it is not text.
    pub text: &'a str,
    /// Whether the text has exactly the bytes of the file.
    is_exact: bool,
    pub parts: Parts,
    /// What was found in markdown; `None` for another text.
    pub markdown: Option<Markdown<'a>>,
    pub sink: Sink,
}

impl<'a> CheckedFile<'a> {
    fn new(file: &'a File, text: &'a str, is_exact: bool, is_markdown: bool) -> Self {
        let (markdown, parts) = if is_markdown {
            let (markdown, parts) = Markdown::read(text);
            (Some(markdown), parts)
        } else {
            (None, Parts::of_code(text))
        };
        Self {
            file,
            text,
            is_exact,
            parts,
            markdown,
            sink: Sink::new(text),
        }
    }

    fn finish(self, settings: &LintSettings, findings: &mut Findings) {
        let place = (&self.file.shown, self.text);
        self.sink.finish(place, self.is_exact, settings, findings);
    }
}

/// A skill with the findings so far.
pub struct CheckedSkill<'a> {
    pub skill: &'a Skill,
    pub document: CheckedFile<'a>,
    pub bundled: Vec<CheckedFile<'a>>,
}

impl<'a> CheckedSkill<'a> {
    fn new(skill: &'a Skill, (document, bundled): &'a Texts<'_>) -> Self {
        // A text that was decoded anew does not have the bytes of its file.
        let is_exact = |text| matches!(text, &Cow::Borrowed(_));
        let is_markdown = skill.kind != Kind::Agent3md;
        let bundled = skill.bundled.iter().zip(bundled);
        Self {
            skill,
            document: CheckedFile::new(&skill.document, document, is_exact(document), is_markdown),
            bundled: bundled
                .map(|(file, text)| {
                    CheckedFile::new(file, text, is_exact(text), file.is_markdown())
                })
                .collect(),
        }
    }
}

/// Checks everything at once.
pub fn check(collection: &Collection, settings: &LintSettings) -> Findings {
    let texts: Vec<_> = collection.skills.iter().map(texts).collect();
    let skills = collection.skills.iter().zip(&texts);
    let mut skills: Vec<_> = skills
        .map(|(skill, texts)| CheckedSkill::new(skill, texts))
        .collect();
    for skill in &mut skills {
        format::check(skill);
        trust::check(&mut skill.document);
        for file in &mut skill.bundled {
            trust::check(file);
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
