//! Allow comments: `<!-- skills-lint-allow CODE: reason -->`, or the same in the comments of
//! another language.

use std::ops::Range;

use crate::report::Sink;
use crate::rule::Rule;
use crate::rules::{find_rule, format};

const MARKER: &str = "skills-lint-allow";

/// What opens a comment in the languages of skills.
const OPENINGS: &[&str] = &["<!--", "#", "//", "/*", "--", ";", "%"];

/// A comment that silences a rule.
struct Allow {
    rule: &'static Rule,
    /// From the line of the comment to the end of the next one.
    lines: Range<usize>,
}

/// The valid allow comments of a text, in order.
pub struct Allows(Vec<Allow>);

impl Allows {
    /// Reads the comments, one of each line. Those that are not valid are findings.
    pub fn read(text: &str, sink: &mut Sink) -> Self {
        let mut found = Vec::new();
        let mut start = 0;
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().map_or(0, |next| next.len());
            let range = start..start + line.len() + next;
            read_line(line, &range, sink, &mut found);
            start += line.len();
        }
        Self(found)
    }

    /// Whether a finding of a rule at a place is silenced.
    pub fn silence(&self, rule: &Rule, at: usize) -> bool {
        let first = self.0.partition_point(|allow| allow.lines.end <= at);
        let near = self.0[first..].iter();
        let mut near = near.take_while(|allow| allow.lines.start <= at);
        near.any(|allow| allow.rule == rule)
    }
}

fn read_line(line: &str, range: &Range<usize>, sink: &mut Sink, found: &mut Vec<Allow>) {
    let Some(at) = line.find(MARKER) else {
        return;
    };
    // A name in running text or in backticks is not a comment.
    let before = line[..at].trim_end();
    if !OPENINGS.iter().any(|opening| before.ends_with(opening)) {
        return;
    }
    let comment = &line[at + MARKER.len()..];
    let comment = comment.split("-->").next().unwrap_or_default();
    let comment = comment.trim().trim_end_matches("*/");
    let (codes, reason) = comment.split_once(':').unwrap_or((comment, ""));
    let bytes = range.start + at..range.start + at + MARKER.len();
    if reason.trim().is_empty() {
        let message = "this allow comment has no reason, so it silences nothing";
        sink.add(format::ALLOW, bytes, message)
            .help("write `skills-lint-allow CODE: reason`");
        return;
    }
    for code in codes.split([',', ' ']).filter(|code| !code.is_empty()) {
        if let Some(rule) = find_rule(code) {
            let lines = range.clone();
            found.push(Allow { rule, lines });
        } else {
            let message = format!("no rule has the code {}", skills_core::quote(code));
            sink.add(format::ALLOW, bytes.clone(), message)
                .help("`docs/lint.md` lists the codes");
        }
    }
}
