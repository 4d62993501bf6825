//! Removing what named an owner that is gone.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Registry;
use crate::lease::{Lease, LeaseRow, Renewal, deadlines};
use crate::timestamp::from_unix_ms;
use crate::{EntryName, Error, Owner, VersionOp};

/// What was removed, or would be, and every owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Garbage {
    /// The entries, skills first, by name.
    pub entries: Vec<GarbageEntry>,
    /// Every owner that a registration names, by name.
    pub owners: Vec<OwnerState>,
    /// How many rows of leases belong to no entry.
    pub rows: usize,
}

/// An entry whose owner is gone, or whose lease has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GarbageEntry {
    /// The entry.
    pub entry: EntryName,
    /// The owner that it named.
    pub owner: Option<Owner>,
    /// When its lease ended, if it had one.
    pub expired_at: Option<Arc<str>>,
}

/// An owner and its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerState {
    /// The owner.
    pub owner: Owner,
    /// Whether a worker of this name or id is connected, or one that registered an entry for it.
    pub connected: bool,
    /// Whether it may be connected to another engine with the same state, whose workers this one
    /// does not know. Its entries stay.
    pub unknown: bool,
    /// How many skills name it.
    pub skills: usize,
    /// How many prompts name it.
    pub prompts: usize,
    /// When the last of its leases ends, if one is valid.
    pub expires_at: Option<Arc<str>>,
}

/// What is known of one owner.
#[derive(Default)]
struct Known {
    connected: bool,
    skills: usize,
    prompts: usize,
    expires: Option<u64>,
}

impl Registry {
    /// Removes every entry that names an owner which is neither connected nor holds a valid
    /// lease, and every entry past its lease that names none. While another engine with the same
    /// state runs, no owner counts as gone. With `dry_run` nothing is removed.
    ///
    /// This is also the place to give back what other scopes keep of removed entries.
    pub async fn collect_garbage(&self, dry_run: bool) -> Result<Garbage, Error> {
        let workers = self.connected_workers().await?;
        let is_shared = self.engine.shares_state();
        let state = self.stored_leases().await?;
        let now = self.now_ms();
        let mut current: Vec<(&Lease, Option<u64>)> = Vec::new();
        let mut outdated = Vec::new();
        for (lease, deadline) in deadlines(&state) {
            if self.is_current(lease).await? {
                current.push((lease, deadline));
            } else if self.is_abandoned(lease) {
                outdated.push(lease);
            }
        }
        let mut owners: BTreeMap<&Owner, Known> = BTreeMap::new();
        for (lease, deadline) in &current {
            let Some(owner) = &lease.owner else {
                continue;
            };
            let known = owners.entry(owner).or_default();
            let mut names = [Some(owner.as_str()), lease.worker.as_deref()]
                .into_iter()
                .chain([lease.worker_name.as_deref()])
                .flatten();
            known.connected |= names.any(|name| workers.contains(name));
            match lease.entry {
                EntryName::Skill(_) => known.skills += 1,
                EntryName::Prompt(_) => known.prompts += 1,
            }
            known.expires = known.expires.max(deadline.filter(|end| *end > now));
        }
        let is_garbage = |(lease, deadline): &(&Lease, Option<u64>)| match &lease.owner {
            None => deadline.is_some_and(|end| end <= now),
            Some(owner) => {
                let known = &owners[owner];
                !known.connected && known.expires.is_none() && !is_shared
            }
        };
        let (garbage, kept): (Vec<_>, Vec<_>) = current.iter().partition(|one| is_garbage(one));
        let renewals = unused_renewals(&state.rows, kept.iter().map(|(lease, _)| *lease));
        let nulls = self.leases.rows.null_keys();
        let nulls = nulls.map_err(Error::state(|| "read the leases"))?;
        let rows = outdated.len() + renewals.len() + nulls.len();
        let mut entries: Vec<_> = garbage.iter().map(describe).collect();
        if !dry_run {
            entries = self.remove_garbage(&garbage, entries, &current).await?;
            for lease in outdated {
                self.drop_leases(&lease.entry, std::slice::from_ref(lease))
                    .await;
            }
            for renewal in renewals {
                self.forget_renewal(renewal).await;
            }
            for key in nulls {
                if let Err(failure) = self.leases.rows.remove_null(&key).await {
                    tracing::debug!("the row `{key}` without a lease is left: it {failure}");
                }
            }
        }
        entries.sort_by(|a, b| a.entry.cmp(&b.entry));
        let owners = owners.into_iter().map(|(owner, known)| OwnerState {
            owner: owner.clone(),
            connected: known.connected,
            unknown: is_shared && !known.connected && known.expires.is_none(),
            skills: known.skills,
            prompts: known.prompts,
            expires_at: known.expires.map(|end| from_unix_ms(end).into()),
        });
        Ok(Garbage {
            owners: owners.collect(),
            entries,
            rows,
        })
    }

    /// Removes entries; returns those that were still there, and still garbage.
    async fn remove_garbage(
        &self,
        garbage: &[(&Lease, Option<u64>)],
        described: Vec<GarbageEntry>,
        current: &[(&Lease, Option<u64>)],
    ) -> Result<Vec<GarbageEntry>, Error> {
        let mut removed = Vec::with_capacity(described.len());
        for ((lease, _), entry) in garbage.iter().zip(described) {
            let _lock = self.leases.locks.lock(&lease.entry.key()).await;
            let same_owner = current.iter().filter(|(other, _)| {
                other.entry == lease.entry || (other.owner.is_some() && other.owner == lease.owner)
            });
            let of_owner: Vec<_> = same_owner.map(|(lease, _)| *lease).collect();
            if self.is_still_garbage(lease, &of_owner).await?
                && self.remove_leased(lease, VersionOp::Gc).await?
            {
                removed.push(entry);
            }
        }
        Ok(removed)
    }

    /// Whether an entry was neither renewed nor registered again since its lease was listed.
    async fn is_still_garbage(&self, lease: &Lease, of_owner: &[&Lease]) -> Result<bool, Error> {
        match self.read_lease(&lease.entry).await? {
            Ok((found, _)) if found == *lease => {}
            Ok(_) | Err(_) => return Ok(false),
        }
        let renewed = match &lease.owner {
            Some(owner) => self.read_renewal(owner).await?,
            None => None,
        };
        let now = self.now_ms();
        // A lease of one entry protects every entry of its owner.
        let mut ends = of_owner.iter().map(|lease| lease.deadline_ms(renewed));
        Ok(ends.all(|end| end.is_none_or(|end| end <= now)))
    }
}

fn describe((lease, deadline): &(&Lease, Option<u64>)) -> GarbageEntry {
    GarbageEntry {
        entry: lease.entry.clone(),
        owner: lease.owner.clone(),
        expired_at: deadline.map(|end| from_unix_ms(end).into()),
    }
}

/// The renewals that extend no lease that stays.
fn unused_renewals<'a>(
    rows: &[Arc<LeaseRow>],
    kept: impl Iterator<Item = &'a Lease>,
) -> Vec<Renewal> {
    let used: HashSet<&Owner> = kept.filter_map(|lease| lease.owner.as_ref()).collect();
    let unused = rows.iter().filter_map(|row| match &**row {
        LeaseRow::Renewal(renewal) if !used.contains(&renewal.owner) => Some(renewal),
        LeaseRow::Renewal(_) | LeaseRow::Entry(_) => None,
    });
    unused.cloned().collect()
}
