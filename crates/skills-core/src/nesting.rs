//! What it costs to parse a markdown text whose quotes and lists are in each other.
//!
//! A CommonMark parser compares each line with every open quote and list item, so that a text of
//! many lines below many of them takes seconds. Such a text is not parsed.

use crate::limits::NESTING_MAX;

/// The text that a CommonMark parser reads: all of it, or nothing if it would compare its lines with
/// open quotes and list items more than [`NESTING_MAX`] times.
pub fn parsed_text(text: &str) -> &str {
    let lines = text.as_bytes().split(|byte| matches!(byte, b'\n' | b'\r'));
    let (mut deepest, mut compared) = (0, 0_usize);
    for line in lines {
        // A line may belong to what was opened long before it.
        deepest = depth(line).max(deepest);
        compared = compared.saturating_add(deepest);
    }
    if compared <= NESTING_MAX { text } else { "" }
}

/// In how many quotes, list items and footnotes a line is at most, if it begins one: each of those
/// that it begins has a marker, and each of those before takes a marker or two columns.
fn depth(line: &[u8]) -> usize {
    let (mut rest, mut columns) = without_indent(line);
    let mut begun = 0;
    while let Some(after) = without_marker(rest) {
        begun += 1;
        let indent;
        (rest, indent) = without_indent(after);
        // The first column belongs to the marker.
        columns += indent.saturating_sub(1);
    }
    if begun == 0 { 0 } else { begun + columns / 2 }
}

fn without_indent(line: &[u8]) -> (&[u8], usize) {
    let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let width = |byte: &u8| if *byte == b'\t' { 4 } else { 1 };
    let (length, columns) = indent.fold((0, 0), |(length, columns), byte| {
        (length + 1, columns + width(byte))
    });
    (&line[length..], columns)
}

/// What comes after the marker of a quote, a list item or a footnote; `None` if there is none.
fn without_marker(line: &[u8]) -> Option<&[u8]> {
    let item = match line {
        [b'>', rest @ ..] => return Some(rest),
        [b'[', b'^', rest @ ..] => {
            let end = rest.iter().position(|&byte| byte == b']')?;
            return rest[end..].strip_prefix(b"]:");
        }
        [b'-' | b'*' | b'+', rest @ ..] => rest,
        _ => {
            let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match line.get(digits..) {
                Some([b'.' | b')', rest @ ..]) if digits > 0 => rest,
                _ => return None,
            }
        }
    };
    matches!(item.first(), None | Some(b' ' | b'\t')).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: usize) {
        assert_eq!(depth(line.as_bytes()), expected, "for {line:?}");
    }

    #[test]
    fn quotes_and_list_items_are_counted() {
        check("", 0);
        check("text > text", 0);
        check("        code", 0);
        check("> text", 1);
        check(">>> text", 3);
        check("- > 1. * text", 4);
        check("    - item", 3);
        check("\t- item", 3);
        check(">       - item", 5);
        check("-", 1);
        check("[^1]: > note", 2);
        check("[^1] no note", 0);
        check("[link]: x", 0);
        check("-- not an item", 0);
        check("**bold**", 0);
        check("2026. year", 1);
        check("3.14", 0);
    }

    #[test]
    fn a_text_that_takes_long_is_not_parsed() {
        let depth = 1_000;
        let lines = NESTING_MAX / depth;
        // Each line begins 95 items inside those of the line before it.
        let steps = (0..).step_by(190).take(depth / 95);
        let step = |columns: usize| format!(">{}{}a\n", " ".repeat(columns + 1), "- ".repeat(95));
        for (name, nested) in [
            ("quotes", ">".repeat(depth)),
            ("items", "- ".repeat(depth)),
            (
                "after a carriage return",
                format!("x\r\r{}", ">".repeat(depth)),
            ),
            ("in a footnote", format!("[^1]: {}", ">".repeat(depth))),
            ("in steps", steps.map(step).collect()),
        ] {
            let text = |lines: usize| format!("# A\n\n{nested}a\n{}", "a\n".repeat(lines));
            assert!(parsed_text(&text(2 * lines)).is_empty(), "{name}");
            assert!(!parsed_text(&text(lines / 4)).is_empty(), "{name}");
        }
    }

    #[test]
    fn ordinary_texts_are_parsed() {
        let rule = format!("# A\n\n{}\n\n## B\n", "- ".repeat(200));
        let mail = format!("```\n{} quoted\n```\n", ">".repeat(500)).repeat(20);
        let list = "- item\n  - item\n\n        - code\n".repeat(7_000);
        for (name, text) in [("rule", rule), ("mail", mail), ("list", list)] {
            assert_eq!(parsed_text(&text).len(), text.len(), "{name}");
        }
    }
}
