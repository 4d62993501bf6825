//! Keys and values: front matter entries and plane attributes.

use std::borrow::Cow;
use std::ops::Range;

/// One key and its value, quotes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The key; lowercase for a plane attribute, as spelled in front matter.
    pub key: Cow<'a, str>,
    /// The value.
    pub value: Cow<'a, str>,
    /// The pair in the source.
    pub bytes: Range<usize>,
}

/// Fields in key order, each key once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields<'a>(Vec<Field<'a>>);

impl<'a> Fields<'a> {
    /// Sorts the fields. Of fields with the same key, the last one is kept.
    pub(crate) fn new(mut fields: Vec<Field<'a>>) -> Self {
        fields.sort_by(|a, b| a.key.cmp(&b.key));
        fields.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Self(fields)
    }

    /// The value of the field called exactly `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.field(key).map(|field| &*field.value)
    }

    /// The field called `key`.
    pub fn field(&self, key: &str) -> Option<&Field<'a>> {
        self.index_of(key).map(|at| &self.0[at])
    }

    fn index_of(&self, key: &str) -> Option<usize> {
        let found = self.0.binary_search_by(|field| (*field.key).cmp(key));
        found.ok()
    }

    /// All fields in key order.
    pub fn iter(&self) -> std::slice::Iter<'_, Field<'a>> {
        self.0.iter()
    }

    /// Removes the field called `key`.
    pub(crate) fn take(&mut self, key: &str) -> Option<Field<'a>> {
        self.index_of(key).map(|at| self.0.remove(at))
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }
}

impl<'s, 'a> IntoIterator for &'s Fields<'a> {
    type Item = &'s Field<'a>;
    type IntoIter = std::slice::Iter<'s, Field<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Removes ASCII spaces and tabs, the only blank characters of the base format.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Removes a pair of outermost quotes and the backslashes inside. Other values are unchanged.
pub(crate) fn unquote(value: &str) -> Cow<'_, str> {
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let Some(inner) = inner else {
        return Cow::Borrowed(value);
    };
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut plain = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' {
            chars.next().unwrap_or(c)
        } else {
            c
        });
    }
    Cow::Owned(plain)
}

/// Removes what JavaScript's `trim` removes: Unicode white space and the byte order mark.
///
/// The agent layer trims this way. U+0085 is white space in Rust and not in JavaScript.
pub(crate) fn trim_wide(text: &str) -> &str {
    text.trim_matches(is_wide_space)
}

/// The first run of characters between wide spaces.
pub(crate) fn first_word(text: &str) -> &str {
    trim_wide(text)
        .split(is_wide_space)
        .next()
        .unwrap_or_default()
}

/// Comma-separated entries, trimmed, without the empty ones.
pub fn csv(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(trim_wide)
        .filter(|entry| !entry.is_empty())
}

fn is_wide_space(c: char) -> bool {
    c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::{csv, first_word, trim_wide, unquote};

    #[track_caller]
    fn check(value: &str, expected: &str) {
        assert_eq!(unquote(value), expected, "for {value:?}");
    }

    #[test]
    fn outermost_quotes_go_and_a_backslash_keeps_what_follows() {
        check("plain", "plain");
        check(r#""a b""#, "a b");
        check("'it'", "it");
        check(r#""mixed'"#, r#""mixed'"#);
        check(r#"""#, r#"""#);
        check(r#""""#, "");
        check(r#""a\nb""#, "anb");
        check(r#""a\"b\\c""#, r#"a"b\c"#);
        check(r#""a\é""#, "aé");
        check(r#""dangling\""#, r"dangling\");
        check(r"bare\n", r"bare\n");
        check(r#""a"b"c""#, r#"a"b"c"#);
        check(r#"a"b""#, r#"a"b""#);
    }

    #[test]
    fn wide_spaces_are_those_of_javascript() {
        assert_eq!(
            trim_wide("\u{FEFF}\u{A0}\u{2028} \t\u{B}a b\u{3000}\r\n"),
            "a b"
        );
        assert_eq!(trim_wide("\u{85}a\u{85}"), "\u{85}a\u{85}");
        assert_eq!(
            trim_wide("\u{200B}a"),
            "\u{200B}a",
            "a zero width space is not white space"
        );
        assert_eq!(first_word(" \u{A0}rg\u{2003}-n x"), "rg");
        assert_eq!(first_word("  "), "");
    }

    #[test]
    fn lists_keep_order_and_duplicates_and_drop_empties() {
        assert_eq!(
            csv(" b ,a,, b,\u{A0},c d ").collect::<Vec<_>>(),
            ["b", "a", "b", "c d"]
        );
    }
}
