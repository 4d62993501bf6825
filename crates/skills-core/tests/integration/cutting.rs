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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_cut_text_leads_to_its_rest(
        bodies in vec(vec(block(), 1..20).prop_map(|blocks| blocks.join("\n\n")), 1..4),
        max_tokens in 1_usize..400,
    ) {
        let fixture = fixture();
        let mut uris = Vec::new();
        let mut least = 0;
        for (number, body) in bodies.iter().enumerate().filter(|(_, body)| !body.trim().is_empty()) {
            fixture.register(&format!("s{number}"), body);
            uris.push(format!("iii://s{number}"));
            // A heading, a note and a separator.
            least += 320;
        }
        prop_assume!(!uris.is_empty());
        let uris: Vec<_> = uris.iter().map(String::as_str).collect();
        let whole = fetch(&fixture, &uris, None);
        let text = fetch(&fixture, &uris, Some(max_tokens));
        prop_assert!(text.len() <= (4 * max_tokens).max(least), "{} bytes: {text}", text.len());
        if whole.len() <= 4 * max_tokens - 4 {
            prop_assert_eq!(&text, &whole);
        }
        for uri in &uris {
            let entry = text.split(&format!("# {uri}\n\n")).nth(1).unwrap();
            let body = now(fixture.registry.read(&uri.parse().unwrap())).unwrap();
            let body = body.text().unwrap().trim_end().to_owned();
            if entry.starts_with(&body) {
                continue;
            }
            let at = entry.find("[cut: ").expect("a note");
            prop_assert!(body.starts_with(entry[..at].trim_end()), "{entry}");
            if let Some((_, next)) = entry[at..].split_once("read on at ") {
                let next: ResourceUri = next.split(';').next().unwrap().parse().unwrap();
                let rest = now(fixture.registry.read(&next)).unwrap();
                let rest = rest.text().unwrap().trim_end().to_owned();
                prop_assert!(body[entry[..at].trim_end().len()..].trim_start().starts_with(&rest));
            }
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
