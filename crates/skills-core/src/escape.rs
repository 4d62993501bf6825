//! Text from documents and workers, made safe to print.
//!
//! Control characters can move the cursor or change the title of a terminal, and
//! bidirectional overrides can make a line read differently from what it contains. Every
//! error message, log line and terminal output uses the rule of this file.

use std::borrow::Cow;

/// Escapes control characters (C0, DEL, C1) and bidirectional formatting characters as
/// `\n` or `\u{9b}`, so that the text stays on one line and is safe to print.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// Like [`escape_control`] for text of several lines: keeps line feeds and tabs, and drops
/// carriage returns.
pub fn escape_control_in_lines(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

fn escape(text: &str, keep_lines: bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_lines => out.push(c),
            '\r' if keep_lines => {}
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A value for an error message, in backticks: escaped, and cut after 80 characters.
pub(crate) fn quote(text: &str) -> String {
    const QUOTE_MAX_CHARS: usize = 80;
    match text.char_indices().nth(QUOTE_MAX_CHARS) {
        Some((end, _)) => format!("`{}...`", escape_control(&text[..end])),
        None => format!("`{}`", escape_control(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidirectional_characters_are_escaped() {
        for (text, one_line, lines) in [
            ("plain é 文", "plain é 文", "plain é 文"),
            ("a\tb\r\nc", "a\\tb\\r\\nc", "a\tb\nc"),
            ("\u{1b}[2J\u{7f}", "\\u{1b}[2J\\u{7f}", "\\u{1b}[2J\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m", "\\u{9b}31m"),
            (
                "a\u{202e}b\u{2066}",
                "a\\u{202e}b\\u{2066}",
                "a\\u{202e}b\\u{2066}",
            ),
        ] {
            assert_eq!(escape_control(text), one_line, "{text:?}");
            assert_eq!(escape_control_in_lines(text), lines, "{text:?}");
        }
    }

    #[test]
    fn a_quoted_value_is_cut_and_escaped() {
        assert_eq!(quote("a\nb"), "`a\\nb`");
        assert_eq!(quote(&"é".repeat(100)), format!("`{}...`", "é".repeat(80)));
    }
}
