//! The text of a document: its bytes, its title, its description and its length.

use skills_core::front_matter::FrontMatter;
use skills_core::quote;

use super::front_matter::Place;
use crate::check::CheckedFile;
use crate::finding::Edit;
use crate::input::Kind;
use crate::limits::{MAX_BODY_LINES, MAX_BODY_TOKENS};
use crate::markdown::Markdown;
use crate::report::Sink;
use crate::rules::format as rules;

/// Extensions of files that need LF alone and no byte order mark.
const LF_ONLY: &[&str] = &["md", "3md", "yaml", "yml", "sh", "bash", "py"];

/// Extensions of other files whose readers do not expect a byte order mark.
const UNMARKED: &[&str] = &["json", "jsonl", "toml", "js", "mjs", "ts", "rb", "pl"];

/// A byte order mark and line ends.
pub fn bytes(checked: &mut CheckedFile<'_>) {
    let (text, sink) = (checked.text, &mut checked.sink);
    let extension = checked.file.name.rsplit_once('.').map(|(_, last)| last);
    let is_lf_only = extension.is_none_or(|extension| LF_ONLY.contains(&extension));
    let is_unmarked = extension.is_some_and(|extension| UNMARKED.contains(&extension));
    if text.starts_with('\u{feff}') && (is_lf_only || is_unmarked) {
        let edit = Edit {
            bytes: 0..3,
            text: String::new(),
        };
        sink.add(rules::BOM, 0..3, "the file begins with a byte order mark")
            .help("save it as UTF-8 without one")
            .fix("remove the byte order mark", vec![edit]);
    }
    if !is_lf_only {
        return;
    }
    let mut ends = text.match_indices("\r\n").map(|(at, _)| at);
    let Some(first) = ends.next() else {
        return;
    };
    // Every CR before an LF, so that the fix leaves no line that ends in both.
    let edit = |at: usize| Edit {
        bytes: text[..at].trim_end_matches('\r').len()..at + 1,
        text: String::new(),
    };
    let edits: Vec<_> = std::iter::once(first).chain(ends).map(edit).collect();
    let message = match edits.len() {
        1 => "a line ends in CR and LF".to_owned(),
        lines => format!("{lines} lines end in CR and LF"),
    };
    sink.add(rules::LINE_ENDS, first..first + 1, message)
        .help("save the file with LF line ends")
        .fix("end lines with LF", edits);
}

pub fn check(text: &str, markdown: &Markdown<'_>, kind: &Kind, sink: &mut Sink) {
    let Markdown { document, head, .. } = markdown;
    if *kind == Kind::Markdown {
        if head.title.is_none() {
            sink.add(rules::NO_TITLE, 0..0, "the document has no title")
                .help("begin with a heading: `# Title`");
        }
        if head.description.is_none() {
            sink.add(
                rules::NO_DESCRIPTION,
                0..0,
                "the document has no description",
            )
            .help("write a paragraph below the title");
        }
    }
    let described = document.front_matter.as_ref();
    let described = described.and_then(FrontMatter::description);
    if let (Kind::Folder { .. }, Some(description)) = (kind, described)
        && !says_when(&description)
    {
        let at = Place::of(text).map_or(0..0, |place| place.key("description"));
        let message = format!(
            "the description does not say when to use the skill: {}",
            quote(&description)
        );
        sink.add(rules::NO_WHEN, at, message)
            .help("add `Use when ...`");
    }
    if *kind == Kind::Prompt {
        return;
    }
    let start = text.len() - document.body.len();
    let lines = document.body.lines().count();
    if lines > MAX_BODY_LINES {
        let message = format!("the body has {lines} lines, more than {MAX_BODY_LINES}");
        sink.add(rules::LONG_BODY, start..start, message)
            .help("move details to files that the body links to");
    }
    let tokens = document.body.chars().count().div_ceil(4);
    if tokens > MAX_BODY_TOKENS {
        let message = format!("the body has about {tokens} tokens, more than {MAX_BODY_TOKENS}");
        sink.add(rules::LARGE_BODY, start..start, message)
            .help("move details to files that the body links to");
    }
}

/// Words that say when a skill is used.
const WHEN: &[&str] = &[
    "after",
    "before",
    "during",
    "for",
    "helps",
    "if",
    "needs",
    "trigger",
    "triggered",
    "triggers",
    "upon",
    "use",
    "used",
    "useful",
    "uses",
    "using",
    "wants",
    "when",
    "whenever",
    "while",
];

/// Whether a description says when to use a skill. One in another language is not judged.
fn says_when(description: &str) -> bool {
    let lower = description.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let is_other = description.chars().filter(|c| !c.is_ascii()).count() * 5 > description.len();
    is_other || words.any(|word| WHEN.contains(&word))
}
