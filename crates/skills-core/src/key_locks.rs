//! One lock for each key that is being written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::lock::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Serialises the writes of one key, so that the row of the write acknowledged last is the
/// one that stays.
#[derive(Default)]
pub(crate) struct KeyLocks(Mutex<HashMap<Arc<str>, Arc<AsyncMutex<()>>>>);

impl KeyLocks {
    pub(crate) async fn lock(&self, key: &Arc<str>) -> KeyLock<'_> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(Arc::clone(key)).or_default())
        };
        let guard = Some(lock.lock_owned().await);
        KeyLock {
            locks: self,
            key: Arc::clone(key),
            guard,
        }
    }
}

/// The lock of a key; dropped, it is released, and removed if no other task waits for it.
pub(crate) struct KeyLock<'a> {
    locks: &'a KeyLocks,
    key: Arc<str>,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        let mut locks = self.locks.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.guard = None;
        let unused = |lock: &Arc<_>| Arc::strong_count(lock) == 1;
        if locks.get(&self.key).is_some_and(unused) {
            locks.remove(&self.key);
        }
    }
}
