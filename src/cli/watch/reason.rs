//! Why something changed: what the lists of skills and prompts had before and have now, and what
//! the versions of a registered entry tell.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use skills_api::history::{PROMPT_HISTORY, SKILL_HISTORY};
use skills_api::{prompts, skills};
use skills_core::{Change, Origin};

use super::{Connection, Line};
use crate::cli::history::VersionEntry;

/// The reasons of changes of registered entries, which their versions tell more of.
const REGISTERED: &str = "registered";
const REGISTERED_AGAIN: &str = "registered again";
const NO_LONGER_REGISTERED: &str = "no longer registered";

/// Skills and prompts at one moment, by kind and id.
#[derive(Default)]
pub(super) struct Known(HashMap<(&'static str, String), Entry>);

#[derive(Clone, Deserialize)]
struct Entry {
    #[serde(alias = "name")]
    id: String,
    origin: String,
    #[serde(default)]
    registered_at: String,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    hides: Vec<String>,
}

impl Entry {
    const fn hides(&self) -> bool {
        !self.hides.is_empty()
    }
}

impl Known {
    /// What the registry lists. Without an answer nothing is known, and changes have a shorter reason.
    pub(super) async fn list(connection: &Connection) -> Self {
        let mut known = HashMap::new();
        for (kind, operation, key) in [
            ("skill", &skills::LIST, "skills"),
            ("prompt", &prompts::LIST, "prompts"),
        ] {
            let listed: Result<Value, _> = connection.call(operation, &json!({})).await;
            let Ok(mut listed) = listed else { continue };
            let entries = serde_json::from_value::<Vec<Entry>>(listed[key].take());
            for entry in entries.unwrap_or_default() {
                known.insert((kind, entry.id.clone()), entry);
            }
        }
        Self(known)
    }

    /// The line of a change between these lists and those of now. What it says is known from then
    /// on.
    pub(super) fn explain<'a>(&mut self, change: &'a Change, now: &Self) -> Line<'a> {
        let (op, kind, id) = parts(change);
        let key = (kind, id.to_owned());
        let after = now.0.get(&key).filter(|_| op == "register").cloned();
        let before = self.0.remove(&key);
        let reason = reason(op, before.as_ref(), after.as_ref());
        let shown = after.clone().or(before);
        self.0.extend(after.map(|after| (key, after)));
        Line {
            at: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            op,
            kind,
            id,
            reason: reason.into(),
            registered_at: shown.as_ref().map(|entry| entry.registered_at.clone()),
            origin: shown.as_ref().map(|entry| entry.origin.clone()),
            owner: shown.and_then(|entry| entry.owner),
        }
    }
}

/// The operation, the kind and the id of a change.
fn parts(change: &Change) -> (&'static str, &'static str, &str) {
    match change {
        Change::SkillRegistered(id) => ("register", "skill", id.as_str()),
        Change::SkillUnregistered(id) => ("unregister", "skill", id.as_str()),
        Change::PromptRegistered(name) => ("register", "prompt", name.as_str()),
        Change::PromptUnregistered(name) => ("unregister", "prompt", name.as_str()),
    }
}

/// Whether two changes are of one entry.
pub(super) fn is_same_entry(a: &Change, b: &Change) -> bool {
    let [(_, kind, id), (_, other_kind, other)] = [a, b].map(parts);
    (kind, id) == (other_kind, other)
}

/// Asks for the versions of a registered entry, which tell what the last change of it was.
pub(super) async fn ask_versions(connection: &Connection, line: &mut Line<'_>) {
    #[derive(Deserialize)]
    struct History {
        versions: Vec<VersionEntry>,
    }
    if ![REGISTERED, REGISTERED_AGAIN, NO_LONGER_REGISTERED].contains(&&*line.reason) {
        return;
    }
    let (operation, key) = match line.kind {
        "skill" => (&SKILL_HISTORY, "id"),
        _ => (&PROMPT_HISTORY, "name"),
    };
    let history = connection.call(operation, &json!({ key: line.id })).await;
    if let Ok(History { versions }) = history
        && let Some(reason) =
            reason_of_versions(&line.reason, line.registered_at.as_deref(), &versions)
    {
        line.reason = reason;
    }
}

/// What versions, newest first, tell of a change; none if no more than the lists.
fn reason_of_versions(
    reason: &str,
    registered_at: Option<&str>,
    versions: &[VersionEntry],
) -> Option<Cow<'static, str>> {
    if reason == NO_LONGER_REGISTERED {
        return match &*versions.first()?.op {
            "unregister" => Some("unregistered".into()),
            "expire" => Some("removed because its lease ended".into()),
            "gc" => Some("removed by `skills gc`".into()),
            _ => None,
        };
    }
    let mut made = versions.iter();
    let made = made.find(|version| Some(&*version.at) == registered_at);
    match made.map(|version| (&*version.op, version.from)) {
        Some(("rollback", Some(from))) => Some(format!("rolled back to version {from}").into()),
        Some(("register", _)) if reason == REGISTERED_AGAIN => Some("replaced".into()),
        None if reason == REGISTERED_AGAIN && !versions.is_empty() => {
            Some("registered again, unchanged".into())
        }
        Some(_) | None => None,
    }
}

fn reason(op: &str, before: Option<&Entry>, after: Option<&Entry>) -> &'static str {
    let origin = |entry: Option<&Entry>| {
        let origins = [Origin::State, Origin::Fs, Origin::Agent3md].into_iter();
        let name = &entry?.origin;
        origins.into_iter().find(|origin| origin.as_str() == name)
    };
    match (op, origin(before), origin(after)) {
        // Replaced, rolled back, or the same text again: the lists do not tell.
        ("register", Some(Origin::State), Some(Origin::State)) => REGISTERED_AGAIN,
        // A document with the same text is not hidden.
        ("register", _, Some(Origin::State)) if after.is_some_and(Entry::hides) => {
            "registered, hides a document"
        }
        ("register", _, Some(Origin::State)) => REGISTERED,
        ("register", Some(Origin::State), Some(Origin::Fs | Origin::Agent3md)) => {
            "no longer registered, a document is served instead"
        }
        ("register", Some(_), Some(Origin::Fs)) => "file edited",
        ("register", None, Some(Origin::Fs)) => "file added",
        ("register", Some(_), Some(Origin::Agent3md)) => "3md document edited",
        ("register", None, Some(Origin::Agent3md)) => "3md document added",
        // It is gone again, or the registry did not answer.
        ("register", _, None) => "registered or edited",
        // By a call, at the end of its lease, or by `skills gc`.
        (_, Some(Origin::State), _) => NO_LONGER_REGISTERED,
        (_, Some(Origin::Fs), _) => "file removed",
        (_, Some(Origin::Agent3md), _) => "removed from a 3md document",
        (_, None, _) => "no longer registered, or its file was removed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(entries: &[(&str, &str)]) -> Known {
        let entry = |(id, origin): &(&str, &str)| {
            let (origin, hides) = origin.split_once(", hides ").unwrap_or((origin, ""));
            let hides = hides.split_whitespace();
            let entry = Entry {
                hides: hides.map(str::to_owned).collect(),
                id: (*id).to_owned(),
                origin: (*origin).to_owned(),
                registered_at: String::new(),
                owner: None,
            };
            (("skill", entry.id.clone()), entry)
        };
        Known(entries.iter().map(entry).collect())
    }

    #[test]
    fn the_lists_before_and_after_give_the_reason() {
        let registered = Change::SkillRegistered("a".parse().unwrap());
        let unregistered = Change::SkillUnregistered("a".parse().unwrap());
        for (change, before, after, expected) in [
            (&registered, None, Some("state"), "registered"),
            (
                &registered,
                Some("state"),
                Some("state"),
                "registered again",
            ),
            (
                &registered,
                Some("fs"),
                Some("state, hides fs"),
                "registered, hides a document",
            ),
            // A markdown file in the folder of a skill is in no list.
            (
                &registered,
                None,
                Some("state, hides fs"),
                "registered, hides a document",
            ),
            // The file has the same text.
            (&registered, Some("fs"), Some("state"), "registered"),
            (
                &registered,
                Some("state, hides fs"),
                Some("state, hides fs"),
                "registered again",
            ),
            (&registered, None, Some("fs"), "file added"),
            (&registered, Some("fs"), Some("fs"), "file edited"),
            (&registered, Some("3md"), Some("3md"), "3md document edited"),
            (
                &registered,
                Some("state"),
                Some("fs"),
                "no longer registered, a document is served instead",
            ),
            (&registered, None, None, "registered or edited"),
            (&unregistered, Some("state"), None, "no longer registered"),
            (&unregistered, Some("fs"), None, "file removed"),
            (
                &unregistered,
                None,
                None,
                "no longer registered, or its file was removed",
            ),
        ] {
            let list = |origin: Option<&'static str>| {
                known(
                    &origin
                        .map(|origin| ("a", origin))
                        .into_iter()
                        .collect::<Vec<_>>(),
                )
            };
            let line = list(before).explain(change, &list(after)).reason;
            assert_eq!(line, expected, "{change:?} from {before:?} to {after:?}");
        }
    }

    #[test]
    fn versions_tell_more_of_a_registered_entry() {
        let version = |version: u64, op: &str, from: Option<u64>| VersionEntry {
            version,
            at: format!("t{version}"),
            op: op.to_owned(),
            digest: None,
            bytes: None,
            from,
            owner: None,
            worker: None,
            current: false,
            prompt: None,
        };
        let first = || version(1, "register", None);
        for (reason, at, versions, expected) in [
            (REGISTERED, "t1", vec![first()], None),
            (REGISTERED_AGAIN, "t1", vec![first()], Some("replaced")),
            (
                REGISTERED_AGAIN,
                "t2",
                vec![first()],
                Some("registered again, unchanged"),
            ),
            // Versions are not recorded.
            (REGISTERED_AGAIN, "t2", vec![], None),
            (
                REGISTERED_AGAIN,
                "t1",
                vec![version(1, "found", None)],
                None,
            ),
            (
                REGISTERED_AGAIN,
                "t2",
                vec![version(2, "rollback", Some(1)), first()],
                Some("rolled back to version 1"),
            ),
            (
                REGISTERED,
                "t3",
                vec![version(3, "rollback", Some(1)), first()],
                Some("rolled back to version 1"),
            ),
            (
                NO_LONGER_REGISTERED,
                "t1",
                vec![version(2, "unregister", None), first()],
                Some("unregistered"),
            ),
            (
                NO_LONGER_REGISTERED,
                "t1",
                vec![version(2, "expire", None)],
                Some("removed because its lease ended"),
            ),
            (
                NO_LONGER_REGISTERED,
                "t1",
                vec![version(2, "gc", None)],
                Some("removed by `skills gc`"),
            ),
            (NO_LONGER_REGISTERED, "t1", vec![first()], None),
        ] {
            let found = reason_of_versions(reason, Some(at), &versions);
            assert_eq!(found.as_deref(), expected, "{reason} at {at}");
        }
    }

    #[test]
    fn changes_that_wait_together_have_a_reason_each() {
        let (id, now) = ("a".parse().unwrap(), known(&[("a", "state")]));
        let change = Change::SkillRegistered(id);
        let mut before = Known::default();
        assert_eq!(before.explain(&change, &now).reason, "registered");
        assert_eq!(before.explain(&change, &now).reason, "registered again");
    }
}
