//! The rows of the scope of leases: one for each leased entry, and one for each owner that
//! renewed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::{EntryName, OWNER, Owner, Ttl};
use crate::row::{BadRow, Row, object};
use crate::timestamp::to_unix_ms;
use crate::{Change, Json};

/// A row of the scope.
#[derive(Debug, PartialEq)]
pub(crate) enum LeaseRow {
    Lease(Lease),
    Renewal(Renewal),
}

/// The owner and the lease of one registration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lease {
    pub entry: EntryName,
    pub owner: Option<Owner>,
    pub ttl: Option<Ttl>,
    /// The id of the worker that registered it.
    pub worker: Option<Arc<str>>,
    /// The time of the registration that it belongs to.
    pub registered_at: Arc<str>,
}

impl Lease {
    /// When it ends, if it does, given the last renewal of its owner.
    pub(crate) fn deadline_ms(&self, renewed_ms: Option<u64>) -> Option<u64> {
        let from = to_unix_ms(&self.registered_at)?.max(renewed_ms.unwrap_or(0));
        Some(from.saturating_add(self.ttl?.as_ms()))
    }
}

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

/// Lists of state have no keys, so each row contains its own as `id`.
#[derive(Serialize, Deserialize)]
struct StoredLease {
    id: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registered_at: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renewed_at: Option<Arc<str>>,
}

impl Row for LeaseRow {
    const WHAT: &'static str = "lease";

    fn key(&self) -> Arc<str> {
        match self {
            Self::Lease(lease) => lease.entry.key(),
            Self::Renewal(renewal) => Renewal::key(&renewal.owner),
        }
    }

    fn to_json(&self) -> Json {
        let id = self.key();
        let stored = match self {
            Self::Lease(lease) => StoredLease {
                id,
                owner: lease.owner.as_ref().map(Owner::shared),
                ttl_ms: lease.ttl.map(Ttl::as_ms),
                worker: lease.worker.clone(),
                registered_at: Some(Arc::clone(&lease.registered_at)),
                renewed_at: None,
            },
            Self::Renewal(renewal) => StoredLease {
                id,
                owner: None,
                ttl_ms: None,
                worker: None,
                registered_at: None,
                renewed_at: Some(Arc::clone(&renewal.renewed_at)),
            },
        };
        to_raw_value(&stored).expect("a row of strings is JSON")
    }

    fn from_json(text: &str) -> Result<Self, BadRow> {
        let bad = |error: &crate::Error| BadRow::new(text, error);
        let missing = |field: &str| BadRow::new(text, &format!("missing field `{field}`"));
        let stored: StoredLease = object(text)?;
        let owner = |owner: &str| owner.parse::<Owner>().map_err(|error| bad(&error));
        if let Some(renewed) = stored.id.strip_prefix(OWNER) {
            return Ok(Self::Renewal(Renewal {
                owner: owner(renewed)?,
                renewed_at: stored.renewed_at.ok_or_else(|| missing("renewed_at"))?,
            }));
        }
        let Some(entry) = EntryName::from_key(&stored.id) else {
            return Err(BadRow::new(
                text,
                &"the id is not of a skill, prompt or owner",
            ));
        };
        let ttl = stored.ttl_ms.map(Ttl::from_ms).transpose();
        Ok(Self::Lease(Lease {
            entry: entry.map_err(|error| bad(&error))?,
            owner: stored.owner.as_deref().map(owner).transpose()?,
            ttl: ttl.map_err(|error| bad(&error))?,
            worker: stored.worker,
            registered_at: stored
                .registered_at
                .ok_or_else(|| missing("registered_at"))?,
        }))
    }

    fn registered(&self) -> Option<Change> {
        None
    }

    fn unregistered(&self) -> Option<Change> {
        None
    }

    fn registered_at(&self) -> Arc<str> {
        Arc::clone(match self {
            Self::Lease(lease) => &lease.registered_at,
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
            r#"{"id":"skill:a/b","owner":"mailer","ttl_ms":30000,"worker":"w1","registered_at":"2026-01-01T00:00:00Z"}"#,
            r#"{"id":"prompt:greet","ttl_ms":1,"registered_at":"2026-01-01T00:00:00Z"}"#,
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
        check(r#"{"id":"skill:a"}"#, "missing field `registered_at`");
        check(r#"{"id":"owner:a"}"#, "missing field `renewed_at`");
        check(
            r#"{"id":"skill:a","registered_at":"t","ttl_ms":0}"#,
            "at least 1",
        );
        check("[]", "not an object");
    }

    #[test]
    fn a_lease_lasts_from_the_registration_or_the_later_renewal() {
        let lease = |ttl: Option<u64>| Lease {
            entry: EntryName::Skill("a".parse().unwrap()),
            owner: None,
            ttl: ttl.map(|ms| Ttl::from_ms(ms).unwrap()),
            worker: None,
            registered_at: "1970-01-01T00:00:10Z".into(),
        };
        assert_eq!(lease(None).deadline_ms(Some(20_000)), None);
        assert_eq!(lease(Some(500)).deadline_ms(None), Some(10_500));
        assert_eq!(lease(Some(500)).deadline_ms(Some(20_000)), Some(20_500));
        // The clock was set back before the renewal.
        assert_eq!(lease(Some(500)).deadline_ms(Some(1_000)), Some(10_500));
    }
}
