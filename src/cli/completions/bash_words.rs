//! The words of a command line as bash splits them: at `:` and `=` too.

use std::ffi::OsString;

/// The words up to the one that is completed, put together again.
#[derive(Debug, PartialEq, Eq)]
pub struct BashWords {
    pub words: Vec<OsString>,
    /// How many bytes of the last word bash does not replace.
    pub cut: usize,
}

impl BashWords {
    /// Puts together the words of a request; the script says which one is completed.
    pub fn from_environment(words: Vec<OsString>) -> Self {
        let index = std::env::var("_CLAP_COMPLETE_INDEX");
        let index = index.ok().and_then(|index| index.parse().ok());
        Self::new(words, index.unwrap_or(usize::MAX))
    }

    fn new(mut words: Vec<OsString>, index: usize) -> Self {
        words.truncate(index.saturating_add(1));
        let mut joined = Self {
            words: Vec::new(),
            cut: 0,
        };
        let mut continues = false;
        for word in words {
            let is_break = matches!(word.to_str(), Some(":" | "=" | "::" | ":=" | "=="));
            joined.cut = 0;
            match joined.words.last_mut() {
                Some(last) if is_break || continues => {
                    joined.cut = last.len() + if is_break { word.len() } else { 0 };
                    last.push(word);
                }
                _ => joined.words.push(word),
            }
            continues = is_break;
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_together() {
        #[track_caller]
        fn check(given: &[&str], index: usize, expected: &[&str], cut: usize) {
            let given = given.iter().map(OsString::from).collect();
            let expected = BashWords {
                words: expected.iter().map(OsString::from).collect(),
                cut,
            };
            assert_eq!(BashWords::new(given, index), expected);
        }
        check(&["skills", "read", "a"], 2, &["skills", "read", "a"], 0);
        check(&["skills", "read", ""], 2, &["skills", "read", ""], 0);
        let url = ["skills", "--url", "ws", ":", "//h", ":", "1", "read", "a"];
        check(&url, 8, &["skills", "--url", "ws://h:1", "read", "a"], 0);
        let uri = ["skills", "read", "iii", ":", "//a"];
        check(&uri, 4, &["skills", "read", "iii://a"], 4);
        let function = ["skills", "call", "demo", "::", "g", "x"];
        check(&function, 4, &["skills", "call", "demo::g"], 6);
        check(
            &["skills", "call", "demo", "::"],
            3,
            &["skills", "call", "demo::"],
            6,
        );
        check(&["skills", "a", "b"], 1, &["skills", "a"], 0);
    }
}
