//! Fetching within a budget: for any text and any budget, what is shown is the beginning of the
//! text, the note leads to the rest, and the budget is kept where it can be.

use memory_engine::now;
use proptest::collection::vec;
use proptest::prelude::*;
use skills_core::{FetchOptions, ResourceUri};

use super::{Fixture, fixture};

fn fetch(fixture: &Fixture, uris: &[&str], max_tokens: Option<usize>) -> String {
    let uris: Vec<_> = uris.iter().map(|&uri| uri.to_owned()).collect();
    let options = FetchOptions {
        max_tokens,
        ..FetchOptions::default()
    };
    now(fixture.registry.fetch(None, Some(&uris), options)).unwrap()
}

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        "#{1,4} [A-Za-z0-9 .`]{1,20}",
        "[a-z\u{e9} ]{1,200}",
        Just("```sh\n# no heading\n\nls\n```".to_owned()),
        Just("> # quoted\n> text".to_owned()),
        Just("- a\n- b\n\n  # in a list".to_owned()),
        Just("Setext\n======".to_owned()),
        "[ -~]{1,40}",
    ]
}

#[test]
fn a_section_without_headings_says_what_all_of_it_needs() {
    let fixture = fixture();
    let text = "Many words. ".repeat(200);
    fixture.register(
        "long",
        &format!("# Long\n\n## H3\n\nFirst.\n\n{text}\n\n## H4\n"),
    );
    let got = fetch(&fixture, &["iii://long#h3"], Some(60));
    let note = "[cut: 13 of 2414 bytes are shown; all of iii://long#h3 needs max_tokens 608]";
    assert_eq!(got, format!("# iii://long#h3\n\n## H3\n\nFirst.\n\n{note}"));
    assert_eq!(
        fetch(&fixture, &["iii://long#h3"], Some(608)),
        fetch(&fixture, &["iii://long#h3"], None)
    );
}

#[test]
fn many_small_documents_are_cut_to_the_budget() {
    let fixture = fixture();
    let body = format!("# Small\n\n{}", "Some more words. ".repeat(14));
    let uris: Vec<_> = (0..30).map(|number| format!("iii://s{number}")).collect();
    for uri in &uris {
        fixture.register(&uri["iii://".len()..], &body);
    }
    let uris: Vec<_> = uris.iter().map(String::as_str).collect();
    let whole = fetch(&fixture, &uris, None);
    let notes = fetch(&fixture, &uris, Some(1));
    assert_eq!(notes.matches("[cut: 0 of ").count(), 30, "{notes}");
    for max_tokens in [10, 400, 1000, 1500] {
        let text = fetch(&fixture, &uris, Some(max_tokens));
        assert!(text.len() <= (4 * max_tokens).max(notes.len()), "{text}");
        assert!(text.contains("[cut: "), "{text}");
    }
    assert_eq!(fetch(&fixture, &uris, Some(whole.len().div_ceil(4))), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_cut_text_leads_to_its_rest(
        bodies in vec(vec(block(), 1..20).prop_map(|blocks| blocks.join("\n\n")), 1..4),
        max_tokens in 1_usize..400,
    ) {
        let fixture = fixture();
        let mut uris = Vec::new();
        for (number, body) in bodies.iter().enumerate().filter(|(_, body)| !body.trim().is_empty()) {
            fixture.register(&format!("s{number}"), body);
            uris.push(format!("iii://s{number}"));
        }
        prop_assume!(!uris.is_empty());
        let uris: Vec<_> = uris.iter().map(String::as_str).collect();
        let whole = fetch(&fixture, &uris, None);
        let text = fetch(&fixture, &uris, Some(max_tokens));
        // The addresses and the notes alone, or the texts that are shorter than their notes.
        let least = fetch(&fixture, &uris, Some(1));
        prop_assert!(text.len() <= (4 * max_tokens).max(least.len()), "{}: {text}", text.len());
        if whole.len() <= 4 * max_tokens {
            prop_assert_eq!(&text, &whole);
        }
        for uri in &uris {
            let entry = text.split(&format!("# {uri}\n\n")).nth(1).unwrap();
            let entry = entry.split("\n\n---\n\n# iii://").next().unwrap();
            let body = now(fixture.registry.read(&uri.parse().unwrap())).unwrap();
            let body = body.text().unwrap().trim_end().to_owned();
            if entry.starts_with(&body) {
                continue;
            }
            let at = entry.find("[cut: ").expect("a note");
            prop_assert!(body.starts_with(entry[..at].trim_end()), "{entry}");
            if let Some((_, tokens)) = entry[at..].split_once("needs max_tokens ") {
                let tokens: usize = tokens.trim_end_matches(']').parse().unwrap();
                let all = fetch(&fixture, &[uri], None);
                prop_assert_eq!(fetch(&fixture, &[uri], Some(tokens)), &*all);
                prop_assert!(4 * (tokens - 1) < all.len(), "{entry}");
            }
            if let Some((_, next)) = entry[at..].split_once("read on at ") {
                let next: ResourceUri = next.split(';').next().unwrap().parse().unwrap();
                let rest = now(fixture.registry.read(&next)).unwrap();
                let rest = rest.text().unwrap().trim_end().to_owned();
                prop_assert!(body[entry[..at].trim_end().len()..].trim_start().starts_with(&rest));
            }
        }
    }

    /// An index, a subtree, a page and a table of contents are made of lines.
    #[test]
    fn a_text_of_lines_is_cut_at_a_line(
        skills in 20_usize..60,
        max_tokens in 60_usize..400,
        address in prop::sample::select(vec![
            "iii://skills", "iii://a/", "iii://a/?from=a/s5", "iii://skills?from=a/s5", "iii://long?toc",
        ]),
    ) {
        let fixture = fixture();
        let headings: Vec<_> = (0..60).map(|n| format!("## Heading {n}\n\nText.\n")).collect();
        fixture.register("long", &headings.concat());
        for number in 0..skills {
            fixture.register(&format!("a/s{number}"), "# A title\n\nA description of it.");
        }
        let whole = fetch(&fixture, &[address], None);
        let text = fetch(&fixture, &[address], Some(max_tokens));
        prop_assert!(text.len() <= 4 * max_tokens, "{} bytes: {text}", text.len());
        if text == whole {
            return Ok(());
        }
        let (shown, note) = text.split_once("\n\n[cut: ").expect("something and a note");
        prop_assert!(whole.starts_with(&format!("{shown}\n")), "{text}");
        prop_assert!(shown.lines().count() > 2, "{text}");
        let named = note.split([' ', ';', ']']).find(|word| word.starts_with("iii://"));
        let rest = fetch(&fixture, &[named.expect("an address")], None);
        if let Some((_, next)) = note.split_once("read on at ") {
            prop_assert!(next.contains("?from="), "{note}");
            let is_line = |line: &&str| line.starts_with("- ");
            let (all, read): (Vec<_>, Vec<_>) = (
                whole.lines().filter(is_line).collect(),
                shown.lines().chain(rest.lines()).filter(is_line).collect(),
            );
            prop_assert_eq!(all, read);
        } else {
            prop_assert!(note.contains("max_tokens "), "{note}");
        }
    }

    #[test]
    fn every_heading_of_a_table_of_contents_can_be_read(
        blocks in vec(block(), 1..20),
    ) {
        let fixture = fixture();
        let body = blocks.join("\n\n");
        prop_assume!(!body.trim().is_empty());
        fixture.register("s", &body);
        let toc = now(fixture.registry.read(&"iii://s?toc".parse().unwrap())).unwrap();
        for link in toc.text().unwrap().split("](").skip(1) {
            let Ok(uri) = link.split(')').next().unwrap().parse::<ResourceUri>() else {
                continue;
            };
            let section = now(fixture.registry.read(&uri)).unwrap();
            prop_assert!(body.contains(&**section.text().unwrap()));
        }
    }
}

#[test]
fn a_text_that_is_not_parsed_is_cut_at_lines() {
    let fixture = fixture();
    let deep = ">".repeat(1_000);
    let text = format!("# A\n\nFirst.\n{deep}\n{}", "b\n".repeat(20_000));
    fixture.register("deep", &text);
    let got = fetch(&fixture, &["iii://deep"], Some(60));
    assert!(
        got.starts_with("# iii://deep\n\n# A\n\nFirst.\n\n[cut: 11 of "),
        "{got}"
    );
}
