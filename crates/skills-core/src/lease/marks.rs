//! What lists show of leases, computed once until a lease changes or ends.

use std::collections::HashMap;
use std::sync::Arc;

use super::{EntryName, Lease, LeaseHead, LeaseRow, Owner};
use crate::row_slot::Snapshot;
use crate::timestamp::from_unix_ms;
use crate::{PromptName, SkillId};

/// The owners and leases of all entries at one moment.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct LeaseMarks {
    skills: HashMap<SkillId, Vec<Mark>>,
    prompts: HashMap<PromptName, Vec<Mark>>,
    /// The marks are the same from `since` until before `until`.
    since: u64,
    until: Option<u64>,
}

#[derive(Debug, PartialEq)]
struct Mark {
    /// The registration that it belongs to.
    registered_at: Arc<str>,
    head: LeaseHead,
}

/// The mark of a registration.
fn of<'a>(marks: &'a [Mark], registered_at: &str) -> Option<&'a LeaseHead> {
    let mut marks = marks.iter();
    let mark = marks.find(|mark| *mark.registered_at == *registered_at)?;
    Some(&mark.head)
}

impl LeaseMarks {
    pub(crate) fn new(rows: &Snapshot<LeaseRow>, now: u64) -> Self {
        let mut marks = Self {
            since: now,
            ..Self::default()
        };
        for (lease, deadline) in deadlines(rows) {
            let stale = deadline.is_some_and(|deadline| deadline <= now);
            if let Some(deadline) = deadline.filter(|_| !stale) {
                let until = marks.until.unwrap_or(deadline);
                marks.until = Some(until.min(deadline));
            }
            let mark = Mark {
                registered_at: Arc::clone(&lease.registered_at),
                head: LeaseHead {
                    owner: lease.owner.clone(),
                    expires_at: deadline.map(|deadline| from_unix_ms(deadline).into()),
                    stale,
                },
            };
            match &lease.entry {
                EntryName::Skill(id) => marks.skills.entry(id.clone()).or_default().push(mark),
                EntryName::Prompt(name) => {
                    marks.prompts.entry(name.clone()).or_default().push(mark);
                }
            }
        }
        marks
    }

    /// Whether they are right at this moment.
    pub(crate) fn are_current(&self, now: u64) -> bool {
        // Before `since`, the clock was set back.
        self.since <= now && self.until.is_none_or(|until| now < until)
    }

    /// What is shown of the skill that was registered at this time.
    pub(crate) fn of_skill(&self, id: &SkillId, registered_at: &str) -> Option<&LeaseHead> {
        of(self.skills.get(id)?, registered_at)
    }

    /// The same for a prompt.
    pub(crate) fn of_prompt(&self, name: &PromptName, registered_at: &str) -> Option<&LeaseHead> {
        of(self.prompts.get(name)?, registered_at)
    }

    /// Whether a skill is stale.
    pub(crate) fn has_stale_skills(&self) -> bool {
        self.skills.values().flatten().any(|mark| mark.head.stale)
    }
}

/// Each lease and when it ends, if it does.
pub(crate) fn deadlines(rows: &Snapshot<LeaseRow>) -> impl Iterator<Item = (&Lease, Option<u64>)> {
    let mut renewed: HashMap<&Owner, u64> = HashMap::new();
    for row in &rows.rows {
        if let LeaseRow::Renewal(renewal) = &**row
            && let Some(ms) = renewal.renewed_ms()
        {
            renewed.insert(&renewal.owner, ms);
        }
    }
    let leases = rows.rows.iter().flat_map(|row| match &**row {
        LeaseRow::Entry(entry) => &entry.leases[..],
        LeaseRow::Renewal(_) => &[],
    });
    leases.map(move |lease| {
        let renewed = lease.owner.as_ref().and_then(|owner| renewed.get(owner));
        (lease, lease.deadline_ms(renewed.copied()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    fn rows(texts: &[&str]) -> Snapshot<LeaseRow> {
        let rows = texts.iter().map(|text| LeaseRow::from_json(text).unwrap());
        Snapshot::new(rows.map(Arc::new).collect(), Vec::new(), Vec::new())
    }

    #[test]
    fn marks_last_until_the_next_lease_ends() {
        let at = "1970-01-01T00:00:01Z";
        let rows = rows(&[
            &format!(r#"{{"id":"skill:a","ttl_ms":100,"registered_at":"{at}"}}"#),
            &format!(r#"{{"id":"skill:b","ttl_ms":200,"registered_at":"{at}"}}"#),
            &format!(r#"{{"id":"prompt:p","owner":"o","registered_at":"{at}"}}"#),
        ]);
        let [a, b] = ["a", "b"].map(|id| id.parse::<SkillId>().unwrap());
        let marks = LeaseMarks::new(&rows, 1_100);
        let stale = |id| marks.of_skill(id, at).map(|head| head.stale);
        assert_eq!((stale(&a), stale(&b)), (Some(true), Some(false)));
        assert!(marks.are_current(1_199));
        assert!(!marks.are_current(1_200) && !marks.are_current(1_099));
        let later = LeaseMarks::new(&rows, 1_200);
        assert!(later.has_stale_skills() && later.are_current(u64::MAX));
        let expires = later.of_skill(&b, at).unwrap().expires_at.as_deref();
        assert_eq!(expires, Some("1970-01-01T00:00:01.200Z"));
        let prompt = later.of_prompt(&"p".parse().unwrap(), at).unwrap();
        assert_eq!((&prompt.expires_at, prompt.stale), (&None, false));
        // Registered again without a lease.
        assert_eq!(later.of_skill(&b, "1970-01-01T00:00:02Z"), None);
    }

    #[test]
    fn one_renewal_extends_every_lease_of_its_owner() {
        let at = "1970-01-01T00:00:01Z";
        let rows = rows(&[
            &format!(r#"{{"id":"skill:a","owner":"o","ttl_ms":100,"registered_at":"{at}"}}"#),
            &format!(r#"{{"id":"skill:b","owner":"x","ttl_ms":100,"registered_at":"{at}"}}"#),
            r#"{"id":"owner:o","renewed_at":"1970-01-01T00:00:05Z"}"#,
        ]);
        let ends: Vec<_> = deadlines(&rows).map(|(_, deadline)| deadline).collect();
        assert_eq!(ends, [Some(5_100), Some(1_100)]);
    }
}
