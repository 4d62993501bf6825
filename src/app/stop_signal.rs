//! The signals that stop the program.

/// Completes on Ctrl-C and, on Unix, on SIGTERM.
///
/// Handlers are installed when this is called, not on first poll, so a signal sent right
/// after start-up is not lost.
#[cfg(unix)]
pub fn stop_signal() -> impl Future<Output = ()> + Send + use<> {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    async fn received(signal: std::io::Result<Signal>) {
        match signal {
            Ok(mut signal) => _ = signal.recv().await,
            // Without a handler the signal ends the process.
            Err(_) => std::future::pending().await,
        }
    }
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    async {
        tokio::select! {
            () = received(interrupt) => {}
            () = received(terminate) => {}
        }
    }
}

/// Completes on Ctrl-C.
#[cfg(not(unix))]
pub async fn stop_signal() {
    let _ = tokio::signal::ctrl_c().await;
}
