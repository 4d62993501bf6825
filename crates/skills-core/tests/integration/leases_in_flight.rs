//! Registrations with an owner and a lease that end before they are acknowledged, and those of
//! other instances in between.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use memory_engine::{Memory, now};
use proptest::prelude::*;
use serde_json::json;
use skills_core::SkillRegistration;

use crate::leases::{CLOCK, Instance, entry, instance, leased};
use crate::row;

impl Instance {
    /// The text and the owner of the skill.
    fn owned(&self) -> (String, Option<String>) {
        let skills = now(self.registry.skills()).unwrap().entries;
        let owner = skills[0]
            .lease
            .as_ref()
            .and_then(|lease| lease.owner.clone());
        let text = now(self.registry.read(&"iii://a".parse().unwrap())).unwrap();
        let text = text.text().unwrap().to_string();
        (text, owner.map(|owner| owner.to_string()))
    }
}

/// Registers `skill` over one of `mailer`, ends the process after so many calls, and tells what a
/// new one finds.
fn kill(after: usize, skill: SkillRegistration) -> (String, Option<String>) {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("old", Some("mailer"), Some(500)));
    memory.by_hand();
    let mut write = Box::pin(one.registry.register(skill));
    for _ in 0..after {
        let polled = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "there are fewer calls");
        let call = memory.waiting()[0];
        memory.apply(call);
        memory.acknowledge(call);
    }
    drop(write);
    memory.at_once();
    instance(&memory).owned()
}

#[test]
fn a_process_that_ends_leaves_the_old_owner_or_the_new_one() {
    let next = || leased("new", Some("other"), Some(900));
    let (old, new) = (
        ("old".into(), Some("mailer".into())),
        ("new".into(), Some("other".into())),
    );
    assert_eq!(kill(0, next()), old);
    assert_eq!(kill(1, next()), old);
    assert_eq!(kill(2, next()), new);
    let plain = || leased("new", None, None);
    assert_eq!(kill(0, plain()), old);
    // It ends the lease, with the row or with the next registration.
    assert_eq!(kill(1, plain()), ("new".into(), None));
}

#[test]
fn an_entry_whose_registration_was_cut_off_expires_with_the_lease_that_it_has() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("old", Some("mailer"), Some(500)));
    // The lease of another registration, whose row never came.
    memory.put(
        "skills.leases",
        "skill:a",
        &json!({
            "id": "skill:a",
            "at1": memory.rows("skills.leases")["skill:a"].as_object().unwrap().values().next(),
            "at2": { "ttl_ms": 90_000, "registered_at": "2026-01-01T00:00:00.400Z" },
        }),
    );
    one.deliver();
    CLOCK.set(500);
    assert!(one.lease().unwrap().stale);
    assert!(one.remove_expired());
    assert!(memory.rows("skills").is_empty());
}

#[test]
fn many_registrations_leave_few_leases() {
    let memory = Memory::new();
    let one = instance(&memory);
    for number in 0..100 {
        one.register(leased(&number.to_string(), Some("mailer"), Some(500)));
        let leases = &memory.rows("skills.leases")["skill:a"];
        assert!(leases.as_object().unwrap().len() <= 10, "{leases}");
        assert!(one.lease().is_some());
    }
    now(one.registry.unregister_skill(&"a".parse().unwrap())).unwrap();
    one.register(leased("A", None, None));
    assert_eq!(one.lease(), None);
}

#[test]
fn a_lease_of_the_layout_before_is_read_and_ends() {
    let memory = Memory::new();
    memory.put("skills", "a", &row("a", "A"));
    let lease = json!({ "id": "skill:a", "owner": "mailer", "registered_at": "then" });
    memory.put("skills.leases", "skill:a", &lease);
    let one = instance(&memory);
    assert_eq!(one.owned(), ("A".into(), Some("mailer".into())));
    one.register(leased("B", Some("other"), None));
    assert_eq!(one.owned(), ("B".into(), Some("other".into())));
    one.register(leased("C", None, None));
    assert_eq!(one.owned(), ("C".into(), None));
}

/// What ends the lease of the skill.
#[derive(Clone, Copy, Debug)]
enum End {
    Expire,
    Unregister,
    /// A registration without a lease.
    Replace,
}

impl End {
    async fn run(self, instance: &Instance) {
        match self {
            Self::Expire => {
                instance.registry.remove_expired(&entry()).await.unwrap();
            }
            Self::Unregister => {
                let id = "a".parse().unwrap();
                instance.registry.unregister_skill(&id).await.unwrap();
            }
            Self::Replace => {
                let plain = leased("plain", None, None);
                instance.registry.register(plain).await.unwrap();
            }
        }
    }
}

/// Two instances end the lease, in an order of calls.
fn end_twice(ends: [End; 2], compares: bool, order: &[usize]) {
    let memory = Memory::new();
    memory.compare(compares);
    CLOCK.set(0);
    let both = [0, 1].map(|_| instance(&memory));
    both[0].register(leased("old", Some("mailer"), Some(500)));
    both.iter().for_each(Instance::deliver);
    CLOCK.set(500);
    memory.by_hand();
    let works = both.iter().zip(ends);
    let mut works: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = works
        .map(|(instance, end)| Box::pin(end.run(instance)) as _)
        .collect();
    let mut order = order.iter().copied().chain(std::iter::repeat(0));
    while !works.is_empty() {
        works.retain_mut(|work| {
            let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            polled.is_pending()
        });
        let waiting = memory.waiting();
        if let Some(&call) = waiting.get(order.next().unwrap_or(0) % waiting.len().max(1)) {
            memory.apply(call);
            memory.acknowledge(call);
        }
    }
    drop(works);
    memory.at_once();
    let left = memory.rows("skills.leases");
    assert!(left.is_empty(), "{ends:?}, compares: {compares}: {left:?}");
}

#[test]
fn two_instances_that_end_a_lease_leave_no_row() {
    for ends in [
        [End::Expire, End::Expire],
        [End::Expire, End::Unregister],
        [End::Unregister, End::Replace],
        [End::Replace, End::Replace],
    ] {
        for compares in [true, false] {
            // Every order of the first calls.
            for bits in 0..1_u32 << 10 {
                let order: Vec<_> = (0..10).map(|at| usize::from(bits >> at & 1 == 1)).collect();
                end_twice(ends, compares, &order);
            }
        }
    }
}

type Work = Pin<Box<dyn Future<Output = bool>>>;

/// Two instances register the skill with different owners, in any order of calls.
fn race(order: &[usize]) {
    let memory = Memory::new();
    let both = [0, 1].map(|_| std::rc::Rc::new(instance(&memory)));
    memory.by_hand();
    let mut work: Vec<Work> = both
        .iter()
        .zip(["one", "two"])
        .map(|(instance, name)| {
            let instance = std::rc::Rc::clone(instance);
            let skill = leased(name, Some(name), Some(60_000));
            Box::pin(async move { instance.registry.register(skill).await.is_ok() }) as Work
        })
        .collect();
    let mut order = order.iter().copied().chain(std::iter::repeat(0));
    while !work.is_empty() {
        let at = order.next().unwrap_or(0) % work.len();
        let polled = work[at]
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(done) = polled {
            assert!(done);
            drop(work.remove(at));
        }
        let waiting = memory.waiting();
        if let Some(&call) = waiting.get(order.next().unwrap_or(0) % waiting.len().max(1)) {
            memory.apply(call);
            memory.acknowledge(call);
        }
    }
    memory.at_once();
    for one in &both {
        one.deliver();
        let (text, owner) = one.owned();
        assert_eq!(Some(text), owner, "the owner belongs to the text");
    }
    assert!(!now(both[0].registry.remove_expired(&entry())).unwrap());
}

proptest! {
    #[test]
    fn of_two_instances_the_later_row_has_its_own_owner(
        order in prop::collection::vec(0_usize..2, 0..24),
    ) {
        race(&order);
    }
}
