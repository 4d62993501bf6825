//! The words of a text: runs of letters and numbers, split at the humps of camel case, lowercase,
//! Latin letters without accents.

use std::ops::Range;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::limits::MAX_WORD_BYTES;
use crate::stem::{Language, Script};
use crate::stop_words::is_stop_word;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Lowercase, Latin letters without accents.
    pub text: &'a str,
    /// The script of its first character; a word has one script.
    pub script: Script,
    /// Whether it is a whole whose parts were visited before: `github` of `GitHub`.
    pub joined: bool,
}

/// Visits the words of a text in order. A word in camel case is visited by its parts and then as
/// a whole, because others write it as one word.
pub(crate) fn for_each_word(text: &str, mut visit: impl FnMut(Word<'_>)) {
    let mut folded = String::new();
    let mut rest = text;
    while let Some(start) = boundary(rest, true) {
        let after = &rest[start..];
        // Most words are lowercase ASCII: nothing to split and nothing to fold.
        let plain = after.bytes().take_while(|&b| is_plain(b)).count();
        if is_end(after.as_bytes().get(plain)) {
            let (word, tail) = after.split_at(plain);
            rest = tail;
            if word.len() <= MAX_WORD_BYTES {
                visit(Word {
                    text: word,
                    script: Script::Stemmed(Language::English),
                    joined: false,
                });
            }
            continue;
        }
        let end = boundary(after, false).unwrap_or(after.len());
        let (run, tail) = after.split_at(end);
        rest = tail;
        visit_run(run, &mut folded, &mut visit);
    }
}

/// Visits the places of the runs of letters, numbers and marks of a text, in order.
pub(crate) fn for_each_run(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(start) = boundary(&text[at..], true) {
        let start = at + start;
        let length = boundary(&text[start..], false);
        at = length.map_or(text.len(), |length| start + length);
        visit(start..at);
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Whether a byte cannot be part of a word.
fn is_end(byte: Option<&u8>) -> bool {
    byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
}

/// Visits the parts of a run of letters, numbers and marks.
fn visit_run(run: &str, folded: &mut String, visit: &mut impl FnMut(Word<'_>)) {
    let mut parts = 0;
    let mut rest = run;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(part_end(rest));
        rest = after;
        parts += 1;
        visit_word(part, false, folded, visit);
    }
    if parts > 1 && Script::of(first(run)) == Script::of(last(run)) {
        visit_word(run, true, folded, visit);
    }
}

/// The words of a text that say something about its subject: lowercase, without stop words, each
/// once, in order.
pub fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for_each_word(text, |word| {
        let known = || words.iter().any(|known| known == word.text);
        if !word.joined && !is_stop_word(word.text) && !known() {
            words.push(word.text.to_owned());
        }
    });
    words
}

fn visit_word(written: &str, joined: bool, folded: &mut String, visit: &mut impl FnMut(Word<'_>)) {
    if written.len() > MAX_WORD_BYTES {
        return;
    }
    fold(written, folded);
    if !folded.is_empty() {
        visit(Word {
            text: folded,
            script: Script::of(first(folded)),
            joined,
        });
    }
}

fn first(text: &str) -> char {
    text.chars().next().unwrap_or_default()
}

fn last(text: &str) -> char {
    text.chars().next_back().unwrap_or_default()
}

/// Where the first character is that is part of a word, or is not. ASCII is tested as bytes.
fn boundary(text: &str, part: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() {
            if byte.is_ascii_alphanumeric() == part {
                return Some(at);
            }
            at += 1;
        } else {
            let c = first(&text[at..]);
            if is_word_char(c) == part {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
    None
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Where the first part of a run ends: at a hump of camel case, or where the script changes.
fn part_end(run: &str) -> usize {
    let mut chars = run.char_indices().peekable();
    let Some((_, mut before)) = chars.next() else {
        return run.len();
    };
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|&(_, c)| c);
        let is_hump = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_uppercase() && after.is_some_and(char::is_lowercase));
        let neutral = |c: char| c.is_numeric() || is_combining_mark(c);
        let changes = !neutral(c) && !neutral(before) && Script::of(c) != Script::of(before);
        if is_hump || changes {
            return at;
        }
        before = c;
    }
    run.len()
}

/// Lowercase; Latin letters without accents; full-width letters as plain ones.
fn fold(written: &str, folded: &mut String) {
    folded.clear();
    for c in written.chars().flat_map(char::to_lowercase) {
        match c {
            '\u{300}'..='\u{36F}' => {}
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => decompose_canonical(c, |part| {
                if !is_combining_mark(part) {
                    folded.push(part);
                }
            }),
            '\u{FF10}'..='\u{FF19}' | '\u{FF41}'..='\u{FF5A}' => {
                folded.extend(char::from_u32(u32::from(c) - 0xFEE0));
            }
            _ => folded.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        for_each_word(text, |word| found.push(word.text.to_owned()));
        assert_eq!(found, expected, "for {text:?}");
    }

    #[test]
    fn names_of_programs_are_split_and_joined() {
        check("sendEmail", &["send", "email", "sendemail"]);
        check("HTTPServer", &["http", "server", "httpserver"]);
        check(
            "state::set_value-now/then",
            &["state", "set", "value", "now", "then"],
        );
        check("GitHub", &["git", "hub", "github"]);
        check("OAuth2 k8s S3", &["o", "auth2", "oauth2", "k8s", "s3"]);
        check("ABC", &["abc"]);
    }

    #[test]
    fn accents_of_latin_letters_are_dropped() {
        check("Café NAÏVE Straße", &["cafe", "naive", "strasse"]);
        check("cafe\u{301}", &["cafe"]);
        check("ＡＢＣ１", &["abc1"]);
        check("йод", &["йод"]);
        check("हिन्दी", &["हिन्दी"]);
    }

    #[test]
    fn a_word_has_one_script() {
        check("iPhone手机", &["i", "phone", "手机"]);
        check("3月", &["3月"]);
    }

    #[test]
    fn what_is_no_word_is_left_out() {
        check("", &[]);
        check("\0\u{1b}[31m \u{202e} --- 😀", &["31m"]);
        check(&"x".repeat(MAX_WORD_BYTES + 1), &[]);
    }
}
