//! The index of all skills: the text of `iii://skills`.

use std::fmt::Write;
use std::sync::Arc;

use crate::SkillId;
use crate::markdown::Head;

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
    let _ = write!(out, "- [`{id}`](iii://{id}) \u{2014} {title}");
    if let Some(description) = &head.description {
        let _ = write!(out, " \u{2014} {description}");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
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
}
