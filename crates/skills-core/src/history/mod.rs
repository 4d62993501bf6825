//! Versions of registered skills and prompts.
//!
//! The rules: every change of an entry makes a version. Its number only grows, also after the
//! entry was unregistered. The last versions are kept, in a scope beside the one of the entries;
//! each contains the row as it was stored. Registering the same content again makes none. A row
//! that has no version, such as one of an older release, gets one before it is replaced, and is
//! listed with that number until then.
//!
//! A version and its row are written at the same time. If the process ends in between, one of
//! them may be missing; then the call was not acknowledged.

mod entry;
mod kept;
mod reference;
mod ring_buffer;
mod store;
mod tombstone;
mod versions;

use std::sync::Arc;

pub(crate) use entry::{StoredVersion, for_each_version, has_only_lengths};
pub(crate) use kept::{Kept, VersionPlace};
pub use reference::VersionRef;
pub(crate) use store::{Next, Plan, VersionStore, says_the_same};
pub(crate) use tombstone::Tombstone;
pub(crate) use versions::{NotThere, RowHead, Version, Versions};

use crate::{Digest, Owner};

/// What made a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VersionOp {
    /// A registration.
    #[default]
    Register,
    /// A rollback to an older version.
    Rollback,
    /// It was registered without a version: by an older release, or by a program that writes rows
    /// itself.
    Found,
    /// It was unregistered.
    Unregister,
    /// It was removed because its lease had ended.
    Expire,
    /// It was removed because its owner was gone.
    Gc,
}

impl VersionOp {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Register,
        Self::Rollback,
        Self::Found,
        Self::Unregister,
        Self::Expire,
        Self::Gc,
    ];

    /// Its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Rollback => "rollback",
            Self::Found => "found",
            Self::Unregister => "unregister",
            Self::Expire => "expire",
            Self::Gc => "gc",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == name)
    }
}

/// Who made a change, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    /// The owner that the registration named.
    pub owner: Option<Owner>,
    /// The id of the worker that made the call, if the engine tells.
    pub worker: Option<Arc<str>>,
    /// The name of that worker.
    pub worker_name: Option<Arc<str>>,
}

impl Actor {
    /// A worker.
    pub fn worker(id: Option<Arc<str>>) -> Self {
        Self {
            worker: id,
            ..Self::default()
        }
    }
}

/// What a version says beside its row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub op: VersionOp,
    /// The version that a rollback brought back.
    pub from: Option<u64>,
    pub actor: Actor,
}

/// A version without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionHead {
    /// Its number, from 1.
    pub version: u64,
    /// When it was made, RFC 3339 in UTC.
    pub at: Arc<str>,
    /// What made it.
    pub op: VersionOp,
    /// The digest of its content; none if the entry was removed.
    pub digest: Option<Digest>,
    /// The length of its content.
    pub bytes: Option<usize>,
    /// The version that a rollback brought back.
    pub from: Option<u64>,
    /// Who made it.
    pub actor: Actor,
    /// Whether it is what is registered now.
    pub current: bool,
}
