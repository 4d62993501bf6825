//! The form of a skill: its front matter, its text and its files.

mod files;
mod front_matter;
mod text;

use agent3md::Level;

use crate::check::CheckedSkill;
use crate::input::Kind;
use crate::rules::format as rules;

pub use front_matter::Place;

pub fn check(skill: &mut CheckedSkill<'_>) {
    if skill.skill.document.is_damaged_text() {
        let message = "the text is not UTF-8";
        skill
            .document
            .sink
            .add(rules::NOT_UTF8, 0..0, message)
            .help("save it as UTF-8");
    }
    text::bytes(&mut skill.document);
    match &skill.skill.kind {
        Kind::Agent3md => validate(skill),
        kind => {
            let (text, sink) = (skill.document.text, &mut skill.document.sink);
            if let Some(markdown) = &skill.document.markdown {
                front_matter::check(text, &markdown.document, kind, sink);
                text::check(text, markdown, kind, sink);
            }
        }
    }
    for file in &mut skill.bundled {
        text::bytes(file);
    }
    files::check(skill);
}

/// The findings of the 3md validator.
fn validate(skill: &mut CheckedSkill<'_>) {
    let (text, sink) = (skill.document.text, &mut skill.document.sink);
    for finding in agent3md::validate(text).findings {
        let rule = match finding.rule.level() {
            Level::Error => rules::DOCUMENT_ERROR,
            Level::Warning => rules::DOCUMENT_WARNING,
        };
        let message = format!("[{}] {}", finding.rule.name(), finding.message);
        sink.add(rule, finding.at.bytes, message);
    }
}
