//! The words for an owner without a lease.

use std::fmt;

use crate::Owner;

/// Why nothing was renewed.
pub(super) struct NoLease<'a>(pub &'a Owner, pub usize);

impl fmt::Display for NoLease<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(owner, entries) = self;
        match entries {
            0 => write!(f, "no entry names the owner `{owner}`"),
            1 => write!(f, "1 entry names the owner `{owner}`, without `ttl_ms`"),
            _ => write!(
                f,
                "{entries} entries name the owner `{owner}`, without `ttl_ms`"
            ),
        }
    }
}
