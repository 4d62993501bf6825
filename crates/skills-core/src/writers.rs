//! Turns at writing one key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::lock::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Writers of one key take turns, so that the last to be acknowledged is the one
/// whose row stays.
#[derive(Default)]
pub(crate) struct Writers(Mutex<HashMap<Arc<str>, Arc<AsyncMutex<()>>>>);

impl Writers {
    pub(crate) async fn turn(&self, key: &Arc<str>) -> Turn<'_> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(Arc::clone(key)).or_default())
        };
        let held = Some(lock.lock_owned().await);
        Turn {
            writers: self,
            key: Arc::clone(key),
            held,
        }
    }
}

/// The right to write a key, until it is dropped.
pub(crate) struct Turn<'a> {
    writers: &'a Writers,
    key: Arc<str>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut locks = self
            .writers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.held = None;
        if locks
            .get(&self.key)
            .is_some_and(|lock| Arc::strong_count(lock) == 1)
        {
            locks.remove(&self.key);
        }
    }
}
