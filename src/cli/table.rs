//! Columns that fit the terminal.

/// Spaces between two columns.
const GAP: usize = 2;

/// Lays rows out in columns: the first column to the left, the rest to the right if
/// `right` says so. Where a line would be too long for `width`, the last columns are
/// left out; the first one always stays whole.
pub fn lay_out<const N: usize>(
    rows: &[[String; N]],
    right: [bool; N],
    width: Option<usize>,
) -> String {
    let widest = |column: usize| {
        rows.iter()
            .map(|row| chars(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(widest);
    let mut shown = 1;
    let mut line = widths.first().copied().unwrap_or(0);
    while shown < N {
        line += GAP + widths[shown];
        if width.is_some_and(|width| line > width) {
            break;
        }
        shown += 1;
    }
    let mut out = String::with_capacity(rows.len() * (line + 1));
    for row in rows {
        let start = out.len();
        for (column, cell) in row.iter().take(shown).enumerate() {
            if column > 0 {
                pad(&mut out, GAP);
            }
            let missing = widths[column] - chars(cell);
            if right[column] {
                pad(&mut out, missing);
            }
            out.push_str(cell);
            if !right[column] {
                pad(&mut out, missing);
            }
        }
        let end = start + out[start..].trim_end().len();
        out.truncate(end);
        out.push('\n');
    }
    out
}

fn pad(out: &mut String, spaces: usize) {
    out.extend(std::iter::repeat_n(' ', spaces));
}

fn chars(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
