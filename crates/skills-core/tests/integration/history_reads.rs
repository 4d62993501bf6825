//! Reading versions: how many rows are read, and by an instance without the event of a change.

use memory_engine::{Memory, now};
use serde_json::json;

use crate::history::{Instance, id, instance};
use crate::row;

/// The text of a version, and how many calls of state it took.
fn read(one: &Instance, version: u64) -> (String, usize) {
    one.link.take_called();
    let text = one.read(&format!("iii://a@{version}"));
    let calls = one.link.take_called();
    assert!(calls.iter().all(|call| call == "state::get"), "{calls:?}");
    let text = text.unwrap_or_else(|error| format!("{:?}", error.kind()));
    (text, calls.len())
}

#[test]
fn a_version_that_is_named_by_its_number_takes_two_reads_at_most() {
    let memory = Memory::new();
    let one = instance(&memory, 20);
    for number in 1..=25 {
        one.register(&format!("text {number}"));
    }
    for number in 6..=25 {
        // The first row tells how long the ring is, and has versions itself.
        let reads = if number % 20 == 1 { 1 } else { 2 };
        let expected = (format!("text {number}"), reads);
        assert_eq!(read(&one, number), expected, "version {number}");
    }
    one.link.take_called();
    one.heads();
    assert_eq!(one.link.take_called().len(), 20, "all versions");
    // Only all versions tell which there are.
    assert_eq!(read(&one, 5), ("NotFound".into(), 22));
}

#[test]
fn a_version_of_a_ring_with_another_length_is_found_and_not_more_than_is_listed() {
    let memory = Memory::new();
    let short = instance(&memory, 3);
    for number in 1..=7 {
        short.register(&format!("text {number}"));
    }
    let long = instance(&memory, 20);
    long.register("text 8");
    // Written to the shorter ring: its row is not where the longer one has it.
    assert_eq!(read(&long, 6).0, "text 6");
    assert_eq!(read(&long, 8), ("text 8".into(), 2));
    short.deliver();
    assert_eq!(read(&short, 6).0, "text 6");
    assert_eq!(read(&short, 5).0, "NotFound", "it keeps three");
    let off = instance(&memory, 0);
    assert_eq!(read(&off, 8), ("text 8".into(), 2));
}

#[test]
fn an_instance_that_was_not_told_of_a_change_lists_what_is_stored() {
    let memory = Memory::new();
    let [one, two] = [instance(&memory, 1), instance(&memory, 1)];
    one.register("A");
    two.deliver();
    assert_eq!(two.history(), ["1:register*"]);
    one.register("B");
    assert_eq!(two.history(), ["2:register*"]);
}

#[test]
fn the_current_version_of_an_instance_that_was_not_told_of_a_change_is_the_newest() {
    let memory = Memory::new();
    let [one, two] = [instance(&memory, 20), instance(&memory, 20)];
    one.register("A");
    assert_eq!(two.history(), ["1:register*"]);
    two.deliver();
    one.register("B");
    assert_eq!(two.history(), ["1:register", "2:register*"]);
    one.unregister();
    let all = ["1:register", "2:register", "3:unregister"];
    assert_eq!(two.history(), all);
    two.deliver();
    one.register("C");
    assert_eq!(two.history()[3], "4:register*");
    // What it was told of costs no second read.
    two.deliver();
    two.link.take_called();
    two.heads();
    assert_eq!(two.link.take_called().len(), 20);
}

#[test]
fn after_the_greatest_number_there_is_no_version_and_no_panic() {
    let greatest = u64::MAX;
    for place in [0, 14] {
        let memory = Memory::new();
        let text = row("a", "last");
        let digest = skills_core::Digest::of(b"last").to_string();
        let version = json!({
            "id": "a", "version": greatest, "of": 20, "at": "then", "op": "register",
            "digest": digest, "bytes": 4, "row": text,
        });
        memory.put("skills.versions", "a@0", &json!({ "ring20": true }));
        let versions = json!({ format!("v{greatest}"): [version], "ring20": true });
        memory.put("skills.versions", &format!("a@{place}"), &versions);
        memory.put("skills", "a", &row("a", "other"));
        for keep in [20, 1, 0] {
            let one = instance(&memory, keep);
            let newest = &one.heads()[0];
            assert_eq!((newest.version, newest.current), (greatest, true), "{keep}");
            let read = one.read(&format!("iii://a@{greatest}"));
            assert!(read.is_ok(), "{keep}: {read:?}");
            now(one.registry.collect_history(true)).unwrap();
        }
        let one = instance(&memory, 20);
        let refused = now(one.registry.register_skill(id(), "next".into())).unwrap_err();
        assert_eq!(memory.rows("skills")["a"], row("a", "other"));
        let cause = std::error::Error::source(&refused).unwrap().to_string();
        assert!(
            cause.contains("has the greatest number that there is"),
            "{cause}"
        );
        memory.put("skills", "a", &text);
        one.deliver();
        now(one.registry.unregister_skill(&id())).unwrap_err();
    }
}
