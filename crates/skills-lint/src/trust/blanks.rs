//! Text after so many blanks that a reader does not see it.

use crate::limits::{MAX_BLANK_LINES, MAX_BLANKS};
use crate::report::Sink;
use crate::rules::trust as rules;

pub fn check(text: &str, sink: &mut Sink) {
    let mut blank_lines = 0;
    let mut is_begun = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if is_blank(line) {
            blank_lines += 1;
        } else {
            if blank_lines > MAX_BLANK_LINES && is_begun {
                let message = format!(
                    "text after {blank_lines} blank lines: {}",
                    super::excerpt(line)
                );
                let at = start..start + line.trim_end().len();
                sink.add(rules::FAR_AWAY, at, message)
                    .help("remove the blank lines, or the text");
            }
            blank_lines = 0;
            is_begun = true;
            within(line, start, sink);
        }
        start += line.len();
    }
}

/// Whether a line shows nothing.
fn is_blank(line: &str) -> bool {
    // Most lines are decided by their first character.
    match line.trim_start().as_bytes().first() {
        None => return true,
        Some(first) if first.is_ascii_graphic() && !b"<&\\".contains(first) => return false,
        Some(_) => {}
    }
    let is_unseen = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || !c.is_ascii() && skills_core::is_hidden(c, ' ')
            || c == '\u{2800}'
    };
    let mut rest = line.trim_start_matches(is_unseen);
    // What renders as a blank line.
    for blank in ["<br>", "<br/>", "<br />", "&nbsp;", "\\"] {
        rest = rest
            .strip_prefix(blank)
            .unwrap_or(rest)
            .trim_start_matches(is_unseen);
    }
    rest.is_empty()
}

/// Blanks within a line.
fn within(line: &str, start: usize, sink: &mut Sink) {
    // Most lines are shorter.
    if line.len() <= MAX_BLANKS {
        return;
    }
    let (mut blanks, mut is_begun) = (0, false);
    for (at, c) in line.char_indices() {
        if c.is_whitespace() || c == '\u{2800}' {
            blanks += 1;
            continue;
        }
        if blanks > MAX_BLANKS && is_begun {
            let end = line[at..]
                .char_indices()
                .nth(80)
                .map_or(line.len(), |(end, _)| at + end);
            let shown = super::excerpt(&line[at..end]);
            let message = format!("text after {blanks} blanks: {shown}");
            sink.add(
                rules::FAR_AWAY,
                start + at..start + at + line[at..end].trim_end().len(),
                message,
            )
            .help("remove the blanks, or the text");
        }
        (blanks, is_begun) = (0, true);
    }
}
