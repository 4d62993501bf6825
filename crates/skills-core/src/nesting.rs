//! How deep the quotes and lists of a markdown text are nested.
//!
//! A CommonMark parser compares each line with every open quote and list item, so that a text of
//! many lines below many of them takes seconds. Such a text is not parsed.

use crate::limits::NESTING_MAX;

/// The text that a CommonMark parser reads: all of it, or nothing if its quotes and list items are
/// nested deeper than [`NESTING_MAX`].
pub fn parsed_text(text: &str) -> &str {
    let lines = text.as_bytes().split(|&byte| byte == b'\n');
    let is_parsed = lines.into_iter().all(|line| depth(line) <= NESTING_MAX);
    if is_parsed { text } else { "" }
}

/// How many quotes and list items a line may be in: those that it begins, and one for each two
/// columns before them. A line that begins none is in those of the lines before it.
fn depth(line: &[u8]) -> usize {
    let (mut rest, columns) = without_indent(line);
    let mut begun = 0;
    while let Some(after) = without_marker(rest) {
        begun += 1;
        (rest, _) = without_indent(after);
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

/// What comes after the marker of a quote or a list item; `None` if there is none.
fn without_marker(line: &[u8]) -> Option<&[u8]> {
    let item = match line {
        [b'>', rest @ ..] => return Some(rest),
        [b'-' | b'*' | b'+', rest @ ..] => rest,
        _ => {
            let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match line.get(digits..) {
                Some([b'.' | b')', rest @ ..]) if digits > 0 => rest,
                _ => return None,
            }
        }
    };
    matches!(item.first(), None | Some(b' ' | b'\t' | b'\r')).then_some(item)
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
        check("-", 1);
        check("-- not an item", 0);
        check("**bold**", 0);
        check("2026. year", 1);
        check("3.14", 0);
    }

    #[test]
    fn a_text_with_deep_nesting_is_not_parsed() {
        let nested = |depth: usize| format!("# A\n\n{}a\n", ">".repeat(depth));
        for depth in [1, NESTING_MAX] {
            assert_eq!(parsed_text(&nested(depth)), nested(depth));
        }
        assert_eq!(parsed_text(&nested(NESTING_MAX + 1)), "");
    }
}
