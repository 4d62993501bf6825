//! The result depends on the documents, not on the changes that led to them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use skills_search::{Document, Index, Request};

/// Words that share stems, parts and triggers.
const WORDS: &[&str] = &[
    "mail",
    "mails",
    "sendMail",
    "deploy",
    "deployed",
    "the",
    "grep",
    "code",
    "kubernetes",
    "搜索代码",
    "שלום",
    "Café",
    "x9",
    "invoice",
    "weather",
];

#[derive(Clone, Debug)]
enum Change {
    Insert(u8, String, Vec<String>),
    Remove(u8),
}

fn text(words: usize) -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..words);
    words.prop_map(|words| words.join(" "))
}

fn change() -> impl Strategy<Value = Change> {
    let insert = (0..6_u8, text(12), prop::collection::vec(text(3), 0..3));
    prop_oneof![
        3 => insert.prop_map(|(id, body, triggers)| Change::Insert(id, body, triggers)),
        1 => (0..6_u8).prop_map(Change::Remove),
    ]
}

fn insert(index: &mut Index, id: u8, body: &str, triggers: &[String]) {
    let triggers: Vec<&str> = triggers.iter().map(String::as_str).collect();
    index.insert(&Document {
        group: id % 2,
        id: &format!("d{id}"),
        title: body.split(' ').next().unwrap_or_default(),
        description: body,
        triggers: &triggers,
        body: &format!("# {body}\n\n{body} {body}\n"),
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn changes_lead_to_the_index_of_what_is_left(
        changes in prop::collection::vec(change(), 0..40),
        request in text(6),
    ) {
        let mut changed = Index::default();
        let mut left = BTreeMap::new();
        for change in changes {
            match change {
                Change::Insert(id, body, triggers) => {
                    insert(&mut changed, id, &body, &triggers);
                    left.insert(id, (body, triggers));
                }
                Change::Remove(id) => {
                    let was = changed.remove(id % 2, &format!("d{id}"));
                    prop_assert_eq!(was, left.remove(&id).is_some());
                }
            }
        }
        let mut built = Index::default();
        for (id, (body, triggers)) in left.iter().rev() {
            insert(&mut built, *id, body, triggers);
        }
        prop_assert_eq!(changed.len(), left.len());
        let (changed, built) = (changed.rank(&Request::new(&request)), built.rank(&Request::new(&request)));
        prop_assert_eq!(changed.matches, built.matches);
        prop_assert_eq!(changed.total, built.total);
        prop_assert_eq!(changed.is_relevant, built.is_relevant);
    }
}

#[test]
fn thousands_of_changes_to_few_documents_leave_them_findable() {
    let mut index = Index::default();
    for change in 0..5_000_u32 {
        let id = format!("d{}", change % 7);
        let body = format!("common word{change}");
        index.insert(&Document {
            id: &id,
            body: &body,
            triggers: &["call it"],
            ..Document::default()
        });
    }
    assert_eq!(index.len(), 7);
    let ranking = index.rank(&Request::new("common"));
    assert_eq!(ranking.total, 7);
    assert_eq!(index.rank(&Request::new("please call it")).total, 7);
    assert_eq!(&*index.rank(&Request::new("word4999")).matches[0].id, "d1");
    assert!(index.rank(&Request::new("word3")).matches.is_empty());
}
