//! Leases, alone and with another instance on the same engine.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use memory_engine::{Link, Memory, now};
use serde_json::json;
use skills_core::{
    Change, EntryName, ExpirySchedule, Failure, Kind, LeaseHead, LeaseTerms, Registry,
    SkillRegistration, Ttl,
};

use crate::{row, without_history};

thread_local! {
    /// Milliseconds of the clock of this test.
    pub static CLOCK: Cell<u64> = const { Cell::new(0) };
}

/// Each reading is a microsecond later, as on a real clock.
fn clock() -> String {
    thread_local! {
        static READINGS: Cell<u64> = const { Cell::new(0) };
    }
    READINGS.set(READINGS.get() + 1);
    let (ms, micros) = (CLOCK.get(), READINGS.get() % 1_000);
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    format!(
        "2026-01-01T{:02}:{:02}:{:02}.{ms:03}{micros:03}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

pub struct Instance {
    pub link: Arc<Link>,
    pub registry: Registry,
    changes: Arc<std::sync::Mutex<Vec<Change>>>,
}

pub fn instance(memory: &Memory) -> Instance {
    let link = memory.connect();
    let settings = without_history();
    let registry = Registry::new(link.clone(), Vec::new(), settings, clock);
    registry.connected(true);
    now(registry.load()).unwrap();
    let changes = Arc::default();
    let published = Arc::clone(&changes);
    registry.listen(Arc::new(move |change| {
        let changes: &std::sync::Mutex<Vec<Change>> = &published;
        changes.lock().unwrap().push(change.clone());
    }));
    link.take_called();
    Instance {
        link,
        registry,
        changes,
    }
}

pub fn leased(body: &str, owner: Option<&str>, ttl: Option<u64>) -> SkillRegistration {
    SkillRegistration {
        lease: LeaseTerms {
            owner: owner.map(|owner| owner.parse().unwrap()),
            ttl: ttl.map(|ms| Ttl::from_ms(ms).unwrap()),
            worker: None,
        },
        ..SkillRegistration::new("a".parse().unwrap(), body.into())
    }
}

pub fn entry() -> EntryName {
    EntryName::Skill("a".parse().unwrap())
}

impl Instance {
    pub fn register(&self, skill: SkillRegistration) {
        now(self.registry.register(skill)).unwrap();
    }

    pub fn deliver(&self) {
        while let Some(event) = self.link.take_event(0) {
            now(self.registry.apply_state_event(&event)).unwrap();
        }
    }

    pub fn lease(&self) -> Option<LeaseHead> {
        let listing = now(self.registry.skills()).unwrap();
        listing.entries[0].lease.clone()
    }

    fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut self.changes.lock().unwrap())
    }

    pub fn remove_expired(&self) -> bool {
        now(self.registry.remove_expired(&entry())).unwrap()
    }
}

#[test]
fn without_leases_no_operation_makes_another_call() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", None, None));
    assert_eq!(one.link.take_called(), ["state::set"]);
    one.deliver();
    now(one.registry.skills()).unwrap();
    now(one.registry.read(&"iii://skills".parse().unwrap())).unwrap();
    now(one.registry.prompts()).unwrap();
    assert_eq!(one.link.take_called(), [""; 0]);
    now(one.registry.unregister_skill(&"a".parse().unwrap())).unwrap();
    assert_eq!(one.link.take_called(), ["state::delete"]);
}

#[test]
fn a_lease_costs_one_more_write_and_its_renewal_one() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), Some(500)));
    assert_eq!(one.link.take_called(), ["state::update", "state::set"]);
    let renewed = now(one.registry.renew(&"mailer".parse().unwrap())).unwrap();
    assert_eq!((renewed.skills, renewed.prompts), (1, 0));
    assert_eq!(&*renewed.expires_at, "2026-01-01T00:00:00.500Z");
    assert_eq!(one.link.take_called(), ["state::set"]);
}

#[test]
fn rows_of_the_registry_do_not_change_by_a_lease() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), Some(500)));
    let row = &memory.rows("skills")["a"];
    let fields: Vec<_> = row.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "registered_at", "skill"]);
    let leases = &memory.rows("skills.leases")["skill:a"];
    let lease = leases.as_object().unwrap().values().next().unwrap();
    assert_eq!(lease["owner"], "mailer");
    assert_eq!(lease["ttl_ms"], 500);
    assert_eq!(lease["registered_at"], row["registered_at"]);
}

#[test]
fn an_entry_is_stale_from_the_end_of_its_lease_until_it_is_renewed() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), Some(500)));
    let stale = || one.lease().map(|lease| lease.stale);
    CLOCK.set(499);
    assert_eq!(stale(), Some(false));
    CLOCK.set(500);
    assert_eq!(stale(), Some(true));
    // The clock is set back: the lease is longer.
    CLOCK.set(100);
    assert_eq!(stale(), Some(false));
    CLOCK.set(600);
    now(one.registry.renew(&"mailer".parse().unwrap())).unwrap();
    assert_eq!(stale(), Some(false));
    assert_eq!(
        one.lease().unwrap().expires_at.as_deref(),
        Some("2026-01-01T00:00:01.100Z")
    );
}

#[test]
fn a_kept_list_shows_the_end_of_a_lease() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", None, Some(500)));
    let list = || {
        let stale = one.lease().is_some_and(|lease| lease.stale);
        let encode = async move { Ok(serde_json::value::to_raw_value(&stale).unwrap()) };
        now(one.registry.cached_list("stale", encode)).unwrap()
    };
    assert_eq!((list().get(), list().get()), ("false", "false"));
    CLOCK.set(500);
    assert_eq!((list().get(), list().get()), ("true", "true"));
}

#[test]
fn the_index_marks_what_is_stale_and_only_while_it_is() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", None, Some(500)));
    let index = || {
        let read = now(one.registry.read(&"iii://skills".parse().unwrap())).unwrap();
        read.text().unwrap().contains("(stale)")
    };
    assert!(!index());
    CLOCK.set(500);
    assert!(index());
    one.register(leased("# A", None, Some(500)));
    assert!(!index());
}

#[test]
fn two_instances_remove_an_entry_once_and_both_report_it() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory), instance(&memory));
    one.register(leased("# A", None, Some(500)));
    one.deliver();
    two.deliver();
    assert_eq!((one.take_changes().len(), two.take_changes().len()), (1, 1));
    CLOCK.set(500);
    assert!(one.remove_expired());
    // The second has not heard of the removal.
    assert!(!two.remove_expired());
    one.deliver();
    two.deliver();
    let removed = [Change::SkillUnregistered("a".parse().unwrap())];
    assert_eq!(one.take_changes(), removed);
    assert_eq!(two.take_changes(), removed);
    assert!(memory.rows("skills").is_empty() && memory.rows("skills.leases").is_empty());
}

#[test]
fn a_renewal_by_another_instance_keeps_the_entry_before_its_event_arrives() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory), instance(&memory));
    one.register(leased("# A", Some("mailer"), Some(500)));
    one.deliver();
    two.deliver();
    CLOCK.set(500);
    now(two.registry.renew(&"mailer".parse().unwrap())).unwrap();
    assert!(!one.remove_expired());
    assert_eq!(memory.rows("skills").len(), 1);
    one.deliver();
    assert!(!one.lease().unwrap().stale);
}

#[test]
fn a_registration_by_another_instance_during_the_removal_stays() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", None, Some(500)));
    one.deliver();
    CLOCK.set(500);
    memory.by_hand();
    let entry = entry();
    let mut removal = pin!(one.registry.remove_expired(&entry));
    let mut waited = 0;
    let removed = loop {
        if let Poll::Ready(removed) = removal
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            break removed.unwrap();
        }
        waited += 1;
        if waited == 3 {
            // It has read the lease and the row, and its delete is on the way.
            memory.put("skills", "a", &row("a", "theirs"));
        }
        for call in memory.waiting() {
            memory.apply(call);
            memory.acknowledge(call);
        }
        one.deliver_applied(&memory);
    };
    assert!(!removed);
    assert_eq!(memory.rows("skills")["a"], row("a", "theirs"));
}

impl Instance {
    /// Delivers events while calls are stepped by hand.
    fn deliver_applied(&self, memory: &Memory) {
        while let Some(event) = self.link.take_event(0) {
            let mut applied = pin!(self.registry.apply_state_event(&event));
            while applied
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
            {
                for call in memory.waiting() {
                    memory.apply(call);
                    memory.acknowledge(call);
                }
            }
        }
    }
}

#[test]
fn another_registration_ends_the_lease_although_its_row_is_left() {
    let memory = Memory::new();
    let one = instance(&memory);
    one.register(leased("# A", Some("mailer"), Some(500)));
    // A worker that does not know of leases.
    memory.put("skills", "a", &row("a", "theirs"));
    one.deliver();
    assert_eq!(one.lease(), None);
    CLOCK.set(500);
    assert!(!one.remove_expired());
    assert_eq!(memory.rows("skills")["a"], row("a", "theirs"));
    // Not before it is certain that no registration follows it.
    assert_eq!(memory.rows("skills.leases").len(), 1);
    CLOCK.set(600_000);
    assert!(!one.remove_expired());
    assert!(memory.rows("skills.leases").is_empty());
    assert_eq!(memory.rows("skills")["a"], row("a", "theirs"));
    let error = now(one.registry.renew(&"mailer".parse().unwrap())).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
}

#[test]
fn without_its_lease_an_entry_is_not_registered() {
    let memory = Memory::new();
    let one = instance(&memory);
    memory.offer("state::update", |_| {
        Err(Failure::Unreachable {
            reason: "gone".into(),
        })
    });
    let failed = now(one.registry.register(leased("# A", None, Some(500))));
    let text = failed.unwrap_err().to_text();
    let expected = "store the lease of skill `a`, which was not registered";
    assert!(text.contains(expected), "{text}");
    assert!(memory.rows("skills").is_empty());
}

#[test]
fn a_schedule_is_woken_by_every_change_of_a_lease() {
    let memory = Memory::new();
    let (one, two) = (instance(&memory), instance(&memory));
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    one.registry.listen_to_leases(Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let mut schedule = ExpirySchedule::new(Duration::ZERO);
    let plan = |schedule: &mut _| now(one.registry.plan_expiry(schedule, Duration::ZERO)).unwrap();
    assert_eq!(plan(&mut schedule).next, None);
    two.register(leased("# A", Some("mailer"), Some(500)));
    one.deliver();
    assert!(woken.swap(0, Ordering::Relaxed) > 0);
    assert_eq!(plan(&mut schedule).next, Some(Duration::from_millis(500)));
    CLOCK.set(400);
    now(one.registry.renew(&"mailer".parse().unwrap())).unwrap();
    assert!(woken.swap(0, Ordering::Relaxed) > 0);
    assert_eq!(plan(&mut schedule).next, Some(Duration::from_millis(500)));
    CLOCK.set(900);
    assert_eq!(plan(&mut schedule).due, [entry()]);
}

#[test]
fn damaged_rows_of_leases_change_nothing() {
    let memory = Memory::new();
    memory.put("skills", "a", &row("a", "# A"));
    memory.put(
        "skills.leases",
        "skill:a",
        &json!({ "id": "skill:a", "ttl_ms": 0 }),
    );
    memory.put("skills.leases", "x", &json!(7));
    let one = instance(&memory);
    assert_eq!(one.lease(), None);
    assert!(!one.remove_expired());
    one.register(leased("# A", None, Some(500)));
    assert!(one.lease().is_some());
}
