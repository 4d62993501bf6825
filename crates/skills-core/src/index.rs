//! The index of all skills: the text of `iii://skills`.

use std::fmt::Write;
use std::sync::Arc;

use crate::SkillId;
use crate::limits::DESCRIPTION_MAX;
use crate::markdown::{Head, cut};

const OPENING: &str = "# Skills\n\nWhat can be read here. Start with the entry that fits the task, and follow \
     its `iii://` links only as far as you need.\n";

const EMPTY: &str = "No skills are registered yet.\n";

/// Renders the index of the registered skills, children after their parents.
pub fn render<'a>(entries: impl Iterator<Item = (&'a SkillId, &'a Head)>) -> String {
    let lines = lines(entries);
    let rest = if lines.is_empty() { EMPTY } else { &lines };
    format!("{OPENING}\n{rest}")
}

/// Adds the skills of sources to a rendered index.
pub fn add_custom<'a>(
    index: &Arc<str>,
    custom: impl Iterator<Item = (&'a SkillId, &'a Head)>,
) -> Arc<str> {
    let lines = lines(custom);
    if lines.is_empty() {
        return Arc::clone(index);
    }
    let rest = index.strip_prefix(OPENING);
    let is_empty = rest.is_some_and(|rest| rest.trim_start() == EMPTY);
    let above = if is_empty { OPENING } else { index };
    format!("{above}\n## Custom skills\n\n{lines}").into()
}

fn lines<'a>(entries: impl Iterator<Item = (&'a SkillId, &'a Head)>) -> String {
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by(|(a, _), (b, _)| a.tree_cmp(b));
    let mut out = String::with_capacity(entries.len() * 128);
    for (id, head) in entries {
        push_line(&mut out, id, head);
    }
    out
}

fn push_line(out: &mut String, id: &SkillId, head: &Head) {
    for _ in 0..id.depth() {
        out.push_str("  ");
    }
    let title = head.title.as_deref().unwrap_or(id.as_str());
    // Writing to a string cannot fail.
    let _ = write!(out, "- [`{id}`](iii://{id}) \u{2014} ");
    push_plain(out, title);
    if let Some(description) = &head.description {
        out.push_str(" \u{2014} ");
        push_plain(out, &cut(description, DESCRIPTION_MAX));
    }
    out.push('\n');
}

/// Appends plain text as markdown in which it stays plain text: no link, image or HTML. An
/// index has only the links that it makes itself.
fn push_plain(out: &mut String, text: &str) {
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

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;

    fn entry(id: &str, document: &str) -> (SkillId, Head) {
        (id.parse().unwrap(), Head::of(document))
    }

    #[track_caller]
    fn check(registered: &[(SkillId, Head)], custom: &[(SkillId, Head)], expected: &str) {
        let pairs = |list| <[(SkillId, Head)]>::iter(list).map(|(id, head)| (id, head));
        let got = add_custom(&render(pairs(registered)).into(), pairs(custom));
        assert_eq!(got.strip_prefix(OPENING), Some(expected));
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
            "\n## Custom skills\n\n  - [`x/y`](iii://x/y) — Y\n",
        );
        check(
            &registered[1..2],
            &custom,
            "\n- [`a`](iii://a) — A — First.\n\n## Custom skills\n\n  - [`x/y`](iii://x/y) — Y\n",
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
