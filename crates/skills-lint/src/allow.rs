//! Allow comments: `<!-- skills-lint-allow CODE: reason -->`, or the same in the comments of
//! another language.

use std::ops::Range;

use crate::report::Sink;
use crate::rule::Rule;
use crate::rules::{find_rule, format};

const MARKER: &str = "skills-lint-allow";

/// What opens a comment in the languages of skills.
const OPENINGS: &[&str] = &["<!--", "#", "//", "/*", "--", ";", "%"];

/// A comment that silences rules.
struct Allow {
    rules: Vec<&'static Rule>,
    /// From the line of the comment to the end of the next one.
    lines: Range<usize>,
}

/// The valid allow comments of a text, in order.
#[derive(Default)]
pub struct Allows(Vec<Allow>);

impl Allows {
    /// Reads the comments, one of each line. Those that are not valid are findings.
    pub fn read(text: &str, sink: &mut Sink) -> Self {
        let mut found = Vec::new();
        let mut next = 0;
        while let Some(at) = text[next..].find(MARKER) {
            let at = next + at;
            let start = next + text[next..at].rfind('\n').map_or(0, |end| end + 1);
            let end = line_end(text, at);
            let lines = start..line_end(text, end);
            found.extend(read_line(&text[start..end], &lines, sink));
            next = end;
        }
        Self(found)
    }

    /// Whether a finding of a rule at a place is silenced.
    pub fn silence(&self, rule: &Rule, at: usize) -> bool {
        let first = self.0.partition_point(|allow| allow.lines.end <= at);
        let near = self.0[first..].iter();
        let mut near = near.take_while(|allow| allow.lines.start <= at);
        near.any(|allow| allow.rules.contains(&rule))
    }
}

/// The end of the line with a place, its line end included.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

fn read_line(line: &str, lines: &Range<usize>, sink: &mut Sink) -> Option<Allow> {
    let at = line.find(MARKER)?;
    // A name in running text or in backticks is not a comment.
    let before = line[..at].trim_end();
    if !OPENINGS.iter().any(|opening| before.ends_with(opening)) {
        return None;
    }
    let comment = &line[at + MARKER.len()..];
    let comment = comment.split("-->").next().unwrap_or_default();
    let comment = comment.trim().trim_end_matches("*/");
    let (codes, reason) = comment.split_once(':').unwrap_or((comment, ""));
    let bytes = lines.start + at..lines.start + at + MARKER.len();
    if reason.trim().is_empty() {
        let message = "this allow comment has no reason, so it silences nothing";
        sink.add(format::ALLOW, bytes, message)
            .help("write `skills-lint-allow CODE: reason`");
        return None;
    }
    let mut rules = Vec::new();
    for code in codes.split([',', ' ']).filter(|code| !code.is_empty()) {
        let Some(rule) = find_rule(code) else {
            let message = || format!("no rule has the code {}", skills_core::quote(code));
            sink.add(format::ALLOW, bytes.clone(), message)
                .help("`docs/lint.md` lists the codes");
            continue;
        };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let lines = lines.clone();
    (!rules.is_empty()).then_some(Allow { rules, lines })
}
