//! Being asked to stop.

/// Completes on Ctrl-C, and on SIGTERM where there is such a thing.
///
/// Both are ours from this call on, not from the first look at what it answers: whoever
/// is told that we are ready may ask us to stop at once.
#[cfg(unix)]
pub fn stop_signal() -> impl Future<Output = ()> + Send + use<> {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    async fn comes(signal: std::io::Result<Signal>) {
        match signal {
            Ok(mut signal) => _ = signal.recv().await,
            // Then it ends the process, as it does where nobody listens.
            Err(_) => std::future::pending().await,
        }
    }
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    async {
        tokio::select! {
            () = comes(interrupt) => {}
            () = comes(terminate) => {}
        }
    }
}

/// Completes on Ctrl-C.
#[cfg(not(unix))]
pub async fn stop_signal() {
    let _ = tokio::signal::ctrl_c().await;
}
