//! Runs disk access on the blocking thread pool, so that a slow disk delays no other task.

use std::sync::Arc;

use skills_core::Error;

/// Runs `work` on the blocking thread pool; fails if it panics. `doing` completes
/// "could not ..." in that error.
pub async fn run_blocking<S: Send + Sync + 'static, T: Send + 'static>(
    shared: &Arc<S>,
    doing: &str,
    work: impl FnOnce(&S) -> T + Send + 'static,
) -> Result<T, Error> {
    let shared = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || work(&shared)).await;
    done.map_err(|error| Error::Source {
        doing: doing.into(),
        problem: error.to_string(),
    })
}
