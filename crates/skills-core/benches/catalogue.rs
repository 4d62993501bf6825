//! A loaded registry with 10,000 skills: lists, the index and reads, for two sizes of body
//! (the figures must not grow with the size); and the head of a large document.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use divan::{Bencher, black_box};
use memory_engine::{Memory, now};
use serde_json::json;
use skills_core::{Head, Registry, RegistrySettings, ResourceUri, Search};

const SKILLS: usize = 10_000;
const BODY_BYTES: [usize; 2] = [2048, 32_768];

fn main() {
    divan::main();
}

fn document(number: usize, bytes: usize) -> String {
    let mut text = format!("# Skill {number}\n\nWhen to use tool number {number} and why.\n\n");
    while text.len() < bytes {
        text.push_str("A paragraph with `code`, *emphasis* and a [link](iii://skills).\n\n");
    }
    text.truncate(bytes);
    text
}

fn registry(bytes: usize) -> Registry {
    let memory = Memory::new();
    for number in 0..SKILLS {
        let id = format!("group-{}/skill-{number}", number % 100);
        let body = document(number, bytes);
        let row = json!({ "id": id, "skill": body, "registered_at": "2026-01-01T00:00:00.000Z" });
        memory.put("skills", &id, &row);
    }
    let link = memory.connect();
    let registry = Registry::new(link, Vec::new(), RegistrySettings::default(), || {
        "now".into()
    });
    registry.connected(true);
    now(registry.load()).expect("the engine is in memory");
    now(registry.read(&ResourceUri::Index)).expect("the engine is in memory");
    registry
}

#[divan::bench(args = BODY_BYTES)]
fn list(bencher: Bencher<'_, '_>, bytes: usize) {
    let registry = registry(bytes);
    bencher.bench(|| now(registry.skills()).map(|listing| listing.entries.len()));
}

#[divan::bench(args = BODY_BYTES)]
fn resources(bencher: Bencher<'_, '_>, bytes: usize) {
    let registry = registry(bytes);
    bencher.bench(|| now(registry.resources()).map(|list| list.len()));
}

#[divan::bench(args = BODY_BYTES)]
fn index(bencher: Bencher<'_, '_>, bytes: usize) {
    let registry = registry(bytes);
    bencher.bench(|| {
        now(registry.read(&ResourceUri::Index)).map(|content| content.text().map(|text| text.len()))
    });
}

#[divan::bench(args = BODY_BYTES)]
fn read(bencher: Bencher<'_, '_>, bytes: usize) {
    let registry = registry(bytes);
    let uri: ResourceUri = "iii://group-7/skill-7".parse().expect("an address");
    bencher.bench(|| now(registry.read(&uri)).map(|content| content.text().map(|text| text.len())));
}

/// One write and a read of the index. Target: under 5 ms.
#[divan::bench]
fn index_after_one_change(bencher: Bencher<'_, '_>) {
    let registry = registry(2048);
    let changes = std::cell::Cell::new(0_usize);
    bencher.bench_local(|| {
        changes.set(changes.get() + 1);
        let body = document(changes.get(), 2048);
        let id = "group-7/skill-7".parse().expect("an id");
        now(registry.register_skill(id, body)).expect("the engine is in memory");
        now(registry.read(&ResourceUri::Index)).map(|content| content.text().map(|text| text.len()))
    });
}

const REQUEST: &str = "how do I use a tool with code and a link, and why";

fn search(registry: &Registry) -> usize {
    let search = Search {
        text: REQUEST,
        ..Search::default()
    };
    // While everything is indexed, it gives way to other requests, of which there are none here.
    let mut found = pin!(registry.search(&search));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(found) = found.as_mut().poll(&mut context) {
            return found.map_or(0, |found| found.total);
        }
    }
}

/// Target: under 1 ms.
#[divan::bench]
fn search_10_000(bencher: Bencher<'_, '_>) {
    let registry = registry(2048);
    search(&registry);
    bencher.bench(|| search(&registry));
}

/// Target: under 1 ms.
#[divan::bench]
fn route_10_000(bencher: Bencher<'_, '_>) {
    let registry = registry(2048);
    search(&registry);
    bencher.bench(|| now(registry.route(REQUEST, None)).map(|routing| routing.matches.len()));
}

/// The first search, which indexes everything.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn first_search(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| registry(2048))
        .bench_values(|registry| {
            search(&registry);
            registry
        });
}

/// One write: alone, and with a search after it. The difference to a search without a write is the
/// cost of the index. Target: at most that of the write.
#[divan::bench(args = ["write", "write and search"])]
fn one_change(bencher: Bencher<'_, '_>, what: &str) {
    let registry = registry(2048);
    search(&registry);
    let changes = std::cell::Cell::new(0_usize);
    bencher.bench_local(|| {
        changes.set(changes.get() + 1);
        let body = document(changes.get(), 2048);
        let id = "group-7/skill-7".parse().expect("an id");
        now(registry.register_skill(id, body)).expect("the engine is in memory");
        if what != "write" {
            search(&registry);
        }
    });
}

/// Target: under 2 ms, even if every line of the document has to be examined.
#[divan::bench(args = ["ordinary", "no title", "no paragraph"])]
fn head_of_256_kib(bencher: Bencher<'_, '_>, shape: &str) {
    let filler = document(1, 262_144);
    let text: Arc<str> = match shape {
        "no title" => filler.replace("# Skill", "## Skill").into(),
        "no paragraph" => format!(
            "# T\n\n{}",
            "- item with `code` and a [link](iii://x)\n".repeat(6400)
        )
        .into(),
        _ => filler.into(),
    };
    bencher.bench(|| Head::of(black_box(&text)));
}
