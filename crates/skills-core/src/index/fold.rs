//! Folding: subtrees become one line each, from the deepest on, until the index fits.
//!
//! At level `n`, every skill with more than `n + 1` segments is behind the line of its first
//! `n + 1` segments. The deepest level that fits is taken, and at that level the subtrees that
//! save most are folded first, so that the others stay open.

use std::collections::HashSet;

use super::level_sizes::LevelSizes;
use super::lines::Line;
use super::tree::{Tree, missing_parents, parent_bytes};
use crate::SkillId;

/// What a folded section reads, and how many skills have a line in it.
pub(super) struct Folded {
    pub sections: Vec<String>,
    pub included: usize,
    /// The bytes of the largest folded subtree.
    pub largest: usize,
}

/// Consecutive lines below one path.
struct Subtree<'a> {
    first: usize,
    end: usize,
    path: &'a str,
    /// The lines that are folded; pinned ones are not.
    count: usize,
    /// The bytes of its lines and of the parents without a line.
    bytes: usize,
}

/// The depth of the skill whose subtree is shown; none if it is the whole tree.
pub(super) type Top = Option<usize>;

/// Folds the sections to at most `room` bytes. `None` if that is not possible.
pub(super) fn fold(sections: &[Vec<Line<'_>>], part: Top, room: usize) -> Option<Folded> {
    let top = part.unwrap_or_default();
    let mut sizes = LevelSizes::new(top, top);
    for lines in sections {
        sizes.add(lines, None);
    }
    // The subtree that is shown cannot be one of its lines.
    let first = part.map_or(0, |top| top + 1);
    let level = sizes.deepest_within(first, room)?;
    // Everything is folded one level deeper. That is too much text, and folding at this level
    // is enough: as few subtrees as possible.
    let mut size = sizes.at(level + 1);
    let mut candidates = Vec::new();
    for (number, lines) in sections.iter().enumerate() {
        for subtree in subtrees(lines, level) {
            let mut sizes = LevelSizes::new(top, level);
            let before = subtree.first.checked_sub(1).map(|before| lines[before]);
            sizes.add(&lines[subtree.first..subtree.end], before);
            let saved = sizes.at(level + 1).saturating_sub(sizes.at(level));
            if saved > 0 && has_address(subtree.path) {
                candidates.push((saved, number, subtree.first));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let mut folded = HashSet::new();
    for (saved, number, first) in candidates {
        if size <= room {
            break;
        }
        size -= saved;
        folded.insert((number, first));
    }
    if size > room {
        return None;
    }
    let mut out = Folded {
        sections: Vec::with_capacity(sections.len()),
        included: 0,
        largest: 0,
    };
    for (number, lines) in sections.iter().enumerate() {
        let mut tree = Tree::new(top);
        out.push(&mut tree, lines, level, &|first| {
            folded.contains(&(number, first))
        });
        out.sections.push(tree.text);
    }
    debug_assert_eq!(out.sections.iter().map(String::len).sum::<usize>(), size);
    Some(out)
}

impl Folded {
    fn push<'a>(
        &mut self,
        tree: &mut Tree<'a>,
        lines: &[Line<'a>],
        level: usize,
        is_folded: &dyn Fn(usize) -> bool,
    ) {
        let mut at = 0;
        for subtree in subtrees(lines, level) {
            self.push_lines(tree, &lines[at..subtree.first]);
            at = subtree.end;
            let inner = &lines[subtree.first..subtree.end];
            if is_folded(subtree.first) {
                self.largest = self.largest.max(subtree.bytes);
                if subtree.count > 0 {
                    tree.push_subtree(subtree.path, &fold_item(subtree.path, subtree.count));
                }
                for line in inner.iter().filter(|line| line.is_pinned) {
                    self.push_lines(tree, std::slice::from_ref(line));
                }
            } else {
                self.push(tree, inner, level + 1, &|_| true);
            }
        }
        self.push_lines(tree, &lines[at..]);
    }

    fn push_lines<'a>(&mut self, tree: &mut Tree<'a>, lines: &[Line<'a>]) {
        self.included += lines.len();
        for line in lines {
            tree.push(line);
        }
    }
}

/// Whether a subtree can be read as a whole. `iii://skills` is the index of all skills, so those
/// below `skills/` have no index of their own; the subtrees below it have.
fn has_address(path: &str) -> bool {
    path.parse::<SkillId>().is_ok()
}

/// The item of a folded subtree.
pub(super) fn fold_item(path: &str, count: usize) -> String {
    format!("[`{path}/`](iii://{path}/) \u{2014} {}", skills(count))
}

/// "1 skill", "2 skills".
pub(super) fn skills(count: usize) -> String {
    format!("{count} skill{}", if count == 1 { "" } else { "s" })
}

/// The subtrees of a level, in order. The other lines are above that level.
fn subtrees<'a>(lines: &[Line<'a>], level: usize) -> Vec<Subtree<'a>> {
    let mut found: Vec<Subtree<'a>> = Vec::new();
    let is_below = |id: &str, path: &str| {
        let rest = id.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut before = "";
    for (at, line) in lines.iter().enumerate() {
        let id = line.id.as_str();
        // Most lines are below the path of the line before.
        if found.last().is_none_or(|last| !is_below(id, last.path)) {
            let mut slashes = id.match_indices('/').map(|(at, _)| at);
            let Some(slash) = slashes.nth(level) else {
                continue;
            };
            // In the index of the subtree, its path has an item.
            before = "";
            found.push(Subtree {
                first: at,
                end: at,
                path: &id[..slash],
                count: 0,
                bytes: 0,
            });
        }
        if let Some(last) = found.last_mut() {
            last.end = at + 1;
            last.count += usize::from(!line.is_pinned);
            let parents = missing_parents(before, id, level);
            let parents = parents.map(|(depth, path)| parent_bytes(path, depth - level));
            last.bytes += line.text.len() + parents.sum::<usize>();
            before = id;
        }
    }
    found
}
