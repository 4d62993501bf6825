//! The stem of a word, by the Snowball algorithm for its script.
//!
//! Latin words are stemmed as English. Scripts that one language uses most have the algorithm of
//! that language; the others have none, and are found by character trigrams.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// How the words of a script are indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Words with a stem.
    Stemmed(Language),
    /// Words without a stem: the word, and its character trigrams.
    Unstemmed,
    /// Text without spaces between words: character bigrams.
    Unspaced,
}

/// A language with a stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Russian,
    Greek,
    Arabic,
    Tamil,
}

impl Script {
    /// The script of a letter, number or mark.
    pub(crate) fn of(c: char) -> Self {
        use Language::{Arabic, English, Greek, Russian, Tamil};
        match c {
            '\0'..='\u{24F}' | '\u{300}'..='\u{36F}' | '\u{1E00}'..='\u{1EFF}' => {
                Self::Stemmed(English)
            }
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Self::Stemmed(Greek),
            '\u{400}'..='\u{52F}' => Self::Stemmed(Russian),
            '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' => Self::Stemmed(Arabic),
            '\u{B80}'..='\u{BFF}' => Self::Stemmed(Tamil),
            '\u{E00}'..='\u{FFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1100}'..='\u{11FF}'
            | '\u{1780}'..='\u{17FF}'
            | '\u{3040}'..='\u{30FF}'
            | '\u{3130}'..='\u{318F}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FF9F}'
            | '\u{20000}'..='\u{3FFFF}' => Self::Unspaced,
            _ => Self::Unstemmed,
        }
    }
}

/// The stem of a lowercase word.
pub(crate) fn stem(language: Language, word: &str) -> Cow<'_, str> {
    // A number or a word of one or two letters is its own stem.
    if word.len() < 3 {
        return Cow::Borrowed(word);
    }
    let algorithm = match language {
        Language::English => Algorithm::English,
        Language::Russian => Algorithm::Russian,
        Language::Greek => Algorithm::Greek,
        Language::Arabic => Algorithm::Arabic,
        Language::Tamil => Algorithm::Tamil,
    };
    let stem = Stemmer::create(algorithm).stem(word);
    if stem.is_empty() {
        return Cow::Borrowed(word);
    }
    match without_plural(word) {
        Some(singular) if language == Language::English && stem == word => Cow::Borrowed(singular),
        _ => stem,
    }
}

/// An abbreviation without the `s` of its plural. The algorithm keeps the `s` of a word without a
/// vowel, such as `pdfs`.
fn without_plural(word: &str) -> Option<&str> {
    let singular = word.strip_suffix('s')?;
    let is_consonant = |byte: u8| byte.is_ascii_lowercase() && !b"aeiouy".contains(&byte);
    (!singular.ends_with('s') && singular.bytes().all(is_consonant)).then_some(singular)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        assert_eq!(stem(Language::English, word), expected, "for {word:?}");
    }

    #[test]
    fn plurals_of_abbreviations_have_the_stem_of_the_singular() {
        for (plural, singular) in [
            ("pdfs", "pdf"),
            ("csvs", "csv"),
            ("prs", "pr"),
            ("llms", "llm"),
        ] {
            check(plural, singular);
            check(singular, singular);
        }
        check("apis", "api");
        check("css", "css");
        check("k8s", "k8s");
        check("ms", "ms");
        check("gas", "gas");
    }
}
