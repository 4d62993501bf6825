//! Which phrases a request calls for.
//!
//! A word is a run of letters and digits, in any case. A phrase is called for when all its words
//! are in the request, in whatever order; the same words twice count once.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Error;

/// The longest request, in bytes.
pub const REQUEST_MAX: usize = 262_144;

/// The words of a request.
#[derive(Debug)]
pub struct Request(HashSet<String>);

impl Request {
    /// Reads a request.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Err(Error::invalid_hint(
                "text",
                "must be non-empty",
                "say what is to be done, in the user's words",
            ));
        }
        if text.len() > REQUEST_MAX {
            let problem = format!("is too large: {} bytes, at most {REQUEST_MAX}", text.len());
            return Err(Error::invalid("text", problem));
        }
        Ok(Self(words(text)))
    }

    /// The phrases it calls for, as declared and in that order.
    pub fn called_for(&self, phrases: &[Arc<str>]) -> Vec<Arc<str>> {
        let mut said = HashSet::new();
        let mut called = |phrase: &&Arc<str>| {
            let text = phrase.to_lowercase();
            let all = split(&text).all(|word| self.0.contains(word));
            let words: Vec<String> = split(&text).map(str::to_owned).collect();
            all && !words.is_empty() && said.insert(words)
        };
        phrases
            .iter()
            .filter(|phrase| called(phrase))
            .cloned()
            .collect()
    }
}

fn words(text: &str) -> HashSet<String> {
    split(&text.to_lowercase()).map(str::to_owned).collect()
}

fn split(lowercase: &str) -> impl Iterator<Item = &str> {
    let words = lowercase.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, phrases: &[&str], expected: &[&str]) {
        let phrases: Vec<Arc<str>> = phrases.iter().map(|&phrase| phrase.into()).collect();
        let got = Request::parse(text).unwrap().called_for(&phrases);
        let got: Vec<&str> = got.iter().map(|phrase| &**phrase).collect();
        assert_eq!(got, expected, "for {text:?}");
    }

    #[test]
    fn requests() {
        check(
            "Please FIND the code!",
            &["find code", "code review"],
            &["find code"],
        );
        check("code, find", &["find code"], &["find code"]);
        check("tie", &["tie", "Tie", "tie!", "tie"], &["tie"]);
        check("finding code", &["find code"], &[]);
        check("anything", &["", "!!!"], &[]);
        check("où est le café", &["café", "OÙ"], &["café", "OÙ"]);
        check("a_b", &["b"], &["b"]);
    }

    #[test]
    fn requests_that_say_nothing_or_too_much() {
        let refused = |text: &str| Request::parse(text).unwrap_err().to_string();
        assert_eq!(refused(" \n"), "text must be non-empty");
        assert!(refused(&"a".repeat(REQUEST_MAX + 1)).contains("too large: 262145 bytes"));
    }
}
