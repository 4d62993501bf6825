//! The search index follows the registry: own writes, events, reloads, outages.

use std::task::{Context, Poll, Waker};

use memory_engine::{Memory, now};
use serde_json::{Value, json};
use skills_core::{Kind, Origin, ResourceUri, Routing, Search};

use crate::{Fixture, fixture, fixture_on};

fn row(id: &str, body: &str) -> Value {
    json!({ "id": id, "skill": body, "registered_at": "t" })
}

fn search(fixture: &Fixture, text: &str) -> Result<Vec<String>, Kind> {
    let search = Search {
        text,
        ..Search::default()
    };
    let found = now(fixture.registry.search(&search)).map_err(|error| error.kind())?;
    Ok(found
        .matches
        .iter()
        .map(|found| found.id.to_string())
        .collect())
}

#[test]
fn own_writes_and_events_are_found_by_the_next_search() {
    let fixture = fixture();
    assert_eq!(search(&fixture, "mail").unwrap(), <[&str; 0]>::default());
    fixture.register("a", "# Mail");
    assert_eq!(search(&fixture, "mail").unwrap(), ["a"]);
    fixture.memory.put("skills", "b", &row("b", "# Mails"));
    fixture.deliver();
    assert_eq!(search(&fixture, "mail").unwrap(), ["a", "b"]);
    fixture.memory.put("skills", "a", &row("a", "# Invoices"));
    fixture.deliver();
    assert_eq!(search(&fixture, "mail").unwrap(), ["b"]);
    fixture.memory.put("skills", "b", &json!({ "id": "b" }));
    fixture.deliver();
    assert_eq!(search(&fixture, "mail").unwrap(), <[&str; 0]>::default());
    now(fixture.registry.unregister_skill(&"a".parse().unwrap())).unwrap();
    assert_eq!(search(&fixture, "invoice").unwrap(), <[&str; 0]>::default());
}

#[test]
fn without_events_every_search_reads_the_scope() {
    let memory = Memory::new();
    let fixture = fixture_on(&memory, false);
    memory.put("skills", "a", &row("a", "# Mail"));
    assert_eq!(search(&fixture, "mail").unwrap(), ["a"]);
    memory.put("skills", "a", &row("a", "# Invoices"));
    assert_eq!(search(&fixture, "mail").unwrap(), <[&str; 0]>::default());
    assert_eq!(search(&fixture, "invoice").unwrap(), ["a"]);
}

/// Other tasks run between the pieces, and a search that is dropped leaves the rest to the next.
#[test]
fn a_large_first_index_is_made_in_pieces() {
    let fixture = fixture();
    for n in 0..800 {
        fixture.register(&format!("s{n}"), "# Mail");
    }
    let search = Search {
        text: "mail",
        ..Search::default()
    };
    let mut context = Context::from_waker(Waker::noop());
    let mut dropped = Box::pin(fixture.registry.search(&search));
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    drop(dropped);
    let mut next = Box::pin(fixture.registry.search(&search));
    let mut polls = 0;
    let found = loop {
        polls += 1;
        if let Poll::Ready(found) = next.as_mut().poll(&mut context) {
            break found.unwrap();
        }
    };
    assert_eq!(found.total, 800);
    assert!((2..10).contains(&polls), "{polls}");
}

#[test]
fn an_outage_is_an_error_and_never_an_empty_result() {
    let fixture = fixture();
    fixture.register("a", "# Mail");
    assert_eq!(search(&fixture, "mail").unwrap(), ["a"]);
    fixture.registry.disconnected();
    fixture.link.cut();
    assert_eq!(search(&fixture, "mail").unwrap_err(), Kind::Unavailable);
    fixture.memory.put("skills", "b", &row("b", "# Mail"));
    fixture.link.mend();
    fixture.registry.connected(true);
    assert_eq!(search(&fixture, "mail").unwrap(), ["a", "b"]);
}

#[test]
fn every_match_is_on_exactly_one_page() {
    let fixture = fixture();
    for number in 0..25 {
        fixture.register(&format!("s{number:02}"), "# Mail");
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let search = Search {
            text: "mail",
            cursor: cursor.as_deref(),
            ..Search::default()
        };
        let page = now(fixture.registry.search(&search)).unwrap();
        assert_eq!(page.total, 25);
        seen.extend(page.matches.into_iter().map(|found| found.id.to_string()));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    let all: Vec<String> = (0..25).map(|number| format!("s{number:02}")).collect();
    assert_eq!(seen, all);
}

#[test]
fn titles_triggers_and_slugs_of_any_length_are_shown_short() {
    let fixture = fixture();
    let title = "mail ".repeat(40_000);
    let triggers: Vec<String> = (0..3_000)
        .map(|n| format!("mail {}", "a".repeat(n / 1_000)))
        .collect();
    let triggers = triggers.join(", ");
    fixture.register(
        "a",
        &format!(
            "---\ntriggers: {triggers}, {}\n---\n# {title}\n",
            "mail ".repeat(100)
        ),
    );
    let found = now(fixture.registry.route("mail a aa", None)).unwrap();
    let found = &found.matches[0];
    assert_eq!(found.title.chars().count(), 143);
    assert!(found.title.ends_with("..."));
    assert!((1..=10).contains(&found.matched.len()));
    assert!(
        found
            .matched
            .iter()
            .all(|trigger| trigger.chars().count() <= 143)
    );
    for uri in ["skills", "skills?from=a", "a?toc"] {
        let text = fixture.read(uri).unwrap();
        assert!(text.len() < 1_000, "{uri}: {} bytes", text.len());
    }
    let address = |slug: usize| format!("iii://a#{}", "x".repeat(slug));
    let too_long = address(100_000).parse::<ResourceUri>().unwrap_err();
    let longest = now(fixture.registry.read(&address(1_024).parse().unwrap())).unwrap_err();
    for error in [too_long, longest] {
        assert!(error.to_text().len() < 1_000, "{}", error.to_text().len());
    }
}

#[test]
fn advice_names_what_narrowed_the_search() {
    let fixture = fixture();
    fixture.register("a", "# Mail");
    let advice = |prefix, origin| {
        let search = Search {
            text: "mail",
            prefix,
            origin,
            ..Search::default()
        };
        now(fixture.registry.search(&search))
            .unwrap()
            .advice
            .unwrap_or_default()
    };
    assert_eq!(advice("", None), "");
    assert!(advice("b/", None).contains("or without `prefix`,"));
    assert!(advice("", Some(Origin::Fs)).contains("or without `origin`,"));
    assert!(advice("b/", Some(Origin::Fs)).contains("or without `prefix` and `origin`,"));
    let error = now(fixture.registry.route("mail", Some(101))).unwrap_err();
    assert!(!error.to_text().contains("cursor"), "{}", error.to_text());
}

#[test]
fn an_index_without_a_line_says_that_there_are_skills() {
    let fixture = fixture();
    fixture.register("man/a", "---\nvisibility: manual\n---\n# A");
    let index = fixture.read("skills").unwrap();
    assert!(
        index.ends_with("Those that can be read are in the list of skills.\n"),
        "{index}"
    );
    let error = now(fixture.registry.read(&"iii://man/".parse().unwrap())).unwrap_err();
    assert!(
        error.to_text().contains("did you mean `iii://man/a`?"),
        "{}",
        error.to_text()
    );
}

#[test]
fn a_trigger_wins_and_an_irrelevant_request_gets_no_answer() {
    let fixture = fixture();
    fixture.register(
        "a",
        "---\ntriggers: ship it\n---\n# Deploy\n\nRelease a service.",
    );
    fixture.register("b", "# Ship it\n\nShip it, ship it.");
    let route = |text: &str| -> Routing { now(fixture.registry.route(text, None)).unwrap() };
    let routing = route("now ship it");
    assert_eq!(&*routing.matches[0].id, "a");
    assert_eq!(&*routing.matches[0].matched[0], "ship it");
    let routing = route("a poem about the sea");
    assert!(routing.abstained && routing.matches.is_empty());
    assert!(routing.advice.unwrap().contains("skill__list"));
}
