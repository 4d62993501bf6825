//! The lines of the index: one for each skill that it offers, in tree order.

use crate::limits::DESCRIPTION_MAX;
use crate::markdown::{Head, cut, shown_title};
use crate::uri::SCHEME;
use crate::{Origin, SkillId, Visibility};

/// A skill as the index needs it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its id.
    pub id: &'a SkillId,
    /// Its title and its description.
    pub head: &'a Head,
    /// How visible it is.
    pub visibility: Visibility,
    /// The origins of documents with the same id, which it hides.
    pub hides: &'a [Origin],
    /// Whether it is past its lease.
    pub stale: bool,
}

/// The rendered lines of one section of the index, children after their parents.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
    ends: Vec<LineEnd>,
    /// Whether there are skills that the index does not offer.
    has_hidden: bool,
}

#[derive(Debug)]
struct LineEnd {
    id: SkillId,
    /// Where its line ends in the text.
    end: usize,
    is_pinned: bool,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub id: &'a SkillId,
    pub text: &'a str,
    /// Whether it is never folded.
    pub is_pinned: bool,
}

impl<'a> Line<'a> {
    /// Its text in a list that is no tree.
    pub fn flat(&self) -> &'a str {
        self.text.trim_start()
    }
}

impl Lines {
    /// Renders the skills that the index offers.
    pub fn new<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Self {
        let (mut entries, hidden): (Vec<_>, Vec<_>) =
            entries.partition(|entry| entry.visibility.is_offered());
        entries.sort_by(|a, b| a.id.tree_cmp(b.id));
        let mut text = String::with_capacity(entries.len() * 128);
        let mut ends = Vec::with_capacity(entries.len());
        for entry in entries {
            push_line(&mut text, &entry);
            ends.push(LineEnd {
                id: entry.id.clone(),
                end: text.len(),
                is_pinned: entry.visibility == Visibility::Pinned,
            });
        }
        Self {
            text,
            ends,
            has_hidden: !hidden.is_empty(),
        }
    }

    /// Whether there are skills that the index does not offer.
    pub(super) fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The lines of a skill and of those below it, or all of them.
    pub(super) fn below(&self, id: Option<&SkillId>) -> Vec<Line<'_>> {
        let first = id.map_or(0, |id| {
            let is_before = |line: &LineEnd| line.id.tree_cmp(id).is_lt();
            self.ends.partition_point(is_before)
        });
        let mut start = first.checked_sub(1).map_or(0, |last| self.ends[last].end);
        // In the index of a subtree, its skill is at the top.
        let indent = 2 * id.map_or(0, SkillId::depth);
        let mut lines = Vec::with_capacity(if id.is_none() { self.ends.len() } else { 0 });
        for line in &self.ends[first..] {
            if id.is_some_and(|id| !line.id.is_at_or_below(id)) {
                break;
            }
            lines.push(Line {
                id: &line.id,
                text: &self.text[start + indent..line.end],
                is_pinned: line.is_pinned,
            });
            start = line.end;
        }
        lines
    }
}

/// The line of one skill at the top of an index.
pub fn line(entry: &Entry<'_>) -> String {
    let mut text = String::new();
    push_line(&mut text, entry);
    text.trim().to_owned()
}

fn push_line(out: &mut String, entry: &Entry<'_>) {
    let Entry {
        id,
        head,
        visibility,
        hides,
        stale,
    } = entry;
    for _ in 0..id.depth() {
        out.push_str("  ");
    }
    let title = head.title.as_deref().map(shown_title);
    for part in ["- [`", id.as_str(), "`](iii://", id.as_str(), ") \u{2014} "] {
        out.push_str(part);
    }
    push_plain(out, title.as_deref().unwrap_or(id.as_str()));
    let description = head.description.as_ref();
    if let Some(description) = description.filter(|_| *visibility != Visibility::NameOnly) {
        out.push_str(" \u{2014} ");
        push_plain(out, &cut(description, DESCRIPTION_MAX));
    }
    push_hides(out, hides);
    if *stale {
        out.push_str(" (stale)");
    }
    out.push('\n');
}

/// ` (hides iii://@files/)`. The id follows from the line, which stays short.
fn push_hides(out: &mut String, hides: &[Origin]) {
    for (at, origin) in hides.iter().enumerate() {
        let before = if at == 0 { " (hides " } else { ", " };
        out.extend([before, SCHEME, origin.address(), "/"]);
    }
    if !hides.is_empty() {
        out.push(')');
    }
}

/// Appends plain text as markdown in which it stays plain text: no link, image or HTML. An
/// index has only the links that it makes itself.
pub(crate) fn push_plain(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|b| matches!(b, b'[' | b']' | b'<' | b'\\'))
    {
        let (plain, marked) = rest.split_at(at);
        let (mark, after) = marked.split_at(1);
        out.push_str(plain);
        // A backslash is an escape only before punctuation.
        if mark != "\\" || after.starts_with(|c: char| c.is_ascii_punctuation()) {
            out.push('\\');
        }
        out.push_str(mark);
        rest = after;
    }
    out.push_str(rest);
}
