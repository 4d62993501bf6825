//! Why something changed: what the lists of skills and prompts had before and have now.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use skills_api::{prompts, skills};
use skills_core::{Change, Origin};

use super::{Connection, Line};

/// Skills and prompts at one moment, by kind and id.
#[derive(Default)]
pub(super) struct Known(HashMap<(&'static str, String), Entry>);

#[derive(Clone, Deserialize)]
struct Entry {
    #[serde(alias = "name")]
    id: String,
    origin: String,
    #[serde(default)]
    owner: Option<String>,
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
        let (op, kind, id) = match change {
            Change::SkillRegistered(id) => ("register", "skill", id.as_str()),
            Change::SkillUnregistered(id) => ("unregister", "skill", id.as_str()),
            Change::PromptRegistered(name) => ("register", "prompt", name.as_str()),
            Change::PromptUnregistered(name) => ("unregister", "prompt", name.as_str()),
        };
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
            reason,
            origin: shown.as_ref().map(|entry| entry.origin.clone()),
            owner: shown.and_then(|entry| entry.owner),
        }
    }
}

fn reason(op: &str, before: Option<&Entry>, after: Option<&Entry>) -> &'static str {
    let origin = |entry: Option<&Entry>| {
        let origins = [Origin::State, Origin::Fs, Origin::Agent3md].into_iter();
        let name = &entry?.origin;
        origins.into_iter().find(|origin| origin.as_str() == name)
    };
    match (op, origin(before), origin(after)) {
        ("register", Some(Origin::State), Some(Origin::State)) => "replaced",
        ("register", Some(_), Some(Origin::State)) => "registered, hides a document",
        ("register", _, Some(Origin::State)) => "registered",
        ("register", Some(Origin::State), Some(Origin::Fs | Origin::Agent3md)) => {
            "unregistered, a document is served instead"
        }
        ("register", Some(_), Some(Origin::Fs)) => "file edited",
        ("register", None, Some(Origin::Fs)) => "file added",
        ("register", Some(_), Some(Origin::Agent3md)) => "3md document edited",
        ("register", None, Some(Origin::Agent3md)) => "3md document added",
        // It is gone again, or the registry did not answer.
        ("register", _, None) => "registered or edited",
        (_, Some(Origin::State), _) => "unregistered",
        (_, Some(Origin::Fs), _) => "file removed",
        (_, Some(Origin::Agent3md), _) => "removed from a 3md document",
        (_, None, _) => "unregistered or removed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(entries: &[(&str, &str)]) -> Known {
        let entry = |(id, origin): &(&str, &str)| {
            let entry = Entry {
                id: (*id).to_owned(),
                origin: (*origin).to_owned(),
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
            (&registered, Some("state"), Some("state"), "replaced"),
            (
                &registered,
                Some("fs"),
                Some("state"),
                "registered, hides a document",
            ),
            (&registered, None, Some("fs"), "file added"),
            (&registered, Some("fs"), Some("fs"), "file edited"),
            (&registered, Some("3md"), Some("3md"), "3md document edited"),
            (
                &registered,
                Some("state"),
                Some("fs"),
                "unregistered, a document is served instead",
            ),
            (&registered, None, None, "registered or edited"),
            (&unregistered, Some("state"), None, "unregistered"),
            (&unregistered, Some("fs"), None, "file removed"),
            (&unregistered, None, None, "unregistered or removed"),
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
    fn changes_that_wait_together_have_a_reason_each() {
        let (id, now) = ("a".parse().unwrap(), known(&[("a", "state")]));
        let change = Change::SkillRegistered(id);
        let mut before = Known::default();
        assert_eq!(before.explain(&change, &now).reason, "registered");
        assert_eq!(before.explain(&change, &now).reason, "replaced");
    }
}
