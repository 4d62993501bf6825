//! No text breaks the index, and no text takes long.

use proptest::prelude::*;
use skills_search::{Document, Index, Request};

use crate::{document, ids, index};

fn check(index: &Index, text: &str) {
    let ranking = index.rank(&Request::new(text));
    let scores: Vec<f32> = ranking.matches.iter().map(|found| found.score).collect();
    assert!(
        scores.iter().all(|score| (0.0..=1.0).contains(score)),
        "{scores:?}"
    );
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(ranking.matches.len() <= ranking.total.min(10));
    assert!(!ranking.is_relevant || ranking.total > 0);
}

proptest! {
    #[test]
    fn any_text_is_indexed_and_ranked(
        texts in prop::collection::vec(any::<String>(), 4),
        request in any::<String>(),
    ) {
        let mut index = index(&[document("a", "Mail", "Send mail to customers.")]);
        index.insert(&Document {
            group: 31,
            id: &texts[0],
            title: &texts[1],
            description: &texts[2],
            triggers: &[&texts[3], &request],
            body: &request,
        });
        check(&index, &request);
        check(&index, &texts[2]);
        prop_assert!(index.remove(31, &texts[0]));
        check(&index, &request);
    }

    #[test]
    fn any_markdown_is_indexed(body in "(#{0,7} ?|```|~~~|- |\n|[a-zA-Zéß搜א०-९ ]{0,9}){0,40}") {
        let mut index = Index::default();
        index.insert(&Document { id: "a", body: &body, ..Document::default() });
        check(&index, &body);
    }
}

#[test]
fn a_mebibyte_of_text_is_ranked() {
    let words: Vec<String> = (0..120_000).map(|n| format!("word{n}")).collect();
    let long = words.join(" ");
    assert!(long.len() > 1 << 20);
    let index = index(&[
        Document {
            body: &long,
            ..document("long", "", "")
        },
        document("mail", "Mail", "Send mail."),
    ]);
    check(&index, &long);
    check(&index, &"mail ".repeat(300_000));
    check(&index, &"x".repeat(1 << 20));
    check(&index, &"搜".repeat(1 << 18));
    assert_eq!(ids(&index, "mail")[0], "mail");
}

/// Random words of one first letter, so that each is compared with each.
fn random_words(numbers: std::ops::Range<u64>) -> String {
    let word = |number: u64| {
        let mut rest = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        let letters = (0..8).map(|_| {
            let letter = char::from(b'a' + (rest % 26) as u8);
            rest /= 26;
            letter
        });
        format!("q{} ", letters.collect::<String>())
    };
    numbers.map(word).collect()
}

#[test]
fn a_request_of_unknown_words_ends_whatever_the_documents_have() {
    let mut index = index(&[document("mail", "Mail", "Send mail.")]);
    for number in 0..40 {
        let id = format!("s{number}");
        let body = random_words(5_000 * number..5_000 * (number + 1));
        index.insert(&Document {
            body: &body,
            ..document(&id, "", "")
        });
    }
    // Also more of them than terms count, the whole that is read, and words as near as they get.
    for count in [1, 100, 26_000, 110_000] {
        check(&index, &random_words(1_000_000..1_000_000 + count));
    }
    let near = random_words(0..26_000).replace('a', "b");
    check(&index, &near);
    assert_eq!(ids(&index, "mial")[0], "mail");
}

#[test]
fn nothing_is_found_for_a_request_without_words() {
    let index = index(&[document("a", "The", "Of the and.")]);
    for text in [
        "",
        " \n",
        "the of and",
        "\0\u{1}\u{1b}[2J\u{202e}",
        "!!! ... 😀",
    ] {
        assert_eq!(ids(&index, text), <[&str; 0]>::default(), "{text:?}");
    }
}

#[test]
fn a_hundred_thousand_documents_with_one_title_are_in_order_of_their_ids() {
    let mut index = Index::default();
    for number in (0..100_000).rev() {
        let id = format!("s{number:06}");
        index.insert(&document(&id, "Send mail", ""));
    }
    let ranking = index.rank(&Request::new("send mail"));
    assert_eq!(ranking.total, 100_000);
    let first: Vec<&str> = ranking.matches.iter().take(3).map(|m| &*m.id).collect();
    assert_eq!(first, ["s000000", "s000001", "s000002"]);
}
