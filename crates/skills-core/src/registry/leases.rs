//! Granting, renewing and ending leases.

use std::sync::{Arc, Mutex, PoisonError};

use super::Registry;
use crate::catalogue::{Catalogue, RemovalNote};
use crate::history::Note;
use crate::key_locks::KeyLocks;
use crate::lease::{Lease, LeaseMarks, LeaseRow, Renewal, deadlines};
use crate::row_slot::{RowSlot, Snapshot};
use crate::timestamp::to_unix_ms;
use crate::{
    Actor, EntryName, Error, ExpiryPlan, ExpirySchedule, LeaseSettings, LeaseTerms, Owner,
    Precondition, VersionOp,
};

/// A callback for every change of a lease. It must not block.
pub type LeaseListener = Arc<dyn Fn() + Send + Sync>;

type MarkedSnapshot = (Arc<Snapshot<LeaseRow>>, Arc<LeaseMarks>);

/// The leases of a registry.
pub(super) struct Leases {
    pub rows: Catalogue<LeaseRow>,
    pub settings: LeaseSettings,
    /// Makes a row and its lease one step among the leased registrations of this process.
    locks: KeyLocks,
    /// The marks of the newest snapshot.
    marks: Mutex<Option<MarkedSnapshot>>,
    listeners: Mutex<Vec<LeaseListener>>,
}

/// What a renewal extended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// How many skills.
    pub skills: usize,
    /// How many prompts.
    pub prompts: usize,
    /// The earliest end of their leases, RFC 3339 in UTC.
    pub expires_at: Arc<str>,
}

impl Leases {
    pub(super) fn new(rows: Catalogue<LeaseRow>, settings: LeaseSettings) -> Self {
        Self {
            rows,
            settings,
            locks: KeyLocks::default(),
            marks: Mutex::default(),
            listeners: Mutex::default(),
        }
    }

    /// A lease was granted, renewed or ended, here or by another instance.
    pub(super) fn changed(&self) {
        let listeners = self.listeners.lock();
        let listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener());
    }
}

impl Registry {
    /// The scope of state that holds the owners and leases.
    pub fn leases_scope(skills_scope: &str) -> String {
        format!("{skills_scope}.leases")
    }

    /// What happens to entries past their leases.
    pub const fn lease_settings(&self) -> LeaseSettings {
        self.leases.settings
    }

    /// Adds a callback for every change of a lease, by this instance or another.
    pub fn listen_to_leases(&self, listener: LeaseListener) {
        let listeners = self.leases.listeners.lock();
        let mut listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.push(listener);
    }

    /// Stores an entry with `put`, which returns its time of registration, and then its lease.
    /// Without a lease there is no other call, unless the entry had one, which ends.
    pub(super) async fn put_with_lease(
        &self,
        entry: EntryName,
        terms: LeaseTerms,
        put: impl Future<Output = Result<Arc<str>, Error>>,
    ) -> Result<Arc<str>, Error> {
        if terms.is_empty() {
            let registered_at = put.await?;
            self.end_lease(&entry).await;
            return Ok(registered_at);
        }
        let key = entry.key();
        let _lock = self.leases.locks.lock(&key).await;
        let registered_at = put.await?;
        let doing = format!("store the lease of {entry}, which is registered without it now");
        let lease = LeaseRow::Lease(Lease {
            entry,
            owner: terms.owner,
            ttl: terms.ttl,
            worker: terms.worker,
            registered_at: Arc::clone(&registered_at),
        });
        let stored = self
            .leases
            .rows
            .put(key, Precondition::Any, &Note::default(), || lease)
            .await;
        stored.map_err(|error| error.into_state_error(doing))?;
        self.leases.changed();
        Ok(registered_at)
    }

    /// Removes the lease of an entry that was registered without one, or removed. The lease does
    /// not apply to another registration, so a failure has no effect but a row that is left.
    pub(super) async fn end_lease(&self, entry: &EntryName) {
        let key = entry.key();
        // Only in memory: most entries have no lease, and they must not cost a call.
        let Some(RowSlot::Row(known)) = self.leases.rows.peek(&key) else {
            return;
        };
        let removed = self
            .leases
            .rows
            .remove_if(key, &RemovalNote::default(), |row| *row == *known)
            .await;
        if let Err(failure) = removed {
            tracing::debug!("the lease of {entry} is left: it {failure}");
        }
        self.leases.changed();
    }

    /// Removes the last renewal of an owner that no lease names any more. A failure leaves a row.
    pub(super) async fn forget_renewal(&self, owner: &Owner) {
        let key = Renewal::key(owner);
        let _lock = self.leases.locks.lock(&key).await;
        if let Err(failure) = self
            .leases
            .rows
            .remove_if(key, &RemovalNote::default(), |_| true)
            .await
        {
            tracing::debug!("the renewal of `{owner}` is left: it {failure}");
        }
    }

    /// Extends the leases of every entry that names this owner, from now on.
    pub async fn renew(&self, owner: &Owner) -> Result<Renewed, Error> {
        let failed = |cause| Error::state(|| format!("renew the leases of `{owner}`"))(cause);
        let key = Renewal::key(owner);
        let _lock = self.leases.locks.lock(&key).await;
        let state = self.leases.rows.snapshot().await.map_err(failed)?;
        let now = self.now_ms();
        let mut renewed = (0, 0);
        let mut earliest: Option<u64> = None;
        let mut entries = 0;
        for (lease, _) in deadlines(&state).filter(|(lease, _)| lease.owner.as_ref() == Some(owner))
        {
            if !self.is_current(lease).await? {
                continue;
            }
            entries += 1;
            if let Some(deadline) = lease.deadline_ms(Some(now)) {
                earliest = Some(earliest.unwrap_or(deadline).min(deadline));
                match lease.entry {
                    EntryName::Skill(_) => renewed.0 += 1,
                    EntryName::Prompt(_) => renewed.1 += 1,
                }
            }
        }
        let Some(earliest) = earliest else {
            return Err(Error::NoLease {
                owner: owner.clone(),
                entries,
            });
        };
        let renewed_at: Arc<str> = (self.now)().into();
        let renewal = || {
            LeaseRow::Renewal(Renewal {
                owner: owner.clone(),
                renewed_at,
            })
        };
        let stored = self
            .leases
            .rows
            .put(key, Precondition::Any, &Note::default(), renewal)
            .await;
        let doing = || format!("renew the leases of `{owner}`");
        stored.map_err(|error| error.into_state_error(doing()))?;
        self.leases.changed();
        Ok(Renewed {
            skills: renewed.0,
            prompts: renewed.1,
            expires_at: crate::timestamp::from_unix_ms(earliest).into(),
        })
    }

    /// Whether a lease belongs to what is registered now.
    pub(super) async fn is_current(&self, lease: &Lease) -> Result<bool, Error> {
        let at = match &lease.entry {
            EntryName::Skill(id) => match self.stored_skill(id).await? {
                Some(RowSlot::Row(skill)) => Some(Arc::clone(&skill.registered_at)),
                _ => None,
            },
            EntryName::Prompt(name) => match self.stored_prompt(name).await? {
                Some(RowSlot::Row(prompt)) => Some(Arc::clone(&prompt.registered_at)),
                _ => None,
            },
        };
        Ok(at.as_ref() == Some(&lease.registered_at))
    }

    /// Plans the removal of entries past their leases.
    pub async fn plan_expiry(
        &self,
        schedule: &mut ExpirySchedule,
        elapsed: std::time::Duration,
    ) -> Result<ExpiryPlan, Error> {
        let state = self.stored_leases().await?;
        let ends = deadlines(&state).filter_map(|(lease, end)| Some((lease.entry.clone(), end?)));
        let ends: Vec<_> = ends.collect();
        if ends.is_empty() {
            return Ok(ExpiryPlan::default());
        }
        Ok(schedule.plan(ends, self.now_ms(), elapsed))
    }

    /// Removes an entry whose lease has ended, and its lease. Returns whether the entry was
    /// removed: not if it was renewed, registered again or removed in the meantime, here or by
    /// another instance.
    pub async fn remove_expired(&self, entry: &EntryName) -> Result<bool, Error> {
        let failed = |cause| Error::state(|| format!("remove {entry} past its lease"))(cause);
        let key = entry.key();
        let _lock = self.leases.locks.lock(&key).await;
        let rows = &self.leases.rows;
        // The image may not have the last write of another instance yet.
        let Some(RowSlot::Row(row)) = rows.read_key(&key).await.map_err(failed)? else {
            return Ok(false);
        };
        let LeaseRow::Lease(lease) = &*row else {
            return Ok(false);
        };
        let renewed = match &lease.owner {
            None => None,
            Some(owner) => {
                let renewal = rows.read_key(&Renewal::key(owner)).await.map_err(failed)?;
                match renewal {
                    Some(RowSlot::Row(row)) => match &*row {
                        LeaseRow::Renewal(renewal) => renewal.renewed_ms(),
                        LeaseRow::Lease(_) => None,
                    },
                    _ => None,
                }
            }
        };
        let deadline = lease.deadline_ms(renewed);
        if deadline.is_none_or(|deadline| deadline > self.now_ms()) {
            return Ok(false);
        }
        self.remove_leased(lease, VersionOp::Expire).await
    }

    /// Removes the entry of a lease, if it is still the same registration, and the lease.
    pub(super) async fn remove_leased(&self, lease: &Lease, op: VersionOp) -> Result<bool, Error> {
        let Lease { entry, .. } = lease;
        let failed = |cause| Error::state(|| format!("remove {entry} past its lease"))(cause);
        let at = &lease.registered_at;
        let actor = Actor {
            owner: lease.owner.clone(),
            ..Actor::default()
        };
        let note = self.removal_note(op, actor).await;
        let removed = match entry {
            EntryName::Skill(id) => {
                let is_same = |skill: &crate::Skill| skill.registered_at == *at;
                self.skills.remove_if(id.shared(), &note, is_same).await
            }
            EntryName::Prompt(name) => {
                let is_same = |prompt: &crate::Prompt| prompt.registered_at == *at;
                self.prompts.remove_if(name.shared(), &note, is_same).await
            }
        };
        let removed = removed.map_err(failed)?;
        if removed {
            tracing::info!(
                owner = lease.owner.as_ref().map(Owner::as_str),
                "{entry} is past its lease"
            );
        }
        let is_same = |row: &LeaseRow| matches!(row, LeaseRow::Lease(found) if found == lease);
        let ended = self
            .leases
            .rows
            .remove_if(entry.key(), &RemovalNote::default(), is_same)
            .await;
        ended.map_err(failed)?;
        self.leases.changed();
        Ok(removed)
    }

    pub(super) async fn stored_leases(&self) -> Result<Arc<Snapshot<LeaseRow>>, Error> {
        let state = self.leases.rows.snapshot().await;
        state.map_err(Error::state(|| "read the leases"))
    }

    /// What lists show of leases; `None` if there is no lease.
    pub(super) async fn lease_marks(&self) -> Result<Option<Arc<LeaseMarks>>, Error> {
        let state = self.stored_leases().await?;
        if state.rows.is_empty() {
            return Ok(None);
        }
        let now = self.now_ms();
        let kept = self.leases.marks.lock();
        let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
        if let Some((of, marks)) = &*kept
            && Arc::ptr_eq(of, &state)
            && marks.are_current(now)
        {
            return Ok(Some(Arc::clone(marks)));
        }
        let marks = Arc::new(LeaseMarks::new(&state, now));
        *kept = Some((state, Arc::clone(&marks)));
        Ok(Some(marks))
    }

    /// The wall clock, in milliseconds since 1970.
    pub(super) fn now_ms(&self) -> u64 {
        to_unix_ms(&(self.now)()).expect("the clock writes RFC 3339 in UTC")
    }
}
