//! Storing an entry together with its owner and its lease.
//!
//! State has no writes of two rows in one step. So the lease is added to the leases of its entry
//! first, beside the one of what is registered, and then the row is written: whenever the process
//! ends, the row that is there has its own lease. What was replaced is removed later.

use std::sync::{Arc, Mutex, PoisonError};

use super::Registry;
use crate::catalogue::{Catalogue, PutError, RemovalNote, RemoveError};
use crate::history::Note;
use crate::lease::{EntryLeases, Lease, LeaseRow};
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::{EntryName, Error, Failure, LeaseTerms, Pending, Precondition};

/// How many leases of one entry there may be, with those of registrations that were replaced.
const LEASES_MAX: usize = 8;
/// How many of these stay: other instances may be about to write their rows.
const LEASES_KEPT: usize = 3;

/// A rollback: the version that it brings back, and the lease that it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollback {
    /// The version.
    pub from: u64,
    /// The lease of what is registered.
    pub(super) lease: Option<Lease>,
}

/// What a registration says beside its content.
pub(super) struct Terms {
    pub entry: EntryName,
    pub expected: Precondition,
    pub lease: LeaseTerms,
    pub rollback: Option<Rollback>,
}

impl Registry {
    /// Stores an entry with its lease, and returns the time of registration. Without a lease there
    /// is no other call, unless the entry had one, which ends.
    pub(super) async fn put_with_lease<T: Row>(
        &self,
        (catalogue, key): (&Catalogue<T>, Arc<str>),
        terms: Terms,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<str>, Error> {
        let Terms {
            entry,
            expected,
            lease,
            rollback,
        } = terms;
        let note = self.registration_note(&lease, rollback.as_ref()).await;
        let worker_name = match &lease.worker {
            Some(worker) if !lease.is_empty() => self.worker_name(worker).await,
            _ => None,
        };
        let lease = match rollback.and_then(|rollback| rollback.lease) {
            None if lease.is_empty() => None,
            None => Some(Lease {
                entry: entry.clone(),
                owner: lease.owner,
                ttl: lease.ttl,
                worker: lease.worker,
                worker_name,
                registered_at: "".into(),
                since: None,
                is_row: false,
            }),
            kept => kept,
        };
        let Some(lease) = lease else {
            let ending = self.known_lease(&entry);
            let put = catalogue.put(key, expected, &note, make).await;
            let row = put.map_err(|error| error.into_error(expected, T::WHAT, entry.name()))?;
            self.end_lease(ending).await;
            return Ok(row.registered_at());
        };
        let lease_key = entry.key();
        let _lock = self.leases.locks.lock(&lease_key).await;
        let outdated = Mutex::default();
        let prepare = |registered_at| -> Pending<'_, Result<(), Failure>> {
            let lease = Lease {
                registered_at,
                ..lease.clone()
            };
            Box::pin(self.add_lease(lease, &outdated))
        };
        let put = catalogue.put_prepared(key, expected, &note, make, Some(&prepare));
        let put = put.await;
        self.leases.changed();
        let row = put.map_err(|error| error.into_error(expected, T::WHAT, entry.name()))?;
        let outdated = outdated
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if !outdated.is_empty() {
            self.drop_leases(&entry, &outdated).await;
        }
        Ok(row.registered_at())
    }

    /// Adds a lease to those of its entry, and finds the ones that can be removed after that.
    async fn add_lease(&self, lease: Lease, outdated: &Mutex<Vec<Lease>>) -> Result<(), Failure> {
        let entry = lease.entry.clone();
        let key = entry.key();
        let added = |known: Option<&LeaseRow>| {
            let mut leases = match known {
                Some(LeaseRow::Entry(known)) => known.leases.clone(),
                Some(LeaseRow::Renewal(_)) | None => Vec::new(),
            };
            leases.push(lease.clone());
            LeaseRow::Entry(EntryLeases {
                entry: entry.clone(),
                leases,
            })
        };
        let rows = &self.leases.rows;
        let stored = rows.update(&key, &lease.add_ops(), added).await?;
        if let Some(RowSlot::Row(row)) = stored {
            if let LeaseRow::Entry(stored) = &*row
                && stored.leases.len() > LEASES_MAX
            {
                let others = stored.leases.iter();
                let others = others.filter(|other| other.registered_at != lease.registered_at);
                let mut others: Vec<_> = others.cloned().collect();
                others.truncate(others.len() - LEASES_KEPT);
                *outdated.lock().unwrap_or_else(PoisonError::into_inner) = others;
            }
            return Ok(());
        }
        // The row cannot be read, so its content is not known.
        let (note, row) = (Note::default(), || added(None));
        let put = rows.put(Arc::clone(&key), Precondition::Any, &note, row);
        put.await.map(drop).map_err(PutError::into_failure)
    }

    /// The lease of what is registered, as far as this process has heard: most entries have none,
    /// and they must not cost a call.
    pub(super) fn known_lease(&self, entry: &EntryName) -> Option<Lease> {
        let Some(RowSlot::Row(row)) = self.leases.rows.peek(&entry.key()) else {
            return None;
        };
        let LeaseRow::Entry(leases) = &*row else {
            return None;
        };
        let registered_at = match entry {
            EntryName::Skill(id) => time_of(self.skills.peek(id.as_str()))?,
            EntryName::Prompt(name) => time_of(self.prompts.peek(name.as_str()))?,
        };
        leases.of(&registered_at).cloned()
    }

    /// Removes the lease of an entry that is not registered any more.
    pub(super) async fn end_lease_of_removed(
        &self,
        ending: Option<Lease>,
        removed: &Result<bool, RemoveError>,
    ) {
        if removed.as_ref().err().is_none_or(RemoveError::is_removed) {
            self.end_lease(ending).await;
        }
    }

    /// Removes the lease of an entry that was registered without one, or removed. The lease does
    /// not apply to another registration, so a failure has no effect but a row that is left.
    pub(super) async fn end_lease(&self, ending: Option<Lease>) {
        if let Some(lease) = ending {
            let entry = lease.entry.clone();
            self.drop_leases(&entry, &[lease]).await;
        }
    }

    /// Removes leases of an entry. Those that other instances add meanwhile stay.
    pub(super) async fn drop_leases(&self, entry: &EntryName, leases: &[Lease]) {
        if let Err(failure) = self.try_drop_leases(entry, leases).await {
            tracing::debug!("a lease of {entry} is left: it {failure}");
        }
        self.leases.changed();
    }

    async fn try_drop_leases(&self, entry: &EntryName, leases: &[Lease]) -> Result<(), Failure> {
        let (key, rows) = (entry.key(), &self.leases.rows);
        let remaining = |row: &LeaseRow| match row {
            LeaseRow::Entry(row) => {
                let remaining = row.leases.iter().filter(|lease| !leases.contains(lease));
                remaining.cloned().collect()
            }
            LeaseRow::Renewal(_) => Vec::new(),
        };
        let is_needless = |row: &LeaseRow| remaining(row).is_empty();
        let Some(found) = rows.read_key(&key).await? else {
            return Ok(());
        };
        let is_last = matches!(&found, RowSlot::Row(row) if is_needless(row));
        let note = RemovalNote::none();
        if is_last {
            let removed = rows.remove_if(Arc::clone(&key), &note, is_needless).await;
            let removed = removed.map_err(RemoveError::into_failure)?;
            // Another process may have been first.
            if removed || rows.read_key(&key).await?.is_none() {
                return Ok(());
            }
        }
        let ops = Lease::remove_ops(leases.iter());
        let changed = |known: Option<&LeaseRow>| {
            LeaseRow::Entry(EntryLeases {
                entry: entry.clone(),
                leases: known.map(remaining).unwrap_or_default(),
            })
        };
        if rows.update(&key, &ops, changed).await?.is_none() {
            // It was removed at this moment, and the update stored `null` in its place.
            rows.remove_null(&key).await?;
        }
        Ok(())
    }
}

fn time_of<T: Row>(slot: Option<RowSlot<T>>) -> Option<Arc<str>> {
    match slot? {
        RowSlot::Row(row) => Some(row.registered_at()),
        RowSlot::Damaged(_) => None,
    }
}
