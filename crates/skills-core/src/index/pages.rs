//! Pages: all skills of an index in tree order, in pieces that each fit the limit of bytes.
//!
//! The address of a page has its first id and not its number, so that it stays right when
//! skills are added or removed. A page is a flat list: the parents of its skills may be on others.

use std::fmt::Write;

use super::fold::skills;
use super::lines::Line;
use super::{IndexPart, IndexView, footer, opening};
use crate::SkillId;

/// The lines of an index, divided into pages.
pub(super) struct Pages<'a> {
    lines: Vec<Line<'a>>,
    /// The most bytes of a page: the limit, or more if the table of pages would exceed it.
    page_bytes: usize,
    /// The bytes of the first and the last lines of every page and of the table.
    frame: usize,
    pub(super) part: &'a IndexPart,
}

impl<'a> Pages<'a> {
    /// Divides the lines so that the table of pages has at most `max_bytes` too.
    pub(super) fn new(sections: &[Vec<Line<'a>>], part: &'a IndexPart, max_bytes: usize) -> Self {
        let mut lines: Vec<_> = sections.concat();
        lines.sort_by(|a, b| a.id.tree_cmp(b.id));
        // The last line of a page has an id, and an address with up to two of them.
        let longest = lines.iter().map(|line| line.id.as_str().len()).max();
        let last_line = 3 * longest.unwrap_or_default() + footer(lines.len(), lines.len()).len();
        let mut pages = Self {
            frame: opening(part).len() + 1 + last_line,
            lines,
            page_bytes: max_bytes,
            part,
        };
        loop {
            let table = pages.table();
            let one_page = table.lines().count() <= 1;
            if pages.frame + table.len() <= max_bytes || one_page {
                return pages;
            }
            pages.page_bytes *= 2;
        }
    }

    /// A line for each page: its first and last id, and its number of skills.
    pub(super) fn table(&self) -> String {
        let mut out = String::new();
        let mut rest = &self.lines[..];
        while let (Some(first), page) = (rest.first(), self.page(rest)) {
            let address = self.from(first);
            let (first, last) = (first.id, page.last().map_or(first.id, |line| line.id));
            let count = skills(page.len());
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- [`{first}`]({address}) to `{last}` \u{2014} {count}");
            rest = &rest[page.len()..];
        }
        out
    }

    /// The page that begins at an id, and how many lines it has.
    pub(super) fn read(&self, from: &SkillId) -> (String, usize) {
        let first = self.lines.partition_point(|l| l.id.tree_cmp(from).is_lt());
        let page = self.page(&self.lines[first..]);
        let mut text = opening(self.part) + "\n";
        text.extend(page.iter().map(Line::flat));
        let after = &self.lines[first + page.len()..];
        if let Some(next) = after.first() {
            let (count, address) = (skills(after.len()), self.from(next));
            let _ = write!(
                text,
                "\n{count} follow from [`{}`]({address}) on.\n",
                next.id
            );
        } else if page.is_empty() {
            text.push_str("No skill follows; this is the end.\n");
        }
        (text, page.len())
    }

    fn from(&self, line: &Line<'_>) -> IndexPart {
        IndexPart {
            below: self.part.below.clone(),
            view: IndexView::From(line.id.clone()),
        }
    }

    /// As many lines as fit on a page, and at least one.
    fn page<'b>(&self, lines: &'b [Line<'a>]) -> &'b [Line<'a>] {
        let room = self.page_bytes.saturating_sub(self.frame);
        let mut bytes = 0;
        let fits = |line: &&Line<'_>| {
            bytes += line.flat().len();
            bytes <= room
        };
        let count = lines.iter().take_while(fits).count();
        &lines[..count.max(1).min(lines.len())]
    }
}
