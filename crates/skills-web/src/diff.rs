//! The lines by which two texts differ.

use crate::limits::MAX_DIFF_CELLS;

/// A line of one text or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// In both.
    Same(&'a str),
    /// In the old text only.
    Old(&'a str),
    /// In the new text only.
    New(&'a str),
}

/// Compares two texts by their longest common subsequence of lines. Parts that are too large for
/// that are shown one after the other.
pub fn diff<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let pairs = || old.iter().zip(&new);
    let start = pairs().take_while(|(a, b)| a == b).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut lines: Vec<_> = old[..start].iter().copied().map(Line::Same).collect();
    if old_middle.len().saturating_mul(new_middle.len()) <= MAX_DIFF_CELLS {
        compare(old_middle, new_middle, &mut lines);
    } else {
        lines.extend(old_middle.iter().copied().map(Line::Old));
        lines.extend(new_middle.iter().copied().map(Line::New));
    }
    lines.extend(old[old.len() - end..].iter().copied().map(Line::Same));
    lines
}

fn compare<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<Line<'a>>) {
    // The length of the longest common subsequence of what follows both positions.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a * width + b] = if old[a] == new[b] {
                common[(a + 1) * width + b + 1] + 1
            } else {
                common[(a + 1) * width + b].max(common[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            lines.push(Line::Same(old[a]));
            (a, b) = (a + 1, b + 1);
        } else if common[(a + 1) * width + b] >= common[a * width + b + 1] {
            lines.push(Line::Old(old[a]));
            a += 1;
        } else {
            lines.push(Line::New(new[b]));
            b += 1;
        }
    }
    lines.extend(old[a..].iter().copied().map(Line::Old));
    lines.extend(new[b..].iter().copied().map(Line::New));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One character per line, and `-`, `+` or ` ` before each line of the result.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let lines = |text: &str| text.split("").collect::<Vec<_>>().join("\n");
        let (old, new) = (lines(old), lines(new));
        let shown = diff(old.trim(), new.trim())
            .into_iter()
            .map(|line| match line {
                Line::Same(text) => format!(" {text}"),
                Line::Old(text) => format!("-{text}"),
                Line::New(text) => format!("+{text}"),
            });
        assert_eq!(shown.collect::<String>(), expected);
    }

    #[test]
    fn lines_are_kept_removed_and_added() {
        check("abc", "abc", " a b c");
        check("abc", "axc", " a-b+x c");
        check("", "ab", "+a+b");
        check("ab", "", "-a-b");
        check("abcd", "acxd", " a-b c+x d");
        check("abab", "baba", "-a b a b+a");
    }

    #[test]
    fn texts_that_differ_too_much_follow_each_other() {
        let text = |first: usize| {
            let lines = (first..first + 3_000).map(|n| format!("{n}\n"));
            lines.collect::<String>()
        };
        let (old, new) = (text(0), text(10_000));
        let lines = diff(&old, &new);
        assert_eq!(lines.len(), 6_000);
        assert_eq!(
            (lines[0], lines[5_999]),
            (Line::Old("0"), Line::New("12999"))
        );
    }

    #[test]
    fn the_kind_of_line_ends_is_no_difference() {
        assert_eq!(
            diff("a\r\nb\r\n", "a\nb"),
            [Line::Same("a"), Line::Same("b")]
        );
    }
}
