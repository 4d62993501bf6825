//! The promises of the catalogue, one situation at a time.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use serde_json::json;
use skills_core::memory::{Link, Memory, now};
use skills_core::{Change, Failure, Kind, Registry, ResourceUri, Settings};

struct Desk {
    memory: Memory,
    link: Arc<Link>,
    registry: Registry,
    changes: Arc<Mutex<Vec<Change>>>,
}

fn desk_on(memory: &Memory, watched: bool) -> Desk {
    let link = memory.connect();
    let registry = Registry::new(link.clone(), Vec::new(), Settings::default(), || "now".into());
    registry.connected(watched);
    let changes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&changes);
    registry.listen(Arc::new(move |change| heard.lock().unwrap().push(change.clone())));
    Desk { memory: memory.clone(), link, registry, changes }
}

fn desk() -> Desk {
    desk_on(&Memory::new(), true)
}

impl Desk {
    fn register(&self, id: &str, body: &str) {
        now(self.registry.register_skill(id.parse().unwrap(), body.into())).unwrap();
    }

    fn read(&self, id: &str) -> Result<String, Kind> {
        let uri: ResourceUri = format!("iii://{id}").parse().unwrap();
        now(self.registry.read(&uri)).map(|c| c.text.to_string()).map_err(|e| e.kind())
    }

    fn ids(&self) -> Vec<String> {
        let listing = now(self.registry.skills()).unwrap();
        listing.entries.iter().map(|skill| skill.id.to_string()).collect()
    }

    /// Delivers every event, oldest first.
    fn deliver(&self) {
        while let Some(event) = self.link.take_event(0) {
            now(self.registry.doorbell(&event)).unwrap();
        }
    }

    fn take_changes(&self) -> usize {
        std::mem::take(&mut *self.changes.lock().unwrap()).len()
    }
}

fn row(id: &str, body: &str) -> serde_json::Value {
    json!({ "id": id, "skill": body, "registered_at": "then" })
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<Arc<str>, skills_core::Error>> + 'a>>;

fn poll(work: &mut Work<'_>) -> bool {
    matches!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(_)))
}

#[test]
fn a_scope_is_loaded_once_and_then_answered_from_memory() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(desk.ids(), ["a"]);
    assert_eq!(desk.link.take_called(), ["state::list"]);
    assert_eq!(desk.read("a").unwrap(), "A");
    assert!(desk.read("skills").unwrap().contains("iii://a"));
    assert_eq!(desk.link.take_called(), [""; 0]);
}

#[test]
fn an_acknowledged_write_is_visible_at_once_and_its_echo_costs_nothing() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.register("a", "A");
    assert_eq!(desk.read("a").unwrap(), "A");
    desk.link.take_called();
    desk.deliver();
    assert_eq!(desk.link.take_called(), [""; 0]);
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn a_row_written_by_somebody_else_shows_when_its_event_arrives_and_is_announced() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(desk.read("b"), Err(Kind::NotFound));
    desk.deliver();
    assert_eq!(desk.read("b").unwrap(), "B");
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn events_in_the_wrong_order_do_not_bring_back_an_old_value() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "a", &row("a", "old"));
    desk.memory.put("skills", "a", &row("a", "new"));
    let late = desk.link.take_event(0).unwrap();
    desk.deliver();
    now(desk.registry.doorbell(&late)).unwrap();
    assert_eq!(desk.read("a").unwrap(), "new");
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn an_acknowledgement_after_a_later_event_does_not_win() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.by_hand();
    let mut mine: Work = Box::pin(desk.registry.register_skill("a".parse().unwrap(), "mine".into()));
    assert!(!poll(&mut mine));
    let call = desk.memory.waiting()[0];
    desk.memory.apply(call);
    desk.memory.put("skills", "a", &row("a", "theirs"));
    // Their event comes first, then my acknowledgement.
    let theirs = desk.link.take_event(1).unwrap();
    let mut bell = Box::pin(desk.registry.doorbell(&theirs));
    assert!(bell.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let read = desk.memory.waiting()[0];
    desk.memory.apply(read);
    desk.memory.acknowledge(read);
    now(bell).unwrap();
    desk.memory.acknowledge(call);
    assert!(!poll(&mut mine), "it has to look who came last");
    let read = desk.memory.waiting()[0];
    desk.memory.apply(read);
    desk.memory.acknowledge(read);
    assert!(poll(&mut mine));
    assert_eq!(desk.read("a").unwrap(), "theirs");
    assert_eq!(desk.take_changes(), 2);
}

#[test]
fn a_read_that_began_before_my_write_does_not_undo_it() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "old"));
    assert_eq!(desk.read("a").unwrap(), "old");
    desk.memory.put("skills", "a", &row("a", "newer"));
    desk.link.take_event(0).unwrap();
    let bell = desk.link.take_event(0).unwrap();
    desk.memory.by_hand();
    let mut bell = Box::pin(desk.registry.doorbell(&bell));
    assert!(bell.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let read = desk.memory.waiting()[0];
    desk.memory.apply(read);
    let mut mine: Work = Box::pin(desk.registry.register_skill("a".parse().unwrap(), "mine".into()));
    assert!(!poll(&mut mine));
    let write = desk.memory.waiting()[0];
    desk.memory.apply(write);
    desk.memory.acknowledge(write);
    assert!(poll(&mut mine), "nobody rang since it began");
    desk.memory.acknowledge(read);
    now(bell).unwrap();
    assert_eq!(desk.read("a").unwrap(), "mine");
}

#[test]
fn after_a_reconnect_everything_is_read_again_and_differences_are_announced() {
    let desk = desk();
    desk.memory.put("skills", "a", &row("a", "A"));
    desk.memory.put("skills", "b", &row("b", "B"));
    assert_eq!(desk.ids(), ["a", "b"]);
    assert_eq!(desk.take_changes(), 0, "the first load is not news");
    desk.link.cut();
    desk.registry.disconnected();
    desk.memory.put("skills", "a", &row("a", "A2"));
    desk.memory.put("skills", "c", &row("c", "C"));
    assert_eq!(desk.read("a"), Err(Kind::Unavailable));
    desk.link.mend();
    desk.registry.connected(true);
    assert_eq!(desk.ids(), ["a", "b", "c"]);
    assert_eq!(desk.read("a").unwrap(), "A2");
    assert_eq!(desk.take_changes(), 2);
}

#[test]
fn an_outage_is_an_error_and_never_an_empty_list() {
    let desk = desk();
    desk.link.cut();
    let registry = &desk.registry;
    let unavailable = |kind: Kind| assert_eq!(kind, Kind::Unavailable);
    unavailable(now(registry.skills()).unwrap_err().kind());
    unavailable(now(registry.resources()).unwrap_err().kind());
    unavailable(now(registry.prompts()).unwrap_err().kind());
    unavailable(now(registry.prompt_menu()).unwrap_err().kind());
    unavailable(now(registry.load()).unwrap_err().kind());
    unavailable(desk.read("skills").unwrap_err());
    unavailable(desk.read("a").unwrap_err());
    unavailable(now(registry.register_skill("a".parse().unwrap(), "A".into())).unwrap_err().kind());
    unavailable(now(registry.unregister_skill(&"a".parse().unwrap())).unwrap_err().kind());
    unavailable(now(registry.render_prompt(&"p".parse().unwrap(), None)).unwrap_err().kind());
}

#[test]
fn a_state_that_is_slow_or_absent_says_so() {
    let desk = desk();
    desk.link.fail(Some(Failure::TimedOut { after: std::time::Duration::from_secs(10) }));
    let error = now(desk.registry.skills()).unwrap_err();
    assert_eq!(error.kind(), Kind::TimedOut);
    assert!(error.to_text().contains("state_timeout_ms"), "{}", error.to_text());
    desk.link.fail(Some(Failure::Absent));
    assert!(now(desk.registry.skills()).unwrap_err().to_text().contains("state worker"));
    desk.link.fail(None);
    assert_eq!(desk.ids(), [""; 0]);
}

#[test]
fn without_the_trigger_every_read_asks_the_engine() {
    let desk = desk_on(&Memory::new(), false);
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "a", &row("a", "A"));
    assert_eq!(desk.ids(), ["a"]);
    desk.memory.put("skills", "a", &row("a", "A2"));
    assert_eq!(desk.read("a").unwrap(), "A2");
    desk.register("a", "A3");
    assert_eq!(desk.read("a").unwrap(), "A3");
    assert_eq!(
        desk.link.take_called(),
        ["state::list", "state::list", "state::get", "state::set", "state::get"]
    );
}

#[test]
fn rows_that_cannot_be_decoded_are_reported_and_the_rest_is_served() {
    let desk = desk();
    desk.memory.put("skills", "good", &row("good", "G"));
    desk.memory.put("skills", "half", &json!({ "id": "half" }));
    desk.memory.put("skills", "Upper", &row("Upper", "x"));
    desk.memory.put("skills", "none", &json!(7));
    let listing = now(desk.registry.skills()).unwrap();
    assert_eq!(listing.entries.len(), 1);
    let places: Vec<_> = listing.skipped.iter().map(|skipped| &*skipped.place).collect();
    assert_eq!(places, ["skills/Upper", "skills/half", "skills/?"]);
    assert_eq!(desk.read("half"), Err(Kind::Broken));
    assert_eq!(desk.read("good").unwrap(), "G");
    desk.register("half", "whole now");
    assert_eq!(desk.read("half").unwrap(), "whole now");
    // A row under the wrong key is no skill either.
    desk.deliver();
    desk.memory.put("skills", "x", &row("y", "Y"));
    desk.deliver();
    assert_eq!(desk.read("x"), Err(Kind::Broken));
}

#[test]
fn a_flood_of_events_is_answered_with_one_listing() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    for n in 0..200 {
        let id = format!("s{n}");
        desk.memory.put("skills", &id, &row(&id, "x"));
    }
    // All of them are marked before the first answer comes.
    desk.memory.by_hand();
    let events: Vec<_> = std::iter::from_fn(|| desk.link.take_event(0)).collect();
    let mut bells: Vec<_> =
        events.iter().map(|event| Box::pin(desk.registry.doorbell(event))).collect();
    let mut context = Context::from_waker(Waker::noop());
    desk.link.take_called();
    while !bells.is_empty() {
        bells.retain_mut(|bell| bell.as_mut().poll(&mut context).is_pending());
        for call in desk.memory.waiting() {
            desk.memory.apply(call);
            desk.memory.acknowledge(call);
        }
    }
    assert_eq!(desk.ids().len(), 200);
    let called = desk.link.take_called();
    assert!(called.len() <= 3 && called.contains(&"state::list".into()), "{called:?}");
}

#[test]
fn an_event_without_a_key_means_everything_is_read_again() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.put("skills", "a", &row("a", "A"));
    let event = json!({ "type": "state", "event_type": "state:reload", "scope": "skills" });
    let event = serde_json::value::to_raw_value(&event).unwrap();
    now(desk.registry.doorbell(&event)).unwrap();
    assert_eq!(desk.read("a").unwrap(), "A");
    assert_eq!(desk.take_changes(), 1);
}

#[test]
fn writers_of_one_id_take_turns_and_each_is_announced_once() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.by_hand();
    let mut work: Vec<(usize, Work)> = (0..32)
        .map(|n| (n, desk.registry.register_skill("a".parse().unwrap(), format!("v{n}"))))
        .map(|(n, future)| (n, Box::pin(future) as Work))
        .collect();
    let mut last = None;
    while !work.is_empty() {
        work.retain_mut(|(n, future)| {
            let done = poll(future);
            if done { last = Some(*n) }
            !done
        });
        assert!(desk.memory.waiting().len() <= 1, "one write at a time");
        for call in desk.memory.waiting() {
            desk.memory.apply(call);
            desk.memory.acknowledge(call);
        }
    }
    assert_eq!(desk.read("a").unwrap(), format!("v{}", last.unwrap()));
    assert_eq!(desk.memory.rows("skills")["a"]["skill"], format!("v{}", last.unwrap()));
    assert_eq!(desk.take_changes(), 32);
}

#[test]
fn a_write_that_is_given_up_leaves_no_doubt_behind() {
    let desk = desk();
    assert_eq!(desk.ids(), [""; 0]);
    desk.memory.by_hand();
    let mut mine: Work = Box::pin(desk.registry.register_skill("a".parse().unwrap(), "mine".into()));
    assert!(!poll(&mut mine));
    drop(mine);
    desk.memory.apply(desk.memory.waiting()[0]);
    let uri: ResourceUri = "iii://a".parse().unwrap();
    let mut read = Box::pin(desk.registry.read(&uri));
    let mut context = Context::from_waker(Waker::noop());
    assert!(read.as_mut().poll(&mut context).is_pending());
    for call in desk.memory.waiting() {
        desk.memory.apply(call);
        desk.memory.acknowledge(call);
    }
    assert_eq!(&*now(read).unwrap().text, "mine");
}
