//! Characters that a person does not see: zero width, direction, tags, control.

use skills_core::is_hidden;

use crate::report::Sink;
use crate::rule::Rule;
use crate::rules::trust as rules;

/// A black flag begins the flags of regions, whose letters are tag characters.
const FLAG: char = '\u{1f3f4}';
const END_OF_TAGS: char = '\u{e007f}';

/// The most characters of a run that a message shows.
const SHOWN_MAX: usize = 24;

/// A run of hidden characters of one rule.
struct Run {
    rule: &'static Rule,
    start: usize,
    end: usize,
}

pub fn check(text: &str, sink: &mut Sink) {
    let mut run: Option<Run> = None;
    let mut before = ' ';
    let mut in_flag = false;
    let mut near = NearRightToLeft::default();
    // A byte order mark has a rule of its own.
    let skip = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut chars = text[skip..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let at = skip + at;
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        in_flag = match c {
            FLAG => true,
            '\u{e0061}'..='\u{e007a}' | '\u{e0030}'..='\u{e0039}' => in_flag,
            _ => false,
        } || in_flag && c == END_OF_TAGS;
        let rule = if in_flag || is_direction_mark(c) && near.has(text, at) {
            None
        } else {
            hidden(c, before, next)
        };
        before = c;
        match (&mut run, rule) {
            (Some(found), Some(rule)) if found.rule == rule && found.end == at => {
                found.end = at + c.len_utf8();
            }
            (_, Some(rule)) => {
                report(text, run.take().as_ref(), sink);
                let end = at + c.len_utf8();
                run = Some(Run {
                    rule,
                    start: at,
                    end,
                });
            }
            (_, None) => report(text, run.take().as_ref(), sink),
        }
    }
    report(text, run.as_ref(), sink);
}

/// The rule that a character breaks.
fn hidden(c: char, before: char, next: char) -> Option<&'static Rule> {
    if c.is_ascii() {
        let is_control = c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}');
        return is_control.then_some(rules::ZERO_WIDTH);
    }
    if ('\u{80}'..'\u{a0}').contains(&c) {
        // The next line of EBCDIC is a line end.
        return (c != '\u{85}').then_some(rules::ZERO_WIDTH);
    }
    if !is_hidden(c, before) {
        return None;
    }
    let is_beside = |test: fn(char) -> bool| test(before) || test(next);
    match c {
        // A place to break a word.
        '\u{ad}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(rules::BIDI),
        '\u{e0000}'..='\u{e007f}' => Some(rules::TAGS),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            let is_selector =
                |c: char| matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
            let is_single = !is_selector(before) && !is_selector(next);
            (!is_single || before.is_ascii()).then_some(rules::TAGS)
        }
        '\u{180b}'..='\u{180f}' if is_beside(|c| matches!(c, '\u{1800}'..='\u{18af}')) => None,
        '\u{17b4}'..='\u{17b5}' if is_beside(|c| matches!(c, '\u{1780}'..='\u{17ff}')) => None,
        '\u{115f}' | '\u{1160}' if is_beside(|c| matches!(c, '\u{1100}'..='\u{11ff}')) => None,
        _ => Some(rules::ZERO_WIDTH),
    }
}

/// A mark that belongs to text that is written from right to left.
const fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// Finds characters that are written from right to left without searching a text twice.
#[derive(Default)]
struct NearRightToLeft {
    /// The last one before the place that was asked for, and the first one after it.
    last: Option<usize>,
    next: Option<usize>,
    /// How far the text is searched.
    searched: usize,
}

impl NearRightToLeft {
    /// Whether there is one near a place, on its line. Places are asked for in order.
    fn has(&mut self, text: &str, at: usize) -> bool {
        const NEAR: usize = 96;
        while self.next.is_none_or(|next| next < at) && self.searched < text.len() {
            self.last = self.next.or(self.last);
            let rest = &text[self.searched..];
            self.next = rest.find(is_right_to_left).map(|nth| self.searched + nth);
            // Each of them has two bytes or more.
            let after = |next| text.ceil_char_boundary(next + 1);
            self.searched = self.next.map_or(text.len(), after);
        }
        if let Some(next) = self.next.filter(|next| *next < at) {
            (self.last, self.next) = (Some(next), None);
        }
        let on_line = |from: usize, to: usize| to - from <= NEAR && !text[from..to].contains('\n');
        self.last.is_some_and(|last| on_line(last, at))
            || self.next.is_some_and(|next| on_line(at, next))
    }
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{61b}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

fn report(text: &str, run: Option<&Run>, sink: &mut Sink) {
    let Some(&Run { rule, start, end }) = run else {
        return;
    };
    let message = || describe(rule, &text[start..end]);
    sink.add(rule, start..end, message).help("remove it");
}

/// What a run of hidden characters is, with the characters escaped.
fn describe(rule: &Rule, hidden: &str) -> String {
    let count = hidden.chars().count();
    let shown: String = hidden
        .chars()
        .take(SHOWN_MAX)
        .flat_map(char::escape_unicode)
        .collect();
    let more = if count > SHOWN_MAX { "..." } else { "" };
    let what = match (rule == rules::BIDI, rule == rules::TAGS, count) {
        (true, _, 1) => "a character that changes the direction of text".to_owned(),
        (true, _, _) => format!("{count} characters that change the direction of text"),
        (_, true, _) => format!("{count} characters that carry hidden text"),
        (_, _, 1) => "a character that is not shown".to_owned(),
        _ => format!("{count} characters that are not shown"),
    };
    let decoded = decode(hidden);
    let decoded = decoded.map(|text| format!(", which reads {}", skills_core::quote(&text)));
    format!("{what}: `{shown}{more}`{}", decoded.unwrap_or_default())
}

/// The ASCII text of tag characters, or the bytes of variation selectors.
fn decode(hidden: &str) -> Option<String> {
    let byte = |c: char| {
        let value = u32::from(c);
        let value = match c {
            '\u{e0020}'..='\u{e007e}' => value - 0xe0000,
            '\u{fe00}'..='\u{fe0f}' => value - 0xfe00,
            '\u{e0100}'..='\u{e01ef}' => value - 0xe0100 + 16,
            _ => return None,
        };
        char::from_u32(value)
    };
    let decoded: String = hidden.chars().take(200).filter_map(byte).collect();
    let is_text = decoded.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    (is_text && !decoded.is_empty()).then_some(decoded)
}
