//! Own writes against events, reads and each other: which value stays.

use std::task::{Context, Waker};

use memory_engine::now;
use skills_core::ResourceUri;

use crate::{Work, fixture, poll, row};

#[test]
fn an_acknowledged_write_is_visible_at_once_and_its_event_causes_no_call() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.register("a", "A");
    assert_eq!(fixture.read("a").unwrap(), "A");
    fixture.link.take_called();
    fixture.deliver();
    assert_eq!(fixture.link.take_called(), [""; 0]);
    assert_eq!(fixture.take_changes(), 1);
}

#[test]
fn events_in_the_wrong_order_do_not_bring_back_an_old_value() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.put("skills", "a", &row("a", "old"));
    fixture.memory.put("skills", "a", &row("a", "new"));
    let late = fixture.link.take_event(0).unwrap();
    fixture.deliver();
    now(fixture.registry.apply_state_event(&late)).unwrap();
    assert_eq!(fixture.read("a").unwrap(), "new");
    assert_eq!(fixture.take_changes(), 1);
}

#[test]
fn an_acknowledgement_after_a_later_event_does_not_win() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.by_hand();
    let mut mine: Work = Box::pin(
        fixture
            .registry
            .register_skill("a".parse().unwrap(), "mine".into()),
    );
    assert!(!poll(&mut mine));
    let call = fixture.memory.waiting()[0];
    fixture.memory.apply(call);
    fixture.memory.put("skills", "a", &row("a", "theirs"));
    // Their event comes first, then my acknowledgement.
    let theirs = fixture.link.take_event(1).unwrap();
    let mut applied = Box::pin(fixture.registry.apply_state_event(&theirs));
    assert!(
        applied
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    let read = fixture.memory.waiting()[0];
    fixture.memory.apply(read);
    fixture.memory.acknowledge(read);
    now(applied).unwrap();
    fixture.memory.acknowledge(call);
    assert!(!poll(&mut mine), "it has to read which write was last");
    let read = fixture.memory.waiting()[0];
    fixture.memory.apply(read);
    fixture.memory.acknowledge(read);
    assert!(poll(&mut mine));
    assert_eq!(fixture.read("a").unwrap(), "theirs");
    assert_eq!(fixture.take_changes(), 2);
}

#[test]
fn a_read_that_began_before_my_write_does_not_undo_it() {
    let fixture = fixture();
    fixture.memory.put("skills", "a", &row("a", "old"));
    assert_eq!(fixture.read("a").unwrap(), "old");
    fixture.memory.put("skills", "a", &row("a", "newer"));
    fixture.link.take_event(0).unwrap();
    let event = fixture.link.take_event(0).unwrap();
    fixture.memory.by_hand();
    let mut applied = Box::pin(fixture.registry.apply_state_event(&event));
    assert!(
        applied
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    let read = fixture.memory.waiting()[0];
    fixture.memory.apply(read);
    let mut mine: Work = Box::pin(
        fixture
            .registry
            .register_skill("a".parse().unwrap(), "mine".into()),
    );
    assert!(!poll(&mut mine));
    let write = fixture.memory.waiting()[0];
    fixture.memory.apply(write);
    fixture.memory.acknowledge(write);
    assert!(poll(&mut mine), "no event arrived since it began");
    fixture.memory.acknowledge(read);
    now(applied).unwrap();
    assert_eq!(fixture.read("a").unwrap(), "mine");
}

#[test]
fn writes_of_one_id_are_serialised_and_each_is_published_once() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.by_hand();
    let mut work: Vec<(usize, Work)> = (0..32)
        .map(|n| {
            (
                n,
                fixture
                    .registry
                    .register_skill("a".parse().unwrap(), format!("v{n}")),
            )
        })
        .map(|(n, future)| (n, Box::pin(future) as Work))
        .collect();
    let mut last = None;
    while !work.is_empty() {
        work.retain_mut(|(n, future)| {
            let done = poll(future);
            if done {
                last = Some(*n);
            }
            !done
        });
        assert!(fixture.memory.waiting().len() <= 1, "one write at a time");
        for call in fixture.memory.waiting() {
            fixture.memory.apply(call);
            fixture.memory.acknowledge(call);
        }
    }
    assert_eq!(fixture.read("a").unwrap(), format!("v{}", last.unwrap()));
    assert_eq!(
        fixture.memory.rows("skills")["a"]["skill"],
        format!("v{}", last.unwrap())
    );
    assert_eq!(fixture.take_changes(), 32);
}

#[test]
fn after_a_cancelled_write_the_key_is_read_again() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.memory.by_hand();
    let mut mine: Work = Box::pin(
        fixture
            .registry
            .register_skill("a".parse().unwrap(), "mine".into()),
    );
    assert!(!poll(&mut mine));
    drop(mine);
    fixture.memory.apply(fixture.memory.waiting()[0]);
    let uri: ResourceUri = "iii://a".parse().unwrap();
    let mut read = Box::pin(fixture.registry.read(&uri));
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending());
    for call in fixture.memory.waiting() {
        fixture.memory.apply(call);
        fixture.memory.acknowledge(call);
    }
    assert_eq!(&**now(read).unwrap().text().unwrap(), "mine");
}

#[test]
fn a_late_event_of_an_earlier_write_does_not_publish_the_next_write_twice() {
    let fixture = fixture();
    assert_eq!(fixture.ids(), [""; 0]);
    fixture.register("a", "first");
    let event = fixture.link.take_event(0).unwrap();
    fixture.memory.by_hand();
    let mut second: Work = Box::pin(
        fixture
            .registry
            .register_skill("a".parse().unwrap(), "second".into()),
    );
    assert!(!poll(&mut second));
    let write = fixture.memory.waiting()[0];
    fixture.memory.apply(write);
    let mut applied = Box::pin(fixture.registry.apply_state_event(&event));
    let mut context = Context::from_waker(Waker::noop());
    assert!(applied.as_mut().poll(&mut context).is_pending());
    fixture.memory.acknowledge(write);
    assert!(
        !poll(&mut second),
        "an event arrived: it has to read the key"
    );
    let mut ready = false;
    while !poll(&mut second) {
        for call in fixture.memory.waiting() {
            fixture.memory.apply(call);
            fixture.memory.acknowledge(call);
        }
        ready = ready || applied.as_mut().poll(&mut context).is_ready();
    }
    assert_eq!(fixture.read("a").unwrap(), "second");
    assert_eq!(fixture.take_changes(), 2);
}
