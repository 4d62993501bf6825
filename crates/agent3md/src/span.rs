//! Positions in the text of a document.

use std::fmt;
use std::ops::Range;

/// A range of the original text, including a byte order mark and any CR.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Byte range.
    pub bytes: Range<usize>,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Line and column of one byte range, counted from the start of the text.
pub(crate) fn locate(source: &str, bytes: Range<usize>) -> Span {
    locate_all(source, std::slice::from_ref(&bytes)).remove(0)
}

/// Line and column of many byte ranges, in the order of `ranges`.
///
/// The text is scanned once: a document can have hundreds of thousands of findings on one line,
/// and counting the column of each from the start would be quadratic.
pub fn locate_all(source: &str, ranges: &[Range<usize>]) -> Vec<Span> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&i| ranges[i].start);
    let mut spans: Vec<Span> = ranges
        .iter()
        .map(|bytes| Span {
            line: 0,
            column: 0,
            bytes: bytes.clone(),
        })
        .collect();
    // A leading byte order mark is not counted as a column.
    let (mut at, mut line, mut column) = (if source.starts_with('\u{FEFF}') { 3 } else { 0 }, 1, 1);
    for i in order {
        let start = ranges[i].start;
        if let Some(passed) = source.get(at..start) {
            match passed.rfind('\n') {
                Some(last) => {
                    line += passed.bytes().filter(|&b| b == b'\n').count();
                    column = 1 + passed[last + 1..].chars().count();
                }
                None => column += passed.chars().count(),
            }
            at = start;
        }
        (spans[i].line, spans[i].column) = (line, column);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::{locate, locate_all};

    #[track_caller]
    fn check(source: &str, byte: usize, expected: &str) {
        assert_eq!(
            locate(source, byte..byte).to_string(),
            expected,
            "byte {byte} of {source:?}"
        );
    }

    #[test]
    fn columns_count_characters_from_one() {
        check("", 0, "1:1");
        check("ab", 1, "1:2");
        check("é=b", 3, "1:3");
        check("a\nb", 2, "2:1");
        check("a\r\nbc", 4, "2:2");
        check("\u{FEFF}ab", 4, "1:2");
        check("\u{FEFF}ab", 0, "1:1");
    }

    #[test]
    fn spans_are_in_the_order_of_the_ranges() {
        let spans = locate_all("a\nbc\nd", &[5..6, 3..4, 0..1, 3..3]);
        let shown: Vec<_> = spans.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["3:1", "2:2", "1:1", "2:2"]);
    }
}
