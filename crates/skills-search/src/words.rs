//! The words of a text: runs of letters and numbers, split at the humps of camel case, lowercase,
//! Latin letters without accents.

use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::key::{Key, PlainWord, is_separator};
use crate::limits::MAX_WORD_BYTES;
use crate::stem::Script;
use crate::stop_words::is_stop_word;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Lowercase, Latin letters without accents.
    pub text: &'a str,
    pub key: Key,
    /// The script of its first character; a word has one script.
    pub script: Script,
    /// Whether it is a whole whose parts were visited before: `github` of `GitHub`.
    pub joined: bool,
}

/// Visits the words of a text in order. A word in camel case is visited by its parts and then as
/// a whole, because others write it as one word.
pub(crate) fn for_each_word(text: &str, mut visit: impl FnMut(Word<'_>)) {
    let mut folded = String::new();
    for run in Runs::new(text, text.len()) {
        match run {
            Run::Plain(word) => word.key.with_text(word.bytes, |text| {
                visit(Word {
                    text,
                    key: word.key,
                    script: PlainWord::SCRIPT,
                    joined: false,
                });
            }),
            Run::Other(run) => for_each_word_of_run(run, &mut folded, &mut visit),
        }
    }
}

/// A run of letters, numbers and marks.
pub(crate) enum Run<'a> {
    /// Most words: nothing to split, and nothing or one letter to fold.
    Plain(PlainWord),
    /// One that [`for_each_word_of_run`] splits and folds.
    Other(&'a str),
}

/// The runs of a text that begin before `end`, where no run is, in order. What comes after is not
/// read, but a word is read faster if there is more text after it.
pub(crate) struct Runs<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Runs<'a> {
    #[inline]
    pub(crate) fn new(text: &'a str, end: usize) -> Self {
        let at = 0;
        Self { text, at, end }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[expect(
        clippy::inline_always,
        reason = "it is the innermost loop of reading a document"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<Run<'a>> {
        let bytes = self.text.as_bytes();
        while self.at < self.end {
            let rest = bytes.get(self.at..)?;
            if is_separator(*rest.first()?) {
                self.at += 1;
            } else if let Some(word) = PlainWord::at_start(rest) {
                // What follows it is not part of a word.
                self.at += word.bytes + 1;
                return Some(Run::Plain(word));
            } else if let Some(run) = self.other() {
                return Some(Run::Other(run));
            }
        }
        None
    }
}

impl<'a> Runs<'a> {
    /// The run at this place; none before a character that is not part of one.
    #[inline(never)]
    fn other(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let run = run_bytes(rest);
        self.at += run.max(first(rest).len_utf8());
        (run > 0).then(|| &rest[..run])
    }
}

/// Visits the places of the runs of letters, numbers and marks of a text, in order.
pub(crate) fn for_each_run(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let mut at = 0;
    while at < text.len() {
        let run = run_bytes(&text[at..]);
        if run > 0 {
            visit(at..at + run);
        }
        at += run.max(first(&text[at..]).len_utf8());
    }
}

/// Visits the words of a run: its parts, then the whole. `folded` is reused between runs.
pub(crate) fn for_each_word_of_run(
    run: &str,
    folded: &mut String,
    visit: &mut dyn FnMut(Word<'_>),
) {
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
    let mut known: HashSet<String> = HashSet::new();
    for_each_word(text, |word| {
        if !word.joined && !is_stop_word(word.text) && !known.contains(word.text) {
            known.insert(word.text.to_owned());
            words.push(word.text.to_owned());
        }
    });
    words
}

fn visit_word(written: &str, joined: bool, folded: &mut String, visit: &mut dyn FnMut(Word<'_>)) {
    if written.len() > MAX_WORD_BYTES {
        return;
    }
    fold(written, folded);
    if !folded.is_empty() {
        visit(Word {
            text: folded,
            key: Key::of(folded),
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

/// The length of the run of letters, numbers and marks at the beginning. ASCII is tested as bytes.
fn run_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() {
            if !byte.is_ascii_alphanumeric() {
                break;
            }
            at += 1;
        } else {
            let c = first(&text[at..]);
            if !is_word_char(c) {
                break;
            }
            at += c.len_utf8();
        }
    }
    at
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Where the first part of a run ends: at a hump of camel case, or where the script changes.
fn part_end(run: &str) -> usize {
    let mut chars = run.char_indices();
    let Some((_, mut before)) = chars.next() else {
        return run.len();
    };
    let mut has_lowercase = before.is_lowercase();
    while let Some((at, c)) = chars.next() {
        let rest = chars.as_str();
        // The `s` of a plural such as `APIs` does not make its last capital the first of a word.
        let begins_word = || rest != "s" && rest.chars().next().is_some_and(char::is_lowercase);
        let is_hump = c.is_uppercase()
            && (before.is_lowercase()
                || before.is_uppercase() && begins_word()
                // `v2API` and `S3Bucket`, but not `H2O`.
                || before.is_numeric() && (has_lowercase || begins_word()));
        let neutral = |c: char| c.is_numeric() || is_combining_mark(c);
        let changes = !neutral(c) && !neutral(before) && Script::of(c) != Script::of(before);
        if is_hump || changes {
            return at;
        }
        has_lowercase |= c.is_lowercase();
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
    fn the_s_of_a_plural_belongs_to_the_capitals() {
        check("PDFs APIs PRs", &["pdfs", "apis", "prs"]);
        check("mergePDFs", &["merge", "pdfs", "mergepdfs"]);
        check("PDFsOf", &["pd", "fs", "of", "pdfsof"]);
        check("HTTPServer", &["http", "server", "httpserver"]);
    }

    #[test]
    fn a_word_begins_after_digits() {
        check("use_v2API", &["use", "v2", "api", "v2api"]);
        check("S3Bucket", &["s3", "bucket", "s3bucket"]);
        check("OAuth2Login", &["o", "auth2", "login", "oauth2login"]);
        check("Base64Encode", &["base64", "encode", "base64encode"]);
        check(
            "Utf8ToUtf16Converter",
            &["utf8", "to", "utf16", "converter", "utf8toutf16converter"],
        );
        check("H2O K8S S3 3Ds", &["h2o", "k8s", "s3", "3ds"]);
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

    proptest::proptest! {
        /// Words are read fast or letter by letter, depending on what follows.
        #[test]
        fn words_do_not_depend_on_what_follows(
            line in "[a-zA-Z0-9éß手 :_.-]{0,60}"
        ) {
            let mut alone = Vec::new();
            for_each_word(&line, |word| alone.push((word.text.to_owned(), word.script)));
            let mut followed = Vec::new();
            let text = format!("{line}\n{}", "next line ".repeat(3));
            for run in Runs::new(&text, line.len()) {
                match run {
                    Run::Plain(word) => word.key.with_text(word.bytes, |text| {
                        assert_eq!(word.key, Key::of(text));
                        followed.push((text.to_owned(), PlainWord::SCRIPT));
                    }),
                    Run::Other(run) => for_each_word_of_run(run, &mut String::new(), &mut |word| {
                        assert_eq!(word.key, Key::of(word.text));
                        followed.push((word.text.to_owned(), word.script));
                    }),
                }
            }
            proptest::prop_assert_eq!(alone, followed);
        }
    }

    #[test]
    fn a_text_may_have_any_number_of_content_words() {
        let words: Vec<String> = (0..200_000).map(|number| format!("w{number}")).collect();
        let text = format!("{} the {}", words.join(" "), words.join(" "));
        assert_eq!(content_words(&text), words);
    }

    #[test]
    fn what_is_no_word_is_left_out() {
        check("", &[]);
        check("\0\u{1b}[31m \u{202e} --- 😀", &["31m"]);
        check(&"x".repeat(MAX_WORD_BYTES + 1), &[]);
    }
}
