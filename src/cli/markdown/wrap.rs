//! Styled text in lines of a width, measured in the columns of a terminal.

use console::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text in one style. A line feed is the end of a line.
#[derive(Clone, Debug)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

/// A line, and the columns that it takes.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub text: String,
    pub width: usize,
}

/// What to do with a word that is longer than a line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum LongWord {
    /// It stays whole, so that an address can be copied.
    #[default]
    Whole,
    /// It is divided: a cell of a table has no room beside it.
    Divided,
}

/// The columns of a text.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Divides spans into lines of at most `width` columns, at spaces and between wide characters.
pub fn wrap(spans: &[Span], width: usize, long: LongWord) -> Vec<Line> {
    let mut lines = Lines {
        width: width.max(1),
        long,
        ..Lines::default()
    };
    for span in spans {
        for (at, part) in span.text.split('\n').enumerate() {
            if at > 0 {
                lines.end_word();
                lines.end_line();
            }
            lines.add(part, &span.style);
        }
    }
    lines.end_word();
    if !lines.line.is_empty() {
        lines.end_line();
    }
    lines.done
}

#[derive(Default)]
struct Lines {
    width: usize,
    long: LongWord,
    done: Vec<Line>,
    /// The words of the line that is being filled.
    line: Vec<Span>,
    line_width: usize,
    word: Vec<Span>,
    word_width: usize,
    /// The style of the space before the word.
    space: Option<Style>,
}

impl Lines {
    fn add(&mut self, text: &str, style: &Style) {
        let mut start = 0;
        let mut previous = None;
        for (at, c) in text.char_indices() {
            if c == ' ' || c == '\t' {
                self.add_to_word(&text[start..at], style);
                self.end_word();
                if !self.line.is_empty() {
                    self.space = Some(style.clone());
                }
                start = at + c.len_utf8();
            } else if divides(previous, c) {
                self.add_to_word(&text[start..at], style);
                self.end_word();
                start = at;
            }
            previous = Some(c);
        }
        self.add_to_word(&text[start..], style);
    }

    fn add_to_word(&mut self, text: &str, style: &Style) {
        if !text.is_empty() {
            self.word_width += columns(text);
            push(&mut self.word, text, style);
        }
    }

    /// Puts the word on the line, or on the next one if it does not fit.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let space = usize::from(self.space.is_some());
        if !self.line.is_empty() && self.line_width + space + self.word_width > self.width {
            self.end_line();
        }
        if let Some(style) = self.space.take() {
            push(&mut self.line, " ", &style);
            self.line_width += 1;
        }
        for span in std::mem::take(&mut self.word) {
            if self.word_width <= self.width || self.long == LongWord::Whole {
                self.line_width += columns(&span.text);
                push(&mut self.line, &span.text, &span.style);
                continue;
            }
            for c in span.text.chars() {
                let columns = c.width().unwrap_or(0);
                if self.line_width + columns > self.width && !self.line.is_empty() {
                    self.end_line();
                }
                self.line_width += columns;
                push(&mut self.line, c.encode_utf8(&mut [0; 4]), &span.style);
            }
        }
        self.word_width = 0;
    }

    fn end_line(&mut self) {
        let mut text = String::new();
        for span in self.line.drain(..) {
            text.push_str(&span.style.apply_to(span.text).to_string());
        }
        let width = std::mem::take(&mut self.line_width);
        self.done.push(Line { text, width });
        self.space = None;
    }
}

/// Appends text, to the last span if that has the same style.
fn push(spans: &mut Vec<Span>, text: &str, style: &Style) {
    match spans.last_mut() {
        Some(last) if last.style == *style => last.text.push_str(text),
        _ => spans.push(Span {
            text: text.to_owned(),
            style: style.clone(),
        }),
    }
}

/// Whether a line may end between two characters that no space separates: beside a wide
/// character, but not inside a sequence of emoji and not before closing punctuation.
fn divides(previous: Option<char>, c: char) -> bool {
    const JOINER: char = '\u{200d}';
    const CLOSING: &str = "、。，．：；！？）」』】〉》〕］｝…ー";
    const OPENING: &str = "（「『【〈《〔［｛";
    let Some(previous) = previous else {
        return false;
    };
    let is_wide = |c: char| c.width() == Some(2);
    let is_tone = matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
    if previous == JOINER || is_tone || CLOSING.contains(c) || OPENING.contains(previous) {
        return false;
    }
    is_wide(c) || is_wide(previous) && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, expected: &[&str]) {
        let span = |text: &str| Span {
            text: text.into(),
            style: Style::new().force_styling(true),
        };
        let lines = wrap(&[span(text)], width, LongWord::Whole);
        for line in &lines {
            assert_eq!(line.width, columns(&line.text), "of {:?}", line.text);
        }
        let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
        assert_eq!(lines, expected, "for {text:?} in {width}");
    }

    #[test]
    fn lines_end_at_spaces() {
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 6, &["one", "two", "three"]);
        check("  one   two ", 20, &["one two"]);
        check("one\ntwo", 20, &["one", "two"]);
        check(
            "a https://example.com b",
            6,
            &["a", "https://example.com", "b"],
        );
        check("", 5, &[]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("漢字。漢", 4, &["漢", "字。", "漢"]);
        check("ab漢字cd", 6, &["ab漢字", "cd"]);
        check("e\u{301}e\u{301} x", 4, &["e\u{301}e\u{301} x"]);
        let family = "👩‍👩‍👧";
        check(
            &format!("{family}{family} ok"),
            4,
            &[&format!("{family}{family}"), "ok"],
        );
    }

    #[test]
    fn a_cell_divides_long_words() {
        let spans = [Span {
            text: "abcdefgh 漢字漢".into(),
            style: Style::new(),
        }];
        let lines = wrap(&spans, 3, LongWord::Divided);
        let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["abc", "def", "gh", "漢", "字", "漢"]);
    }
}
