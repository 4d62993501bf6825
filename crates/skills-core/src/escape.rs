//! Text from documents and workers, made safe to print.
//!
//! Control characters can move the cursor or change the title of a terminal, bidirectional
//! formatting can make a line read differently from what it contains, and characters without
//! a width carry text that only programs see. Every error message, log line, terminal output
//! and title uses the rule of this file.

use std::borrow::Cow;

/// Escapes control characters (C0, DEL, C1) and hidden characters as `\n` or `\u{9b}`, so that
/// the text stays on one line and is safe to print.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

/// Like [`escape_control`] for text of several lines: keeps line feeds and tabs, and drops
/// carriage returns and a byte order mark.
pub fn escape_control_in_lines(text: &str) -> Cow<'_, str> {
    escape(text.strip_prefix('\u{feff}').unwrap_or(text), true)
}

fn escape(text: &str, keep_lines: bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_lines => out.push(c),
            '\r' if keep_lines => {}
            c if c.is_control() => out.extend(c.escape_default()),
            c if is_hidden(c, before) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        before = c;
    }
    Cow::Owned(out)
}

/// The text without its hidden characters.
pub(crate) fn without_hidden(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut before = ' ';
    let is_shown = |c: &char| !is_hidden(*c, std::mem::replace(&mut before, *c));
    text.chars().filter(is_shown).collect::<String>().into()
}

/// Whether a character shows nothing: bidirectional formatting, tags, and what Unicode calls
/// default ignorable. Joiners and variation selectors are part of words and emoji, and hidden
/// only where they join or select nothing.
pub fn is_hidden(c: char, before: char) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' => {
            before.is_ascii() || matches!(before, '\u{200c}' | '\u{200d}' | '\u{3000}')
        }
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_whitespace()
                || matches!(before, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// A value for an error message, in backticks: escaped, and cut after 80 characters.
pub fn quote(text: &str) -> String {
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
            ("\u{feff}a", "\\u{feff}a", "a"),
            ("a\tb\r\nc", "a\\tb\\r\\nc", "a\tb\nc"),
            ("\u{1b}[2J\u{7f}", "\\u{1b}[2J\\u{7f}", "\\u{1b}[2J\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m", "\\u{9b}31m"),
            (
                "a\u{202e}b\u{2066}",
                "a\\u{202e}b\\u{2066}",
                "a\\u{202e}b\\u{2066}",
            ),
            (
                "a\u{200f}b\u{61c}",
                "a\\u{200f}b\\u{61c}",
                "a\\u{200f}b\\u{61c}",
            ),
        ] {
            assert_eq!(escape_control(text), one_line, "{text:?}");
            assert_eq!(escape_control_in_lines(text), lines, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_dropped_and_emoji_stay() {
        for (text, shown) in [
            ("plain é 文", "plain é 文"),
            ("zero\u{200b}width\u{2060}\u{feff}", "zerowidth"),
            ("so\u{ad}ft \u{200e}mark", "soft mark"),
            ("tag\u{e0069}\u{e0067}\u{e007f}", "tag"),
            ("selected\u{e0101}\u{fe01}", "selected"),
            ("a\u{200d}b \u{fe0f}", "ab "),
            (
                "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
                "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            ),
            (
                "\u{2764}\u{fe0f}\u{fe0f}\u{200d}\u{200d}",
                "\u{2764}\u{fe0f}\u{200d}",
            ),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ] {
            assert_eq!(without_hidden(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_quoted_value_is_cut_and_escaped() {
        assert_eq!(quote("a\nb"), "`a\\nb`");
        assert_eq!(quote(&"é".repeat(100)), format!("`{}...`", "é".repeat(80)));
    }
}
