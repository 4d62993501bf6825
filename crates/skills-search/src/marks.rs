//! Where the words of a request are in a text, for a list that shows why something was found.

use std::collections::HashSet;
use std::ops::Range;

use crate::dictionary::stem_of;
use crate::stem::Script;
use crate::words::{for_each_run, for_each_word};

/// The places in `text` of words that have a stem in common with one of `words`, in order.
pub fn marks<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Vec<Range<usize>> {
    let mut stems: HashSet<String> = HashSet::new();
    // In a script without spaces a word may be anywhere within a run.
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        for_each_word(word, |word| {
            if word.script == Script::Unspaced {
                parts.push(word.text.to_owned());
            } else if let Some(stem) = stem_of(word) {
                stems.insert(stem.into_owned());
            }
        });
    }
    let mut found = Vec::new();
    for_each_run(text, |run| {
        let written = &text[run.clone()];
        let mut is_marked = false;
        for_each_word(written, |word| {
            is_marked |= stem_of(word).is_some_and(|stem| stems.contains(&*stem));
        });
        if is_marked {
            found.push(run);
            return;
        }
        let mut at = 0;
        while let Some((start, part)) = first_of(&written[at..], &parts) {
            let start = at + start;
            at = start + part.len();
            found.push(run.start + start..run.start + at);
        }
    });
    found
}

/// The first of these parts in a text, and where it is.
fn first_of<'a>(text: &str, parts: &'a [String]) -> Option<(usize, &'a str)> {
    let found = parts
        .iter()
        .filter_map(|part| Some((text.find(&**part)?, &**part)));
    found.min_by_key(|(at, part)| (*at, std::cmp::Reverse(part.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str], expected: &[&str]) {
        let found = marks(text, words.iter().copied());
        let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "for {words:?} in {text:?}");
    }

    #[test]
    fn words_with_one_stem_are_marked() {
        check(
            "Emails: email them, e-mail",
            &["emailing"],
            &["Emails", "email"],
        );
        check("The café of Zoë", &["cafe", "zoe"], &["café", "Zoë"]);
        check("call sendEmail now", &["email"], &["sendEmail"]);
        check("the a of", &["the"], &[]);
        check("送信メールを送る", &["メール"], &["メール"]);
        check("", &["x"], &[]);
        check("x", &[], &[]);
    }
}
