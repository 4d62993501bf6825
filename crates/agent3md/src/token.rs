//! The words of a request or a trigger phrase.
//!
//! A token is a run of letters and numbers, lowercase. There is no normalisation, stemming
//! or segmentation.

use std::borrow::Cow;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The tokens of a text that [`lowercase`] returned.
///
/// The whole text must be lowercase before it is split: whether a sigma is final depends on
/// the characters around it.
pub(crate) fn tokens(lowercase: &str) -> impl Iterator<Item = &str> {
    lowercase
        .split(|c| !is_letter_or_number(c))
        .filter(|token| !token.is_empty())
}

/// Visits the words of a request or a trigger phrase, lowercase, in order.
///
/// This is the word rule of routing, for programs that index triggers themselves.
pub fn for_each_word(text: &str, visit: impl FnMut(&str)) {
    tokens(&lowercase(text)).for_each(visit);
}

/// Full Unicode lowercase, without a copy for text that is lowercase ASCII already.
pub(crate) fn lowercase(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|b| b.is_ascii() && !b.is_ascii_uppercase())
    {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Whether a token may contain `c`: `General_Category` L* or N* of Unicode 17.0.
///
/// `char::is_alphanumeric` also accepts marks and circled letters, so it would join tokens
/// that must stay apart.
pub fn is_letter_or_number(c: char) -> bool {
    use GeneralCategoryGroup::{Letter, Number};
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    matches!(c.general_category_group(), Letter | Number)
}

#[cfg(test)]
mod tests {
    use super::{is_letter_or_number, lowercase, tokens};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            tokens(&lowercase(text)).collect::<Vec<_>>(),
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

    #[test]
    fn letters_and_numbers_are_those_of_unicode_17() {
        let chars = || (0..=0x0010_FFFF).filter_map(char::from_u32);
        assert_eq!(chars().filter(|&c| is_letter_or_number(c)).count(), 147_596);
        if char::UNICODE_VERSION != (17, 0, 0) {
            return; // A newer standard library has newer letters.
        }
        for c in chars() {
            assert!(
                !c.is_numeric() || is_letter_or_number(c),
                "{c:?} is a number"
            );
            assert!(
                !is_letter_or_number(c) || c.is_alphanumeric(),
                "{c:?} is neither"
            );
        }
        let beyond = |c: &char| c.is_alphanumeric() && !is_letter_or_number(*c);
        assert_eq!(chars().filter(beyond).count(), 1_510);
    }

    #[test]
    fn marks_symbols_and_joiners_are_not_letters() {
        for c in [
            '\u{93E}',
            '\u{301}',
            'Ⓐ',
            '_',
            '\u{200D}',
            '\u{AD}',
            '😀',
            '-',
            ' ',
            '\u{10FFFF}',
        ] {
            assert!(!is_letter_or_number(c), "{c:?}");
        }
        for c in ['a', 'Z', '0', 'é', 'ß', 'क', '搜', 'Ⅷ', '½', '²', 'ª'] {
            assert!(is_letter_or_number(c), "{c:?}");
        }
    }
}
