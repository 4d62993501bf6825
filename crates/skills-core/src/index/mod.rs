//! The index of all skills: the text of `iii://skills`, and of `iii://resend/` for one subtree.
//!
//! The rules: if every line fits the budget, every line is there. Otherwise subtrees
//! [fold](fold) into one line each; if the lines that are left are still too many, the index is
//! a table of [pages]. Each read of such a line lists what it stands for, so that
//! every skill has its line after two reads at most:
//!
//! - A page lists all its skills.
//! - A subtree lists all its skills, or folds subtrees that each fit one text, or has pages.
//!
//! The text is longer than its budget only where it cannot be shorter: pinned skills are always
//! there, with one more line for all others.

mod fold;
mod level_sizes;
mod lines;
mod pages;
mod tree;

use std::fmt;

use crate::SkillId;
use crate::uri::SCHEME;
use fold::skills;
use lines::Line;
pub(crate) use lines::push_plain;
pub use lines::{Entry, Lines, line};
use pages::Pages;

/// Bytes of a token, as budgets estimate it.
pub const TOKEN_BYTES: usize = 4;

/// The least that the limit of bytes may be: a text has room for the longest line.
pub const MIN_BYTES: usize = 4_096;

const OPENING: &str = "# Skills\n\nWhat can be read here. Start with the entry that fits the task, and follow \
     its `iii://` links only as far as you need.\n";

const EMPTY: &str = "No skills are registered yet.\n";

const NOT_OFFERED: &str =
    "No skill is in the index. Those that can be read are in the list of skills.\n";

const CUSTOM: &str = "\n## Custom skills\n\n";

/// Which text of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexPart {
    /// The skill whose subtree it is; without one, all skills.
    pub below: Option<SkillId>,
    /// Which view of them.
    pub view: IndexView,
}

/// A view of the skills of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexView {
    /// The tree: every skill, folded if it is too long.
    #[default]
    Tree,
    /// `?pages`: the table of the pages.
    Pages,
    /// `?from=id`: the page that begins at this id.
    From(SkillId),
}

impl fmt::Display for IndexPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.below {
            None => write!(f, "{SCHEME}skills")?,
            Some(id) => write!(f, "{SCHEME}{id}/")?,
        }
        match &self.view {
            IndexView::Tree => Ok(()),
            IndexView::Pages => f.write_str("?pages"),
            IndexView::From(id) => write!(f, "?from={id}"),
        }
    }
}

/// A text of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// How many skills have a line.
    pub included: usize,
    /// How many skills are behind the lines of subtrees and pages.
    pub folded: usize,
}

/// The lines of the index, and how long a text of it may be.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    /// The registered skills.
    pub registered: &'a Lines,
    /// The skills of sources.
    pub custom: &'a Lines,
    /// The most bytes of every text that an address of the index has.
    pub max_bytes: usize,
}

impl Index<'_> {
    /// Renders a text of at most `budget` bytes. `None` if no skill is there.
    pub fn render(&self, part: &IndexPart, budget: usize) -> Option<Rendered> {
        let below = part.below.as_ref();
        let sections = [self.registered.below(below), self.custom.below(below)];
        let total = sections.iter().map(Vec::len).sum();
        if total == 0 && below.is_some() {
            return None;
        }
        let pages = || Pages::new(&sections, part, self.max_bytes);
        let (text, included) = match &part.view {
            IndexView::Tree if total == 0 => (self.empty(), 0),
            IndexView::Tree => {
                let tree = complete(part, &sections, budget).map(|text| (text, total));
                let tree = tree.or_else(|| self.folded(part, &sections, budget));
                tree.unwrap_or_else(|| table(&pages(), &sections, budget))
            }
            IndexView::Pages => table(&pages(), &sections, usize::MAX),
            IndexView::From(id) => pages().read(id),
        };
        Some(Rendered {
            text,
            included,
            folded: total - included,
        })
    }

    /// The index without a line.
    fn empty(&self) -> String {
        let has_skills = self.registered.has_hidden() || self.custom.has_hidden();
        let text = if has_skills { NOT_OFFERED } else { EMPTY };
        format!("{OPENING}\n{text}")
    }

    /// The tree with folded subtrees, if they are enough to keep the budget.
    fn folded(
        &self,
        part: &IndexPart,
        sections: &[Vec<Line<'_>>; 2],
        budget: usize,
    ) -> Option<(String, usize)> {
        let frame = frame_bytes(part, sections);
        let room = budget.checked_sub(frame)?;
        let top = part.below.as_ref().map(SkillId::depth);
        let folded = fold::fold(sections, top, room)?;
        // The reader of a subtree has made one read: the next one must list the rest.
        let used = sections.iter().filter(|lines| !lines.is_empty()).count();
        if part.below.is_some() && folded.largest * used + frame > self.max_bytes {
            return None;
        }
        let [registered, custom] = &folded.sections[..] else {
            return None;
        };
        let mut text = whole(part, registered, custom);
        let total = sections.iter().map(Vec::len).sum();
        text.push_str(&footer(total - folded.included, total));
        Some((text, folded.included))
    }
}

/// The tree with every line, if it fits.
fn complete(part: &IndexPart, sections: &[Vec<Line<'_>>; 2], budget: usize) -> Option<String> {
    let [registered, custom] = sections;
    let headed = if custom.is_empty() { 0 } else { CUSTOM.len() };
    let room = budget.checked_sub(opening(part).len() + 1 + headed)?;
    let top = part.below.as_ref().map_or(0, SkillId::depth);
    let registered = tree::within(registered, top, room)?;
    let custom = tree::within(custom, top, room - registered.len())?;
    Some(whole(part, &registered, &custom))
}

fn whole(part: &IndexPart, registered: &str, custom: &str) -> String {
    let mut text = opening(part);
    match (registered, custom) {
        ("", custom) => text.extend([CUSTOM, custom]),
        (registered, "") => text.extend(["\n", registered]),
        (registered, custom) => text.extend(["\n", registered, CUSTOM, custom]),
    }
    text
}

/// The pinned skills and the table of pages. If that is too long, one line for all pages.
fn table(pages: &Pages<'_>, sections: &[Vec<Line<'_>>; 2], budget: usize) -> (String, usize) {
    let lines = sections.iter().flatten();
    let pinned: Vec<_> = lines.filter(|line| line.is_pinned).collect();
    let total = sections.iter().map(Vec::len).sum();
    let folded = footer(total - pinned.len(), total);
    let frame = |text: &str| {
        let pinned = pinned.iter().map(|line| line.flat());
        let parts = [text, "\n"].into_iter().chain(pinned);
        parts.collect::<String>()
    };
    let text = frame(&opening(pages.part)) + &pages.table() + &folded;
    if text.len() <= budget {
        return (text, pinned.len());
    }
    let all = IndexPart {
        below: pages.part.below.clone(),
        view: IndexView::Pages,
    };
    let line = match total - pinned.len() {
        0 => String::new(),
        folded => format!("- [{folded} of {} folded]({all})\n", skills(total)),
    };
    (frame("# Skills\n") + &line, pinned.len())
}

/// The first lines.
fn opening(part: &IndexPart) -> String {
    match &part.below {
        None => OPENING.to_owned(),
        Some(id) => format!("# Skills\n\nThose at `{id}` and below it.\n"),
    }
}

/// The last line: nothing is left out in silence.
fn footer(folded: usize, total: usize) -> String {
    let verb = if folded == 1 { "is" } else { "are" };
    format!(
        "\n{folded} of {} {verb} folded: a line that ends with a number of skills stands for them, \
         and its address lists them.\n",
        skills(total)
    )
}

/// The bytes of a folded text without its lines.
fn frame_bytes(part: &IndexPart, sections: &[Vec<Line<'_>>; 2]) -> usize {
    let total: usize = sections.iter().map(Vec::len).sum();
    let headed = if sections[1].is_empty() {
        0
    } else {
        CUSTOM.len()
    };
    opening(part).len() + 1 + headed + footer(total, total).len()
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;
    use crate::{Head, Visibility};

    fn entry(id: &str, document: &str) -> (SkillId, Head) {
        (id.parse().unwrap(), Head::of(document))
    }

    fn lines(entries: &[(SkillId, Head)]) -> Lines {
        Lines::new(entries.iter().map(|(id, head)| Entry {
            id,
            head,
            visibility: Visibility::Auto,
            hides: &[],
            stale: false,
        }))
    }

    #[track_caller]
    fn check(registered: &[(SkillId, Head)], custom: &[(SkillId, Head)], expected: &str) {
        let [registered, custom] = [registered, custom].map(lines);
        let index = Index {
            registered: &registered,
            custom: &custom,
            max_bytes: 32_768,
        };
        let got = index.render(&IndexPart::default(), 32_768).unwrap();
        assert_eq!(got.text.strip_prefix(OPENING), Some(expected));
    }

    #[test]
    fn indexes() {
        check(&[], &[], "\nNo skills are registered yet.\n");
        let registered = [
            entry("a-c", "no title"),
            entry("a", "# A\n\nFirst."),
            entry("a/b", "# B"),
        ];
        check(
            &registered,
            &[],
            "\n- [`a`](iii://a) — A — First.\n  - [`a/b`](iii://a/b) — B\n- [`a-c`](iii://a-c) — a-c — no title\n",
        );
        let custom = [entry("x/y", "# Y")];
        check(
            &[],
            &custom,
            "\n## Custom skills\n\n- `x/`\n  - [`x/y`](iii://x/y) — Y\n",
        );
        check(
            &registered[1..2],
            &custom,
            "\n- [`a`](iii://a) — A — First.\n\n## Custom skills\n\n- `x/`\n  - [`x/y`](iii://x/y) — Y\n",
        );
    }

    #[test]
    fn a_title_or_description_is_plain_text() {
        #[track_caller]
        fn line(document: &str, expected: &str) {
            let expected = format!("\n- [`a`](iii://a) — {expected}\n");
            check(&[entry("a", document)], &[], &expected);
            let links = |event: &Event<'_>| matches!(event, Event::Start(Tag::Link { .. }));
            let html = |event: &Event<'_>| matches!(event, Event::InlineHtml(_));
            let parsed = || Parser::new(&expected);
            assert_eq!(parsed().filter(links).count(), 1, "{expected}");
            assert_eq!(parsed().filter(html).count(), 0, "{expected}");
        }
        line("# \\[x\\](iii://evil)", "\\[x\\](iii://evil)");
        line("# &#91;x&#93;(http://evil)", "\\[x\\](http://evil)");
        line("# !\\[x](http://evil/y.png)", "!\\[x\\](http://evil/y.png)");
        line("# \\<http://evil>", "\\<http://evil>");
        line("# a\n\n&lt;a href=x>y&lt;/a>", "a — \\<a href=x>y\\</a>");
        line("# \\\\\\[x](y)", "\\\\\\[x\\](y)");
        line("# C:\\dir a_b *c", "C:\\dir a_b *c");
        line("# a\u{e0041}\u{202e}b\n\nc\u{200b}d", "ab — cd");
    }
}
