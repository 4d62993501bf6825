//! Folding: subtrees become one line each, from the deepest on, until the index fits.
//!
//! At level `n`, every skill with more than `n + 1` segments is behind the line of its first
//! `n + 1` segments. The deepest level that fits is taken, and at that level the subtrees that
//! save most are folded first, so that the others stay open.

use std::collections::HashSet;
use std::fmt::Write;

use super::lines::Line;

/// What a folded section reads, and how many skills have a line in it.
pub(super) struct Folded {
    pub sections: Vec<String>,
    pub included: usize,
    /// The bytes of the largest folded subtree.
    pub largest: usize,
    top: Top,
}

/// Consecutive lines below one prefix.
struct Subtree<'a> {
    first: usize,
    end: usize,
    /// The prefix with its slash.
    prefix: &'a str,
    /// The lines that are folded; pinned ones are not.
    count: usize,
    bytes: usize,
}

/// The depth of the skill whose subtree is shown; none if it is the whole tree.
pub(super) type Top = Option<usize>;

/// Folds the sections to at most `room` bytes. `None` if that is not possible.
pub(super) fn fold(sections: &[Vec<Line<'_>>], top: Top, room: usize) -> Option<Folded> {
    let mut sizes = LevelSizes::new(top);
    for lines in sections {
        sizes.add(lines);
    }
    let level = sizes.deepest_within(room)?;
    // Everything is folded one level deeper. That is too much text, and folding at this level
    // is enough: as few subtrees as possible.
    let mut size = sizes.at(level + 1);
    let mut candidates = Vec::new();
    for (number, lines) in sections.iter().enumerate() {
        for subtree in subtrees(lines, level) {
            let inner = &lines[subtree.first..subtree.end];
            let open: usize = open_bytes(inner, level + 1, top);
            let closed = closed_bytes(inner, &subtree, level, top);
            if open > closed {
                candidates.push((open - closed, number, subtree.first));
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
    let mut out = Folded {
        top,
        sections: Vec::with_capacity(sections.len()),
        included: 0,
        largest: 0,
    };
    for (number, lines) in sections.iter().enumerate() {
        let mut text = String::new();
        out.push(&mut text, lines, level, &|first| {
            folded.contains(&(number, first))
        });
        out.sections.push(text);
    }
    Some(out)
}

impl Folded {
    fn push(
        &mut self,
        text: &mut String,
        lines: &[Line<'_>],
        level: usize,
        is_folded: &dyn Fn(usize) -> bool,
    ) {
        let mut at = 0;
        for subtree in subtrees(lines, level) {
            self.push_lines(text, &lines[at..subtree.first]);
            at = subtree.end;
            let inner = &lines[subtree.first..subtree.end];
            if is_folded(subtree.first) {
                self.largest = self.largest.max(subtree.bytes);
                push_fold(text, subtree.prefix, indent(level, self.top), subtree.count);
                for line in inner.iter().filter(|line| line.is_pinned) {
                    self.push_lines(text, std::slice::from_ref(line));
                }
            } else {
                self.push(text, inner, level + 1, &|_| true);
            }
        }
        self.push_lines(text, &lines[at..]);
    }

    fn push_lines(&mut self, text: &mut String, lines: &[Line<'_>]) {
        self.included += lines.len();
        text.extend(lines.iter().map(|line| line.text));
    }
}

/// The line of a folded subtree, where its children would stand.
fn push_fold(out: &mut String, prefix: &str, indent: usize, count: usize) {
    if count == 0 {
        return;
    }
    for _ in 0..indent {
        out.push_str("  ");
    }
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "- [`{prefix}`](iii://{prefix}) \u{2014} {}",
        skills(count)
    );
}

/// How deep the line of a subtree stands.
fn indent(level: usize, top: Top) -> usize {
    level + 1 - top.unwrap_or_default()
}

/// "1 skill", "2 skills".
pub(super) fn skills(count: usize) -> String {
    format!("{count} skill{}", if count == 1 { "" } else { "s" })
}

/// The subtrees of a level, in order. The other lines are above that level.
fn subtrees<'a>(lines: &[Line<'a>], level: usize) -> Vec<Subtree<'a>> {
    let mut found: Vec<Subtree<'a>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut slashes = line.id.as_str().match_indices('/').map(|(at, _)| at);
        let Some(slash) = slashes.nth(level) else {
            continue;
        };
        let prefix = &line.id.as_str()[..=slash];
        if found.last().is_none_or(|last| last.prefix != prefix) {
            found.push(Subtree {
                first: at,
                end: at,
                prefix,
                count: 0,
                bytes: 0,
            });
        }
        if let Some(last) = found.last_mut() {
            last.end = at + 1;
            last.count += usize::from(!line.is_pinned);
            last.bytes += line.text.len();
        }
    }
    found
}

/// The bytes of a subtree when what is deeper than `level` is folded.
fn open_bytes(lines: &[Line<'_>], level: usize, top: Top) -> usize {
    let mut sizes = LevelSizes::new(top);
    sizes.add(lines);
    sizes.at(level)
}

/// The bytes of a subtree that is one line, and its pinned lines.
fn closed_bytes(lines: &[Line<'_>], subtree: &Subtree<'_>, level: usize, top: Top) -> usize {
    let pinned = lines.iter().filter(|line| line.is_pinned);
    pinned.map(|line| line.text.len()).sum::<usize>()
        + fold_bytes(subtree.prefix.len(), indent(level, top), subtree.count)
}

fn fold_bytes(prefix: usize, indent: usize, count: usize) -> usize {
    if count == 0 {
        return 0;
    }
    let mut line = String::new();
    push_fold(&mut line, "", indent, count);
    line.len() + 2 * prefix
}

/// How many bytes the lines have when they are folded at each level, in one pass.
struct LevelSizes {
    top: Top,
    /// The bytes of the lines of each depth that can be folded.
    lines: Vec<usize>,
    /// The bytes of the fold lines of each level.
    folds: Vec<usize>,
    pinned: usize,
}

impl LevelSizes {
    const fn new(top: Top) -> Self {
        Self {
            top,
            lines: Vec::new(),
            folds: Vec::new(),
            pinned: 0,
        }
    }

    fn add(&mut self, lines: &[Line<'_>]) {
        // The prefixes of the line before: where each ends, and how many lines it has.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut before = "";
        for line in lines {
            let id = line.id.as_str();
            let shared = shared_bytes(before, id);
            while open.last().is_some_and(|(slash, _)| *slash >= shared) {
                self.close(&mut open);
            }
            let known = open.last().map_or(0, |(slash, _)| slash + 1);
            let new = id[known..].match_indices('/');
            open.extend(new.map(|(at, _)| (known + at, 0)));
            let (depth, bytes) = (open.len(), line.text.len());
            if line.is_pinned {
                self.pinned += bytes;
            } else {
                *size_at(&mut self.lines, depth) += bytes;
                for (_, count) in &mut open {
                    *count += 1;
                }
            }
            before = id;
        }
        while !open.is_empty() {
            self.close(&mut open);
        }
    }

    fn close(&mut self, open: &mut Vec<(usize, usize)>) {
        if let Some((slash, count)) = open.pop() {
            let level = open.len();
            // The subtree itself cannot be one of its lines.
            if self.top.is_none_or(|top| level > top) {
                let bytes = fold_bytes(slash + 1, indent(level, self.top), count);
                *size_at(&mut self.folds, level) += bytes;
            }
        }
    }

    /// The bytes when everything deeper than `level` is folded.
    fn at(&self, level: usize) -> usize {
        let lines: usize = self.lines.iter().take(level + 1).sum();
        lines + self.folds.get(level).copied().unwrap_or_default() + self.pinned
    }

    /// The deepest level whose folded lines fit.
    fn deepest_within(&self, room: usize) -> Option<usize> {
        let base = self.top.map_or(0, |top| top + 1);
        let levels = base..self.folds.len();
        levels.rev().find(|level| self.at(*level) <= room)
    }
}

/// How many bytes two ids share at their beginning.
fn shared_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn size_at(sizes: &mut Vec<usize>, at: usize) -> &mut usize {
    if sizes.len() <= at {
        sizes.resize(at + 1, 0);
    }
    &mut sizes[at]
}
