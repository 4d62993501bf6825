//! Work on a disk: disks may be slow, and nobody else shall wait for them.

use std::sync::Arc;

use skills_core::Error;

/// Does work on a library where it keeps nobody waiting.
pub async fn run_blocking<L: Send + Sync + 'static, T: Send + 'static>(
    library: &Arc<L>,
    doing: &str,
    work: impl FnOnce(&L) -> T + Send + 'static,
) -> Result<T, Error> {
    let library = Arc::clone(library);
    let done = tokio::task::spawn_blocking(move || work(&library)).await;
    done.map_err(|error| Error::Source {
        doing: doing.into(),
        problem: error.to_string(),
    })
}
