//! What words a text is made of, for routing.
//!
//! No normalisation, no stemming, no segmentation: a word is a run of letters and numbers.

use crate::letter::is_letter_or_number;

/// The tokens of a text that is already lowercase.
///
/// Lowercase the whole text first: a final sigma is only recognised by what surrounds it.
pub(crate) fn tokens(lowercase: &str) -> impl Iterator<Item = &str> {
    lowercase
        .split(|c| !is_letter_or_number(c))
        .filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            tokens(&text.to_lowercase()).collect::<Vec<_>>(),
            expected,
            "for {text:?}"
        );
    }

    #[test]
    fn tokens_are_runs_of_letters_and_numbers() {
        check("", &[]);
        check("!!! - _ 😀", &[]);
        check("Find the_file, v2.0!", &["find", "the", "file", "v2", "0"]);
        check("cafe\u{301}s", &["cafe", "s"]);
        check("CAFÉ", &["café"]);
        check("हिन्दी", &["ह", "न", "द"]);
        check("搜索代码", &["搜索代码"]);
        check("a\u{AD}b c\u{200D}d", &["a", "b", "c", "d"]);
        check("ΟΔΟΣ ΟΔΟΣΑ", &["οδος", "οδοσα"]);
        check("Ⅷ ½ x² Ⓐ", &["ⅷ", "½", "x²"]);
        check("don't", &["don", "t"]);
        check("İ", &["i"]);
    }
}
