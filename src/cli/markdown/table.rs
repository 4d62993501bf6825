//! Tables of markdown, in columns that fit the terminal.

use console::Style;
use pulldown_cmark::Alignment;

use super::wrap::{Line, LongWord, Span, wrap};

/// A column is not made narrower than this to fit the others.
const NARROWEST: usize = 8;
/// The columns between two cells.
const GAP: usize = 3;
/// The longest name of a column in front of its cell.
const LONGEST_NAME: usize = 40;

/// A table under construction.
#[derive(Default)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    /// The head is the first.
    pub rows: Vec<Vec<Vec<Span>>>,
}

impl Table {
    /// The lines of the table within a width. What is too wide for columns becomes one line for
    /// each cell, with the name of its column.
    pub fn lines(&self, width: usize, rule: &Style) -> Vec<String> {
        let count = self.rows.first().map_or(0, Vec::len);
        let natural: Vec<_> = (0..count).map(|column| self.natural(column)).collect();
        match fit(natural, width) {
            Some(widths) => self.grid(&widths, rule),
            None => self.records(width, rule),
        }
    }

    /// The columns of the widest cell.
    fn natural(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| {
            let lines = wrap(cell, usize::MAX, LongWord::Whole);
            lines.iter().map(|line| line.width).max().unwrap_or(0)
        });
        widths.max().unwrap_or(0).max(1)
    }

    fn grid(&self, widths: &[usize], rule: &Style) -> Vec<String> {
        let bar = rule.apply_to("│").to_string();
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<_> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| wrap(cell, *width, LongWord::Divided))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
            for number in 0..height {
                let parts = cells.iter().zip(widths).enumerate();
                let parts = parts.map(|(column, (lines, width))| {
                    let line = lines.get(number).cloned().unwrap_or_default();
                    let alignment = self.alignments.get(column);
                    aligned(&line, *width, alignment.copied())
                });
                let line = parts.collect::<Vec<_>>().join(&format!(" {bar} "));
                out.push(line.trim_end_matches(' ').to_owned());
            }
            if at == 0 {
                let dashes: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                out.push(rule.apply_to(dashes.join("─┼─")).to_string());
            }
        }
        out
    }

    fn records(&self, width: usize, rule: &Style) -> Vec<String> {
        let Some((head, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        let names: Vec<_> = head.iter().map(|cell| name(cell)).collect();
        let mut out = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                out.push(String::new());
            }
            for (name, cell) in names.iter().zip(row) {
                let style = rule.clone();
                let text = format!("{name}: ");
                let mut spans = vec![Span { text, style }];
                spans.extend(cell.iter().cloned());
                let lines = wrap(&spans, width, LongWord::Whole);
                out.extend(lines.into_iter().map(|line| line.text));
            }
        }
        out
    }
}

fn name(cell: &[Span]) -> String {
    let text = cell.iter().flat_map(|span| span.text.chars());
    text.take(LONGEST_NAME).collect()
}

/// The widths of columns that fit, the widest made narrower first; none if that is not enough.
fn fit(mut widths: Vec<usize>, room: usize) -> Option<Vec<usize>> {
    let room = room.checked_sub(GAP * widths.len().saturating_sub(1))?;
    let narrowest: usize = widths.iter().map(|width| (*width).min(NARROWEST)).sum();
    if narrowest > room {
        return None;
    }
    // No column needs more than there is.
    for width in &mut widths {
        *width = (*width).min(room);
    }
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        *widest -= 1;
    }
    Some(widths)
}

fn aligned(line: &Line, width: usize, alignment: Option<Alignment>) -> String {
    let free = width.saturating_sub(line.width);
    let before = match alignment {
        Some(Alignment::Right) => free,
        Some(Alignment::Center) => free / 2,
        _ => 0,
    };
    let after = free - before;
    format!("{:before$}{}{:after$}", "", line.text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_column_is_made_narrower() {
        let check = |widths: &[usize], room, expected: Option<&[usize]>| {
            let got = fit(widths.to_vec(), room);
            assert_eq!(got.as_deref(), expected, "for {widths:?} in {room}");
        };
        check(&[3, 4], 10, Some(&[3, 4]));
        check(&[3, 40], 20, Some(&[3, 14]));
        check(&[20, 20], 23, Some(&[10, 10]));
        check(&[20, 20], 18, None);
        check(&[1000, 2], 30, Some(&[25, 2]));
    }
}
