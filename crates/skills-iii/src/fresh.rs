//! Ids for calls.
//!
//! They must be unique, not secret: a random start and a count make one without
//! asking the system for randomness each time, which costs as much as the rest
//! of a call.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::{Builder, Uuid};

static START: LazyLock<(u64, AtomicU64)> = LazyLock::new(|| {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    (high, AtomicU64::new(low))
});

/// An id nobody else has, in the form of a random UUID.
pub(crate) fn fresh_id() -> Uuid {
    let (high, count) = &*START;
    let low = count.fetch_add(1, Ordering::Relaxed);
    Builder::from_random_bytes(Uuid::from_u64_pair(*high, low).into_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_random_uuids_and_never_the_same() {
        let ids: HashSet<_> = (0..10_000).map(|_| fresh_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.get_version_num() == 4));
    }
}
