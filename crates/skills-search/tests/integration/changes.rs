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

/// A text of words that other texts have as well, and of some that they do not have.
fn some_words(number: usize) -> String {
    let known = (0..9).map(|at| WORDS[number * (at + 3) % WORDS.len()].to_owned());
    let new = (0..3).map(|at| format!("new{}s", number / (at + 1)));
    let long = format!("internationalisation{}", number % 50);
    known.chain(new).chain([long]).collect::<Vec<_>>().join(" ")
}

#[test]
fn many_documents_at_once_are_the_same_as_one_after_the_other() {
    let texts: Vec<String> = (0..700).map(some_words).collect();
    // The last 100 replace documents of the same call.
    let ids: Vec<String> = (0..700)
        .map(|number| format!("d{}", number % 600))
        .collect();
    let bodies: Vec<String> = texts
        .iter()
        .map(|text| format!("# A\n\n{text}\n"))
        .collect();
    let triggers = ["call it"];
    let document = |number: usize| Document {
        group: u8::from(number % 600 > 300),
        id: &ids[number],
        title: texts[number].split(' ').next().unwrap_or_default(),
        description: &texts[(number * 7) % 700],
        triggers: if number.is_multiple_of(100) {
            &triggers
        } else {
            &[]
        },
        body: &bodies[number],
    };
    let documents: Vec<Document<'_>> = (0..700).map(document).collect();
    let (mut one_by_one, mut at_once) = (Index::default(), Index::default());
    for document in &documents {
        one_by_one.insert(document);
    }
    at_once.insert_all(&documents[..40]);
    at_once.insert_all(&documents);
    assert_eq!((one_by_one.len(), at_once.len()), (600, 600));
    let ranked = |index: &Index, text: &str| {
        let ranking = index.rank(&Request {
            limit: 100,
            ..Request::new(text)
        });
        (
            ranking.total,
            ranking.is_relevant,
            ranking.evidence,
            ranking.matches,
        )
    };
    let requests = (0..700).step_by(23).map(some_words);
    let requests =
        requests.chain(["call it", "new20s", "kubernets", "索代", "d650"].map(str::to_owned));
    for text in requests {
        assert_eq!(
            ranked(&at_once, &text),
            ranked(&one_by_one, &text),
            "for {text:?}"
        );
        assert_eq!(
            at_once.completion(&text),
            one_by_one.completion(&text),
            "for {text:?}"
        );
    }
    assert_eq!(
        at_once.completion("internationalis"),
        one_by_one.completion("internationalis")
    );
}
