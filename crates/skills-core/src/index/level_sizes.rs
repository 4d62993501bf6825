//! How long a section is when it is folded at each level.

use super::fold::fold_item;
use super::lines::Line;
use super::tree::{item_bytes, parent_bytes, shared_bytes};

/// The bytes of the items of lines, by depth and level, counted in one pass.
#[derive(Default)]
pub(super) struct LevelSizes {
    /// The depth of the paths that are not indented.
    top: usize,
    /// Items above this depth do not count.
    from: usize,
    /// The lines of each depth that can be folded.
    lines: Vec<usize>,
    /// The items of the subtrees of each level when that level is folded.
    folds: Vec<usize>,
    /// The parents of each depth without a line.
    parents: Vec<usize>,
    /// The parents of each depth that pinned lines have when they are folded.
    pinned_parents: Vec<usize>,
    pinned: usize,
}

/// A parent of the line that is counted.
struct Parent<'a> {
    path: &'a str,
    line: ParentLine,
    /// How many lines below it can be folded.
    count: usize,
    has_pinned: bool,
}

#[derive(Clone, Copy)]
enum ParentLine {
    Missing,
    Folds,
    Pinned,
}

impl LevelSizes {
    pub(super) fn new(top: usize, from: usize) -> Self {
        Self {
            top,
            from,
            ..Self::default()
        }
    }

    /// Adds lines; `before` is the one before them in the section.
    pub(super) fn add<'a>(&mut self, lines: &[Line<'a>], mut before: Option<Line<'a>>) {
        let mut open: Vec<Parent<'a>> = Vec::new();
        for line in lines {
            let id = line.id.as_str();
            let last = before.map_or("", |before| before.id.as_str());
            let shared = shared_bytes(last, id);
            while open
                .last()
                .is_some_and(|parent| parent.path.len() >= shared)
            {
                self.close(&mut open);
            }
            let known = open.last().map_or(0, |parent| parent.path.len() + 1);
            for (at, _) in id[known..].match_indices('/') {
                let path = &id[..known + at];
                let own = before.filter(|before| before.id.as_str() == path);
                open.push(Parent {
                    path,
                    line: match own {
                        None => ParentLine::Missing,
                        Some(line) if line.is_pinned => ParentLine::Pinned,
                        Some(_) => ParentLine::Folds,
                    },
                    count: 0,
                    has_pinned: false,
                });
            }
            let bytes = line.text.len();
            if line.is_pinned {
                self.pinned += bytes;
                for parent in &mut open {
                    parent.has_pinned = true;
                }
            } else {
                *size_at(&mut self.lines, open.len()) += bytes;
                for parent in &mut open {
                    parent.count += 1;
                }
            }
            before = Some(*line);
        }
        while !open.is_empty() {
            self.close(&mut open);
        }
    }

    fn close(&mut self, open: &mut Vec<Parent<'_>>) {
        let Some(parent) = open.pop() else { return };
        let depth = open.len();
        if depth < self.from {
            return;
        }
        let indent = depth - self.top;
        let plain = parent_bytes(parent.path, indent);
        let fold = |indent| match parent.count {
            0 => None,
            count => Some(item_bytes(indent, fold_item(parent.path, count).len())),
        };
        let folded = match parent.line {
            ParentLine::Missing => {
                *size_at(&mut self.parents, depth) += plain;
                // The item of the subtree stands in its place.
                fold(indent).unwrap_or(plain)
            }
            ParentLine::Folds | ParentLine::Pinned => fold(indent + 1).unwrap_or_default(),
        };
        *size_at(&mut self.folds, depth) += folded;
        if parent.has_pinned && !matches!(parent.line, ParentLine::Pinned) {
            *size_at(&mut self.pinned_parents, depth) += plain;
        }
    }

    /// The bytes when everything deeper than `level` is folded.
    pub(super) fn at(&self, level: usize) -> usize {
        let deeper = self.pinned_parents.iter().skip(level + 1);
        self.lines.iter().take(level + 1).sum::<usize>()
            + self.folds.get(level).copied().unwrap_or_default()
            + self.parents.iter().take(level).sum::<usize>()
            + deeper.sum::<usize>()
            + self.pinned
    }

    /// The deepest level from `first` on with at most `room` bytes.
    pub(super) fn deepest_within(&self, first: usize, room: usize) -> Option<usize> {
        let levels = first..self.folds.len();
        levels.rev().find(|level| self.at(*level) <= room)
    }
}

fn size_at(sizes: &mut Vec<usize>, at: usize) -> &mut usize {
    if sizes.len() <= at {
        sizes.resize(at + 1, 0);
    }
    &mut sizes[at]
}
