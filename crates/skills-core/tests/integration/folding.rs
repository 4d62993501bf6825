//! The budget of the index: for any skills and any budget, every skill has a line after two reads
//! at most, and a text exceeds its budget only where it cannot be shorter. As markdown, every text
//! is a tree of items, each below its parent.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use skills_core::index::{Entry, Index, Lines, Rendered};
use skills_core::{Head, IndexPart, IndexView, ResourceUri, SkillId, Visibility};

struct Skills {
    registered: Vec<(SkillId, Head, Visibility)>,
    custom: Vec<(SkillId, Head, Visibility)>,
}

impl Skills {
    fn new(ids: &BTreeSet<String>, split: usize, pinned: usize, title: usize) -> Self {
        let head = Head {
            title: Some("t".repeat(title).into()),
            ..Head::default()
        };
        let mut skills = Self {
            registered: Vec::new(),
            custom: Vec::new(),
        };
        let ids = ids.iter().filter_map(|id| id.parse::<SkillId>().ok());
        for (number, id) in ids.enumerate() {
            let visibility = match number % 17 {
                0 if number / 17 < pinned => Visibility::Pinned,
                1 => Visibility::NameOnly,
                _ => Visibility::Auto,
            };
            let list = if number % split == 0 {
                &mut skills.custom
            } else {
                &mut skills.registered
            };
            list.push((id, head.clone(), visibility));
        }
        skills
    }

    fn lines(list: &[(SkillId, Head, Visibility)]) -> Lines {
        Lines::new(list.iter().map(|(id, head, visibility)| Entry {
            id,
            head,
            visibility: *visibility,
            hides: &[],
            stale: false,
        }))
    }

    fn all(&self) -> impl Iterator<Item = &(SkillId, Head, Visibility)> {
        self.registered.iter().chain(&self.custom)
    }
}

/// The skills and the parts of the index that a text links to.
fn links(text: &str) -> (BTreeSet<SkillId>, Vec<IndexPart>) {
    let (mut skills, mut parts) = (BTreeSet::new(), Vec::new());
    for link in text.split("](").skip(1) {
        let address = link.split(')').next().unwrap();
        match address.parse::<ResourceUri>().unwrap() {
            ResourceUri::Skill(id) => drop(skills.insert(id)),
            ResourceUri::IndexPart(part) => parts.push(part),
            other => panic!("a link to {other}"),
        }
    }
    (skills, parts)
}

/// Every item of a text must be below its parent, and at its depth below the skill of the part. A
/// page, a table of pages and the shortest text, which has no introduction, are flat lists.
fn check_tree(text: &str, part: &IndexPart) {
    let marks = ["?from=", "?pages"];
    let is_flat = part.view != IndexView::Tree
        || marks.iter().any(|mark| text.contains(mark))
        || text.starts_with("# Skills\n\n- ");
    let top = part.below.as_ref().map_or(0, SkillId::depth);
    // The path of each open item, once it is known.
    let mut items: Vec<Option<String>> = Vec::new();
    for event in Parser::new(text) {
        let (path, is_skill) = match event {
            Event::Start(Tag::CodeBlock(_)) => panic!("a code block in {text}"),
            Event::Start(Tag::Item) => {
                items.push(None);
                continue;
            }
            Event::End(TagEnd::Item) => {
                items.pop();
                continue;
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                let path = dest_url.strip_prefix("iii://").unwrap();
                (path.trim_end_matches('/').to_owned(), !path.ends_with('/'))
            }
            Event::Code(path) => (path.trim_end_matches('/').to_owned(), !path.ends_with('/')),
            _ => continue,
        };
        let Some((item, parents)) = items.split_last_mut().filter(|(item, _)| item.is_none())
        else {
            continue;
        };
        if is_flat {
            assert!(parents.is_empty(), "{path} is not at the top of {text}");
        } else {
            let depth = path.matches('/').count() - top;
            let parent = parents.last().cloned().flatten();
            // A folded subtree stands below its own skill, if there is one.
            let is_own = !is_skill && parent.as_ref() == Some(&path);
            let nesting = parents.len() - usize::from(is_own);
            assert_eq!(nesting, depth, "the nesting of {path} in {text}");
            let is_below = |parent: String| is_own || path.starts_with(&(parent + "/"));
            assert!(
                parent.is_none_or(is_below),
                "the parent of {path} in {text}"
            );
        }
        *item = Some(path);
    }
}

/// Every skill that has a line in `text`, or in a text that `reads` more reads find.
fn reachable(index: &Index<'_>, text: &str, reads: usize, found: &mut BTreeSet<SkillId>) {
    let (skills, parts) = links(text);
    found.extend(skills);
    if reads > 0 {
        for part in parts {
            let read = index.render(&part, index.max_bytes).expect("a linked part");
            check_tree(&read.text, &part);
            reachable(index, &read.text, reads - 1, found);
        }
    }
}

fn check(skills: &Skills, max_bytes: usize, budget: usize) {
    let (registered, custom) = (
        Skills::lines(&skills.registered),
        Skills::lines(&skills.custom),
    );
    let index = Index {
        registered: &registered,
        custom: &custom,
        max_bytes,
    };
    let total = skills.all().count();
    let part = IndexPart::default();
    let Rendered {
        text,
        included,
        folded,
    } = index.render(&part, budget).unwrap();
    check_tree(&text, &part);
    assert_eq!(included + folded, total);
    assert_eq!(links(&text).0.len(), included, "{text}");
    let mut found = BTreeSet::new();
    reachable(&index, &text, 2, &mut found);
    assert_eq!(found.len(), total, "{text}");
    let pinned = skills.all().filter(|skill| skill.2 == Visibility::Pinned);
    let pinned: Vec<_> = pinned.map(|(id, ..)| format!("(iii://{id})")).collect();
    for address in &pinned {
        assert!(text.contains(address), "{address} in {text}");
    }
    let shortest = 2 + pinned.len() + usize::from(folded > 0);
    assert!(
        total == 0 || text.len() <= budget || text.lines().count() == shortest,
        "{text}"
    );
    let says = format!("{folded} of {total} skill");
    assert!(folded == 0 || text.contains(&says), "{says} in {text}");
}

fn segment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("skills".into()),
        "[a-c]{1,2}",
        "[a-z]{3}",
        "x{1,64}",
        "[a-z0-9_-]{60,64}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_skill_is_two_reads_away(
        ids in btree_set(vec(segment(), 1..5).prop_map(|parts| parts.join("/")), 0..300),
        (split, pinned, title) in (1_usize..4, 0_usize..3, 0_usize..200),
        max_bytes in 4096_usize..40_000,
        budget in prop_oneof![1_usize..200, 200_usize..40_000],
    ) {
        check(&Skills::new(&ids, split, pinned, title), max_bytes, budget);
    }
}

fn ids(make: impl Fn(usize) -> String, count: usize) -> BTreeSet<String> {
    (0..count).map(make).collect()
}

#[test]
fn large_registries_of_every_shape() {
    let chain = |n: usize| vec!["deep"; n % 100 + 1].join("/") + &format!("/s{}", n / 100);
    let comb = |n: usize| format!("{}s{n}", "a/".repeat(n / 100));
    for ids in [
        ids(|n| format!("s{n}"), 1_500),
        ids(|n| format!("g{}/s{n}", n % 100), 1_500),
        ids(|n| format!("x/s{n}"), 1_500),
        ids(|n| format!("skills/s{n}"), 1_500),
        ids(|n| format!("skills/g{}/s{n}", n % 100), 1_500),
        ids(|n| format!("x/g{}/h{}/s{n}", n % 100, n % 500), 1_500),
        ids(chain, 1_000),
        ids(comb, 1_000),
    ] {
        let skills = Skills::new(&ids, usize::MAX, 1, 30);
        check(&skills, 32_768, 32_768);
        check(&skills, 32_768, 40);
        check(&skills, 4_096, 4_096);
    }
}

#[test]
fn a_text_of_the_index_keeps_its_limit() {
    let ids = ids(|n| format!("x/g{}/s{n}", n % 70), 3_000);
    let skills = Skills::new(&ids, usize::MAX, 0, 30);
    let (registered, custom) = (
        Skills::lines(&skills.registered),
        Skills::lines(&skills.custom),
    );
    let index = Index {
        registered: &registered,
        custom: &custom,
        max_bytes: 32_768,
    };
    let mut parts = vec![IndexPart::default()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for part in &parts {
            let read = index.render(part, index.max_bytes).unwrap();
            assert!(
                read.text.len() <= 32_768,
                "{} bytes at {part}",
                read.text.len()
            );
            next.extend(links(&read.text).1);
        }
        parts = next;
    }
}
