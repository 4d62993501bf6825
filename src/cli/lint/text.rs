//! Findings for people: message, place, an excerpt with a caret, help.
//!
//! A renderer of its own: the text is hostile, so every character that is not shown is escaped
//! in the excerpt, and a line of megabytes is cut around the finding.

use std::fmt::Write as _;

use console::measure_text_width;
use skills_core::escape_control;
use skills_lint::Finding;

use super::collect::Checked;

/// Characters of a line that are shown on each side of a finding.
const SIDE: usize = 60;

pub fn render(checked: &Checked) -> String {
    let mut out = String::new();
    for finding in &checked.findings.all {
        let bytes = checked.files.get(&finding.file).map(Vec::as_slice);
        let text = String::from_utf8_lossy(bytes.unwrap_or_default());
        render_one(finding, &text, &mut out);
        out.push('\n');
    }
    out
}

fn render_one(finding: &Finding, text: &str, out: &mut String) {
    let Finding {
        rule,
        severity,
        file,
        at,
        message,
        ..
    } = finding;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{severity}[{}]: {message}", rule.code);
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let _ = writeln!(out, "{margin}--> {}:{at}", escape_control(file));
    if !at.bytes.is_empty() && text.get(at.bytes.clone()).is_some() {
        let Excerpt {
            line,
            before,
            marked,
        } = Excerpt::of(text, finding);
        let caret = format!("{}{}", " ".repeat(before), "^".repeat(marked.max(1)));
        let _ = write!(out, "{margin} |\n{number} | {line}\n{margin} | {caret}\n");
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "{margin} = help: {help}");
    }
    if let Some(fix) = &finding.fix {
        let _ = writeln!(out, "{margin} = fix: {} (`--fix`)", fix.title);
    }
}

/// The line of a finding, escaped and cut, and the columns to mark.
struct Excerpt {
    line: String,
    before: usize,
    marked: usize,
}

impl Excerpt {
    fn of(text: &str, finding: &Finding) -> Self {
        let at = &finding.at.bytes;
        let nth = |text: &str| text.char_indices().nth(SIDE).map(|(end, _)| end);
        let start = text[..at.start].char_indices().rev().take(SIDE).last();
        let start = start.map_or(at.start, |(start, _)| start);
        let line_start = text[start..at.start].rfind('\n').map(|end| start + end + 1);
        let is_cut = line_start.is_none() && start > 0;
        let before = &text[line_start.unwrap_or(start)..at.start];
        let found = text[at.clone()]
            .split(['\n', '\r'])
            .next()
            .unwrap_or_default();
        let shown = &found[..nth(found).unwrap_or(found.len())];
        let rest = text[at.start + shown.len()..]
            .split(['\n', '\r'])
            .next()
            .unwrap_or_default();
        let rest_end = nth(rest);
        let after = &rest[..rest_end.unwrap_or(rest.len())];
        let [before, shown, after] =
            [before, shown, after].map(|text| escape_control(text).replace("\\t", "    "));
        let (open, close) = (
            if is_cut { "..." } else { "" },
            if rest_end.is_some() { "..." } else { "" },
        );
        Self {
            before: measure_text_width(&before) + open.len(),
            marked: measure_text_width(&shown),
            line: format!("{open}{before}{shown}{after}{close}"),
        }
    }
}
