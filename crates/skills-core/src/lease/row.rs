//! The rows of the scope of leases: one for each leased entry, and one for each owner that
//! renewed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{EntryName, OWNER, Owner, Ttl};
use crate::row::{BadRow, Row, object};
use crate::timestamp::to_unix_ms;
use crate::{Change, Json};

/// A row of the scope.
#[derive(Debug, PartialEq)]
pub(crate) enum LeaseRow {
    Entry(EntryLeases),
    Renewal(Renewal),
}

/// The leases of an entry: that of what is registered, and those of registrations that are being
/// written or were replaced.
///
/// A lease is added before the row that it belongs to is written, and the ones before stay. So
/// whenever a process ends, the row that is registered has its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryLeases {
    pub entry: EntryName,
    /// Oldest first.
    pub leases: Vec<Lease>,
}

impl EntryLeases {
    /// The lease of a registration.
    pub(crate) fn of(&self, registered_at: &str) -> Option<&Lease> {
        let mut leases = self.leases.iter();
        leases.find(|lease| *lease.registered_at == *registered_at)
    }
}

/// The owner and the lease of one registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub entry: EntryName,
    pub owner: Option<Owner>,
    pub ttl: Option<Ttl>,
    /// The id of the worker that registered it.
    pub worker: Option<Arc<str>>,
    /// The name of that worker: it stays when the worker connects again, its id does not.
    pub worker_name: Option<Arc<str>>,
    /// The time of the registration that it belongs to.
    pub registered_at: Arc<str>,
    /// Since when it lasts, if that is not the time of the registration.
    pub since: Option<Arc<str>>,
    /// Whether the fields of the row are this lease, as they were when a row had one.
    pub is_row: bool,
}

impl Lease {
    /// When it ends, if it does, given the last renewal of its owner.
    pub(crate) fn deadline_ms(&self, renewed_ms: Option<u64>) -> Option<u64> {
        let since = self.since.as_ref().unwrap_or(&self.registered_at);
        let from = to_unix_ms(since)?.max(renewed_ms.unwrap_or(0));
        Some(from.saturating_add(self.ttl?.as_ms()))
    }

    /// The operations of `state::update` that add it to the leases of its entry.
    pub(crate) fn add_ops(&self) -> Json {
        let ops = json!([
            { "type": "set", "path": "id", "value": self.entry.key() },
            { "type": "set", "path": self.field(), "value": StoredTerms::of(self) },
        ]);
        to_raw_value(&ops).expect("operations are JSON")
    }

    /// The operations that remove leases of one entry.
    pub(crate) fn remove_ops<'a>(leases: impl Iterator<Item = &'a Self>) -> Json {
        let remove = |path: &str| json!({ "type": "remove", "path": path });
        let mut ops = Vec::new();
        for lease in leases {
            if lease.is_row {
                ops.extend(["owner", "ttl_ms", "worker", "registered_at"].map(remove));
            } else {
                ops.push(remove(&lease.field()));
            }
        }
        to_raw_value(&ops).expect("operations are JSON")
    }

    /// Its field in the row. A path of `state::update` may have a meaning beyond letters.
    fn field(&self) -> String {
        let time = self.registered_at.chars();
        let time = time.filter(char::is_ascii_alphanumeric);
        AT.chars().chain(time).collect()
    }
}

/// The beginning of the fields that have a lease.
const AT: &str = "at";

/// The last renewal of an owner. One row extends all its leases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Renewal {
    pub owner: Owner,
    pub renewed_at: Arc<str>,
}

impl Renewal {
    pub(crate) fn key(owner: &Owner) -> Arc<str> {
        format!("{OWNER}{owner}").into()
    }

    pub(crate) fn renewed_ms(&self) -> Option<u64> {
        to_unix_ms(&self.renewed_at)
    }
}

/// A lease as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredTerms {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker_name: Option<Arc<str>>,
    registered_at: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Arc<str>>,
}

impl StoredTerms {
    fn of(lease: &Lease) -> Self {
        Self {
            owner: lease.owner.as_ref().map(Owner::shared),
            ttl_ms: lease.ttl.map(Ttl::as_ms),
            worker: lease.worker.clone(),
            worker_name: lease.worker_name.clone(),
            registered_at: Arc::clone(&lease.registered_at),
            since: lease.since.clone(),
        }
    }

    fn into_lease(self, entry: &EntryName) -> Result<Lease, crate::Error> {
        Ok(Lease {
            entry: entry.clone(),
            owner: self.owner.map(|owner| owner.parse()).transpose()?,
            ttl: self.ttl_ms.map(Ttl::from_ms).transpose()?,
            worker: self.worker,
            worker_name: self.worker_name,
            registered_at: self.registered_at,
            since: self.since,
            is_row: false,
        })
    }
}

/// Lists of state have no keys, so each row contains its own as `id`.
#[derive(Serialize, Deserialize)]
struct StoredRow {
    id: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renewed_at: Option<Arc<str>>,
    #[serde(flatten)]
    fields: BTreeMap<String, Value>,
}

impl Row for LeaseRow {
    const WHAT: &'static str = "lease";
    const IS_UPDATED: bool = true;

    fn key(&self) -> Arc<str> {
        match self {
            Self::Entry(leases) => leases.entry.key(),
            Self::Renewal(renewal) => Renewal::key(&renewal.owner),
        }
    }

    fn to_json(&self) -> Json {
        let id = self.key();
        let (renewed_at, fields) = match self {
            Self::Entry(EntryLeases { leases, .. }) => {
                let fields = leases.iter();
                let fields = fields.map(|lease| (lease.field(), json!(StoredTerms::of(lease))));
                (None, fields.collect())
            }
            Self::Renewal(renewal) => (Some(Arc::clone(&renewal.renewed_at)), BTreeMap::new()),
        };
        let stored = StoredRow {
            id,
            renewed_at,
            fields,
        };
        to_raw_value(&stored).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let bad = |error: &dyn std::fmt::Display| BadRow::new(text, &error);
        let stored: StoredRow = object(text)?;
        if let Some(owner) = stored.id.strip_prefix(OWNER) {
            let renewed_at = stored.renewed_at;
            return Ok(Self::Renewal(Renewal {
                owner: owner.parse().map_err(|error: crate::Error| bad(&error))?,
                renewed_at: renewed_at.ok_or_else(|| bad(&"missing field `renewed_at`"))?,
            }));
        }
        let Some(entry) = EntryName::from_key(&stored.id) else {
            return Err(bad(&"the id is not of a skill, prompt or owner"));
        };
        let entry = entry.map_err(|error| bad(&error))?;
        let decode = |value: Value| {
            let terms = serde_json::from_value::<StoredTerms>(value);
            let lease = terms.map_err(|error| bad(&error))?.into_lease(&entry);
            lease.map_err(|error| bad(&error))
        };
        let mut leases = Vec::new();
        let mut others = serde_json::Map::new();
        for (field, value) in stored.fields {
            if field.starts_with(AT) && value.is_object() {
                leases.push(decode(value)?);
            } else {
                others.insert(field, value);
            }
        }
        if others.contains_key("ttl_ms") || others.contains_key("registered_at") {
            let lease = decode(others.into())?;
            leases.push(Lease {
                is_row: true,
                ..lease
            });
        }
        let time = |lease: &Lease| to_unix_ms(&lease.registered_at);
        leases.sort_by(|a, b| (time(a), &a.registered_at).cmp(&(time(b), &b.registered_at)));
        Ok(Self::Entry(EntryLeases { entry, leases }))
    }

    fn registered(&self) -> Option<Change> {
        None
    }

    fn unregistered(&self) -> Option<Change> {
        None
    }

    fn registered_at(&self) -> Arc<str> {
        Arc::clone(match self {
            Self::Entry(leases) => match leases.leases.last() {
                Some(lease) => &lease.registered_at,
                None => return "".into(),
            },
            Self::Renewal(renewal) => &renewal.renewed_at,
        })
    }

    fn content(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_json().get().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_shape() {
        for text in [
            r#"{"id":"skill:a/b","at20260101T000000Z":{"owner":"mailer","registered_at":"2026-01-01T00:00:00Z","ttl_ms":30000,"worker":"w1"}}"#,
            r#"{"id":"skill:a","at20260101T000000Z":{"owner":"mailer","registered_at":"2026-01-01T00:00:00Z","worker":"w1","worker_name":"mailer-2"}}"#,
            r#"{"id":"prompt:greet","at20260101T000000Z":{"registered_at":"2026-01-01T00:00:00Z","since":"2025-01-01T00:00:00Z","ttl_ms":1}}"#,
            r#"{"id":"prompt:greet"}"#,
            r#"{"id":"owner:mailer","renewed_at":"2026-01-01T00:00:00Z"}"#,
        ] {
            assert_eq!(LeaseRow::from_json(text).unwrap().to_json().get(), text);
        }
    }

    #[test]
    fn a_damaged_row_names_its_problem() {
        #[track_caller]
        fn check(text: &str, problem: &str) {
            let bad = LeaseRow::from_json(text).unwrap_err();
            assert!(bad.problem.contains(problem), "for {text}: {}", bad.problem);
        }
        check(r#"{"id":"x:a","registered_at":"t"}"#, "not of a skill");
        check(r#"{"id":"skill:A","registered_at":"t"}"#, "lowercase");
        check(
            r#"{"id":"skill:a","at1":{}}"#,
            "missing field `registered_at`",
        );
        check(
            r#"{"id":"skill:a","ttl_ms":1}"#,
            "missing field `registered_at`",
        );
        check(r#"{"id":"owner:a"}"#, "missing field `renewed_at`");
        check(
            r#"{"id":"skill:a","at1":{"registered_at":"t","ttl_ms":0}}"#,
            "at least 1",
        );
        check("[]", "not an object");
    }

    #[test]
    fn a_row_that_is_one_lease_is_read() {
        let text = r#"{"id":"skill:a","owner":"o","ttl_ms":1,"registered_at":"t"}"#;
        let LeaseRow::Entry(row) = LeaseRow::from_json(text).unwrap() else {
            unreachable!("it is the row of an entry")
        };
        let lease = row.of("t").unwrap();
        assert_eq!(lease.owner.as_ref().unwrap().as_str(), "o");
        let ops = Lease::remove_ops([lease].into_iter());
        assert!(ops.get().contains("registered_at"), "{ops}");
    }

    #[test]
    fn a_lease_lasts_from_the_registration_or_the_later_renewal() {
        let lease = |ttl: Option<u64>| Lease {
            entry: EntryName::Skill("a".parse().unwrap()),
            owner: None,
            ttl: ttl.map(|ms| Ttl::from_ms(ms).unwrap()),
            worker: None,
            worker_name: None,
            registered_at: "1970-01-01T00:00:10Z".into(),
            since: None,
            is_row: false,
        };
        assert_eq!(lease(None).deadline_ms(Some(20_000)), None);
        assert_eq!(lease(Some(500)).deadline_ms(None), Some(10_500));
        assert_eq!(lease(Some(500)).deadline_ms(Some(20_000)), Some(20_500));
        // The clock was set back before the renewal.
        assert_eq!(lease(Some(500)).deadline_ms(Some(1_000)), Some(10_500));
    }
}
