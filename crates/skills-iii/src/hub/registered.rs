//! The bytes of what a worker has registered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::MAX_REGISTERED_BYTES;
use crate::message::ErrorBody;

/// The registrations of one worker, or of none.
#[derive(Debug, Default)]
pub(super) struct RegisteredBytes(Arc<AtomicUsize>);

/// One registration; counted until it is dropped.
#[derive(Debug)]
pub(super) struct Registered(Arc<AtomicUsize>, usize);

impl RegisteredBytes {
    pub(super) fn add(&self, bytes: usize) -> Result<Registered, ErrorBody> {
        let all = self
            .0
            .fetch_add(bytes, Ordering::Relaxed)
            .saturating_add(bytes);
        let registered = Registered(Arc::clone(&self.0), bytes);
        if all <= MAX_REGISTERED_BYTES {
            return Ok(registered);
        }
        let message = format!(
            "{bytes} more bytes are too many: a worker registers at most {MAX_REGISTERED_BYTES} \
             bytes; use smaller schemas and metadata"
        );
        Err(ErrorBody::new("registrations_too_large", message))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}
