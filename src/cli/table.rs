//! Text in columns that fit the terminal.

use std::fmt::Write;

use skills_core::escape_control;
use unicode_width::UnicodeWidthStr;

const GAP: usize = 2;

/// Lays rows out in columns, right-aligned where `right` is set. Columns that do not fit `width`
/// are left out, except the first. Control characters are escaped.
pub fn lay_out<const N: usize>(
    rows: &[[String; N]],
    right: [bool; N],
    width: Option<usize>,
) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| row.each_ref().map(|cell| escape_control(cell)))
        .collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].width());
        cells.max().unwrap_or(0)
    });
    let mut end = 0;
    let ends = widths.iter().map(|width| {
        end += width + GAP;
        end - GAP
    });
    let fit = ends.filter(|end| width.is_none_or(|width| *end <= width));
    let shown = fit.count().max(1);
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().take(shown).enumerate() {
            let gap = if column > 0 { GAP } else { 0 };
            let free = widths[column] - cell.width();
            // Writing to a string cannot fail.
            let _ = if right[column] {
                write!(line, "{:gap$}{:free$}{cell}", "", "")
            } else {
                write!(line, "{:gap$}{cell}{:free$}", "", "")
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Cuts the last column where a line would be longer than the terminal is wide.
pub fn fit_last<const N: usize>(rows: &mut [[String; N]], columns: usize) {
    let Some(last) = N.checked_sub(1) else {
        return;
    };
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).max();
    let others: usize = (0..last)
        .map(|column| widest(column).unwrap_or(0) + GAP)
        .sum();
    let room = columns.saturating_sub(others);
    for row in rows {
        row[last] = match room {
            0..4 => String::new(),
            _ => console::truncate_str(&row[last], room, "...").into_owned(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let rows = [row("漢字", "1"), row("a", "2")];
        assert_eq!(lay_out(&rows, [false, false], None), "漢字  1\na     2\n");
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let rows = [["greet <name>".to_owned(), "Compose a greeting.".to_owned()]];
        let check = |columns, expected: &str| {
            let mut rows = rows.clone();
            fit_last(&mut rows, columns);
            assert_eq!(rows[0][1], expected, "for {columns}");
        };
        check(33, "Compose a greeting.");
        check(32, "Compose a greet...");
        check(18, "C...");
        check(17, "");
        check(3, "");
    }

    fn rows() -> Vec<[String; 3]> {
        let row = |a: &str, b: &str, c: &str| [a.into(), b.into(), c.into()];
        vec![row("resend", "1 KiB", "now"), row("  é", "12 B", "3 d")]
    }

    #[test]
    fn columns_line_up() {
        let out = lay_out(&rows(), [false, true, true], None);
        assert_eq!(out, "resend  1 KiB  now\n  é      12 B  3 d\n");
    }

    #[test]
    fn a_narrow_terminal_loses_columns_not_names() {
        let fit = |width| lay_out(&rows(), [false, true, true], Some(width));
        assert_eq!(fit(18), "resend  1 KiB  now\n  é      12 B  3 d\n");
        assert_eq!(fit(17), "resend  1 KiB\n  é      12 B\n");
        assert_eq!(fit(4), "resend\n  é\n");
        assert_eq!(lay_out(&[], [false; 3], Some(4)), "");
    }
}
