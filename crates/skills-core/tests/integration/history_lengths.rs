//! Instances that keep different numbers of versions write the same skill. Numbers only grow, and
//! each of them finds the last versions that it keeps.

use std::collections::BTreeMap;

use memory_engine::Memory;
use proptest::prelude::*;
use serde_json::json;

use crate::history::{Instance, instance};
use crate::row;

const LENGTHS: [usize; 6] = [1, 2, 3, 5, 8, 13];

/// Who changes the skill, how often, how many versions it keeps then if it starts anew, and whether
/// it removes the skill after each change.
type Step = (usize, usize, Option<usize>, bool);

/// What must be there.
#[derive(Default)]
struct Expected {
    newest: u64,
    /// How many versions the longest ring keeps.
    longest: u64,
    texts: BTreeMap<u64, String>,
}

impl Expected {
    fn register(&mut self, who: &Instance, keep: usize) {
        self.newest += 1;
        let text = format!("text {}", self.newest);
        who.register(&text);
        self.texts.insert(self.newest, text);
        self.longest = self.longest.max(keep as u64);
        while self.texts.len() as u64 > self.longest {
            self.texts.pop_first();
        }
    }

    fn unregister(&mut self, who: &Instance) {
        assert!(who.unregister());
        self.newest += 1;
    }

    #[track_caller]
    fn check(&self, who: &Instance, keep: usize) {
        let numbers: Vec<_> = who.heads().iter().rev().map(|head| head.version).collect();
        assert_eq!(numbers.last(), Some(&self.newest), "{numbers:?}");
        let heads = who.heads();
        let texts = heads.iter().filter(|head| head.digest.is_some()).count();
        assert!(texts <= keep, "{numbers:?}");
        for (number, text) in self.texts.iter().rev().take(keep) {
            assert!(numbers.contains(number), "{number} is not in {numbers:?}");
            assert_eq!(who.read(&format!("iii://a@{number}")).unwrap(), *text);
        }
    }
}

fn run(first: [usize; 3], steps: &[Step]) {
    let memory = Memory::new();
    let mut instances = first.map(|keep| (instance(&memory, keep), keep));
    let mut expected = Expected::default();
    for &(who, changes, restart, removes) in steps {
        if let Some(keep) = restart {
            instances[who] = (instance(&memory, keep), keep);
        }
        let (one, keep) = &instances[who];
        for _ in 0..changes {
            expected.register(one, *keep);
            if removes {
                expected.unregister(one);
            }
        }
        if expected.newest > 0 {
            for (one, keep) in &instances {
                one.deliver();
                expected.check(one, *keep);
            }
        }
    }
    let rows = memory.rows("skills.versions").len() as u64;
    assert!(rows <= expected.longest, "{rows} rows");
}

#[track_caller]
fn check(steps: &[(usize, usize)]) {
    let memory = Memory::new();
    let mut expected = Expected::default();
    for &(keep, changes) in steps {
        let one = instance(&memory, keep);
        for _ in 0..changes {
            expected.register(&one, keep);
        }
        expected.check(&one, keep);
    }
    for keep in LENGTHS {
        expected.check(&instance(&memory, keep), keep);
    }
}

#[test]
fn numbers_go_on_whatever_number_of_versions_is_kept() {
    check(&[(20, 25), (100, 10), (20, 1), (100, 3)]);
    check(&[(5, 12), (20, 7), (5, 3)]);
    check(&[(2, 5), (100, 9), (2, 1), (100, 120)]);
    check(&[(1, 3), (20, 3), (1, 3), (20, 30)]);
}

/// A row as the release before this one wrote it.
fn stored(version: u64, of: u64) -> (String, serde_json::Value) {
    let second = version % 60;
    let text = format!("text {version}");
    let at = format!("2025-01-01T00:{:02}:{second:02}Z", version / 60);
    let digest = skills_core::Digest::of(text.as_bytes()).to_string();
    let row = json!({ "id": "a", "skill": text, "registered_at": at });
    let stored = json!({
        "id": "a", "version": version, "of": of, "at": at, "op": "register",
        "digest": digest, "bytes": text.len(), "row": row,
    });
    let key = format!("a@{}", (version - 1) % of);
    (key, json!({ format!("v{version}"): [stored] }))
}

#[test]
fn rings_without_a_length_are_read_and_go_on() {
    #[track_caller]
    fn check(written: &[(u64, std::ops::RangeInclusive<u64>)], keep: usize, expected: &[u64]) {
        let memory = Memory::new();
        let mut newest = 0;
        for (of, versions) in written {
            for version in versions.clone() {
                let (key, row) = stored(version, *of);
                memory.put("skills.versions", &key, &row);
                newest = version;
            }
        }
        memory.put("skills", "a", &row("a", &format!("text {newest}")));
        let numbers = |one: &Instance| -> Vec<_> {
            one.heads().iter().rev().map(|head| head.version).collect()
        };
        let one = instance(&memory, keep);
        assert_eq!(numbers(&one), expected);
        one.register("next");
        assert_eq!(numbers(&one).last(), Some(&(newest + 1)));
        for number in &expected[1..] {
            let text = one.read(&format!("iii://a@{number}")).unwrap();
            assert_eq!(text, format!("text {number}"));
        }
        // From now on its length is known.
        let two = instance(&memory, 2);
        two.link.take_called();
        let _ = numbers(&two);
        let reads = two.link.take_called().len() as u64;
        let longest = written.iter().map(|(of, _)| *of).max().unwrap();
        assert_eq!(reads, longest.max(keep as u64), "rows are read");
    }
    check(&[(5, 1..=3)], 5, &[1, 2, 3]);
    check(&[(5, 4..=8)], 3, &[6, 7, 8]);
    // What another process added to rows that this one did not look at.
    check(&[(20, 6..=25), (100, 26..=35)], 4, &[32, 33, 34, 35]);
    check(&[(2, 1..=2), (100, 3..=9)], 2, &[8, 9]);
}

#[test]
fn a_longer_ring_costs_its_first_change_more_and_no_other() {
    let memory = Memory::new();
    let short = instance(&memory, 5);
    for body in 0..7 {
        short.register(&body.to_string());
    }
    let long = instance(&memory, 20);
    // What the shorter ring left in a row is removed when the row is written.
    for body in 0..40 {
        long.register(&format!("first {body}"));
    }
    for one in [&long, &short, &instance(&memory, 3)] {
        one.deliver();
        one.register(&format!("more of {:p}", one.link));
        for body in 0..50 {
            one.link.take_called();
            one.register(&format!("{body} of {:p}", one.link));
            assert_eq!(one.link.take_called(), ["state::set", "state::update"]);
        }
    }
    assert_eq!(memory.rows("skills.versions").len(), 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_number_goes_back_and_the_last_versions_are_kept(
        first in prop::array::uniform3(prop::sample::select(&LENGTHS[..])),
        steps in prop::collection::vec(
            (
                0_usize..3,
                0_usize..30,
                prop::option::of(prop::sample::select(&LENGTHS[..])),
                any::<bool>(),
            ),
            1..12,
        ),
    ) {
        run(first, &steps);
    }
}
