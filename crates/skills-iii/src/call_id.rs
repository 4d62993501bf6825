//! Ids for calls.
//!
//! They must be unique, not secret. A random start and a counter avoid asking the system for
//! randomness for each call, which would cost as much as the rest of the call.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::{Builder, Uuid};

static START: LazyLock<(u64, AtomicU64)> = LazyLock::new(|| {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    (high, AtomicU64::new(low))
});

/// A unique id in the form of a random UUID.
pub(crate) fn new_call_id() -> Uuid {
    let (high, count) = &*START;
    let low = count.fetch_add(1, Ordering::Relaxed);
    Builder::from_random_bytes(Uuid::from_u64_pair(*high, low).into_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_have_the_form_of_random_uuids() {
        let ids: HashSet<_> = (0..10_000).map(|_| new_call_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.get_version_num() == 4));
    }
}
