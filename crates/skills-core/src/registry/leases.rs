//! Granting, renewing and ending leases.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Registry;
use crate::catalogue::{Catalogue, RemovalNote, RemoveError};
use crate::history::Note;
use crate::key_locks::KeyLocks;
use crate::lease::{IN_FLIGHT_MS, Lease, LeaseMarks, LeaseRow, Renewal, deadlines};
use crate::row_slot::{RowSlot, Snapshot};
use crate::timestamp::to_unix_ms;
use crate::{
    Actor, EntryName, Error, ExpiryPlan, ExpirySchedule, LeaseSettings, Owner, Precondition,
    VersionOp,
};

/// A callback for every change of a lease. It must not block.
pub type LeaseListener = Arc<dyn Fn() + Send + Sync>;

type MarkedSnapshot = (Arc<Snapshot<LeaseRow>>, Arc<LeaseMarks>);

/// The leases of a registry.
pub(super) struct Leases {
    pub rows: Catalogue<LeaseRow>,
    pub settings: LeaseSettings,
    /// Makes a row and its lease one step among the leased registrations of this process.
    pub locks: KeyLocks,
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

    /// Removes a renewal that extends no lease. A later one of its owner stays. A failure leaves a
    /// row.
    pub(super) async fn forget_renewal(&self, renewal: Renewal) {
        let key = Renewal::key(&renewal.owner);
        let _lock = self.leases.locks.lock(&key).await;
        let listed = LeaseRow::Renewal(renewal);
        let is_listed = |row: &LeaseRow| *row == listed;
        let rows = &self.leases.rows;
        if let Err(error) = rows.remove_if(key, &RemovalNote::none(), is_listed).await {
            tracing::debug!("a renewal is left: it {}", error.into_failure());
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
        stored.map_err(|error| failed(error.into_failure()))?;
        self.leases.changed();
        Ok(Renewed {
            skills: renewed.0,
            prompts: renewed.1,
            expires_at: crate::timestamp::from_unix_ms(earliest).into(),
        })
    }

    /// Whether a lease belongs to what is registered now.
    pub(super) async fn is_current(&self, lease: &Lease) -> Result<bool, Error> {
        let at = self.registered_time(&lease.entry).await?;
        Ok(at.as_ref() == Some(&lease.registered_at))
    }

    /// The time of what is registered.
    async fn registered_time(&self, entry: &EntryName) -> Result<Option<Arc<str>>, Error> {
        Ok(match entry {
            EntryName::Skill(id) => match self.stored_skill(id).await? {
                Some(RowSlot::Row(skill)) => Some(Arc::clone(&skill.registered_at)),
                _ => None,
            },
            EntryName::Prompt(name) => match self.stored_prompt(name).await? {
                Some(RowSlot::Row(prompt)) => Some(Arc::clone(&prompt.registered_at)),
                _ => None,
            },
        })
    }

    /// The lease of what is registered, and when it ends, as state has it now: the image may not
    /// have the last write of another instance yet. Without one, the leases that are left.
    pub(super) async fn read_lease(
        &self,
        entry: &EntryName,
    ) -> Result<Result<(Lease, Option<u64>), Vec<Lease>>, Error> {
        let failed = |cause| Error::state(|| format!("read the lease of {entry}"))(cause);
        let rows = &self.leases.rows;
        let row = match rows.read_key(&entry.key()).await.map_err(failed)? {
            Some(RowSlot::Row(row)) => row,
            Some(RowSlot::Damaged(_)) | None => return Ok(Err(Vec::new())),
        };
        let LeaseRow::Entry(leases) = &*row else {
            return Ok(Err(Vec::new()));
        };
        let time = self.registered_time(entry).await?;
        let Some(lease) = time.and_then(|time| leases.of(&time)) else {
            return Ok(Err(leases.leases.clone()));
        };
        let renewed = match &lease.owner {
            None => None,
            Some(owner) => self.read_renewal(owner).await?,
        };
        Ok(Ok((lease.clone(), lease.deadline_ms(renewed))))
    }

    /// When an owner renewed its leases, as state has it now.
    pub(super) async fn read_renewal(&self, owner: &Owner) -> Result<Option<u64>, Error> {
        let found = self.leases.rows.read_key(&Renewal::key(owner)).await;
        let found = found.map_err(Error::state(|| format!("read the renewal of `{owner}`")))?;
        Ok(match found {
            Some(RowSlot::Row(row)) => match &*row {
                LeaseRow::Renewal(renewal) => renewal.renewed_ms(),
                LeaseRow::Entry(_) => None,
            },
            Some(RowSlot::Damaged(_)) | None => None,
        })
    }

    /// Whether a lease that belongs to no registration can be removed. Until then its registration
    /// may be on the way.
    pub(super) fn is_abandoned(&self, lease: &Lease) -> bool {
        let at = to_unix_ms(&lease.registered_at).unwrap_or(0);
        at.saturating_add(IN_FLIGHT_MS) <= self.now_ms()
    }

    /// Plans the removal of entries past their leases.
    pub async fn plan_expiry(
        &self,
        schedule: &mut ExpirySchedule,
        elapsed: std::time::Duration,
    ) -> Result<ExpiryPlan, Error> {
        let state = self.stored_leases().await?;
        let now = self.now_ms();
        let mut ends: HashMap<EntryName, (bool, u64)> = HashMap::new();
        for (lease, end) in deadlines(&state) {
            let Some(mut end) = end else {
                continue;
            };
            let is_current = self.is_current(lease).await?;
            if !is_current && end <= now {
                // What is left of a registration; it is removed when no row can follow it.
                let at = to_unix_ms(&lease.registered_at).unwrap_or(0);
                end = end.max(at.saturating_add(IN_FLIGHT_MS));
            }
            let known = ends.entry(lease.entry.clone()).or_insert((is_current, end));
            // The lease of what is registered decides.
            if is_current || (!known.0 && end < known.1) {
                *known = (is_current, end);
            }
        }
        if ends.is_empty() {
            return Ok(ExpiryPlan::default());
        }
        let ends = ends.into_iter().map(|(entry, (_, end))| (entry, end));
        Ok(schedule.plan(ends, now, elapsed))
    }

    /// Removes an entry whose lease has ended, and its lease. Returns whether the entry was
    /// removed: not if it was renewed, registered again or removed in the meantime, here or by
    /// another instance.
    pub async fn remove_expired(&self, entry: &EntryName) -> Result<bool, Error> {
        let key = entry.key();
        let _lock = self.leases.locks.lock(&key).await;
        let (lease, deadline) = match self.read_lease(entry).await? {
            Ok(found) => found,
            Err(mut left) => {
                left.retain(|lease| self.is_abandoned(lease));
                if !left.is_empty() {
                    self.drop_leases(entry, &left).await;
                }
                return Ok(false);
            }
        };
        if deadline.is_none_or(|deadline| deadline > self.now_ms()) {
            return Ok(false);
        }
        self.remove_leased(&lease, VersionOp::Expire).await
    }

    /// Removes the entry of a lease, if it is still the same registration, and the lease.
    pub(super) async fn remove_leased(&self, lease: &Lease, op: VersionOp) -> Result<bool, Error> {
        let Lease { entry, .. } = lease;
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
        let failed = |error: RemoveError| error.into_error("remove", Precondition::Any, entry);
        if removed.as_ref().is_err_and(|error| !error.is_removed()) {
            return removed.map_err(failed);
        }
        if !matches!(removed, Ok(false)) {
            let reason = match (op, &lease.owner) {
                (VersionOp::Gc, Some(_)) => "its owner is gone",
                _ => "it is past its lease",
            };
            let owner = lease.owner.as_ref().map(Owner::as_str);
            tracing::info!(owner, "{entry} is removed: {reason}");
        }
        // It belongs to nothing any more.
        self.drop_leases(entry, std::slice::from_ref(lease)).await;
        removed.map_err(failed)
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
