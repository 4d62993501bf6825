//! Concurrent callers share one run of the same work.
//!
//! A caller shares only a run that starts after its call: a run in progress may have
//! missed an edit that the caller already knows of.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// The run in progress, and the one that waits for it.
#[derive(Debug)]
pub struct Singleflight<T> {
    /// Held during a run.
    running: tokio::sync::Mutex<()>,
    /// The run that has not started yet.
    next: Mutex<Flight<T>>,
}

type Flight<T> = Arc<OnceCell<Arc<T>>>;

impl<T> Default for Singleflight<T> {
    fn default() -> Self {
        Self {
            running: tokio::sync::Mutex::default(),
            next: Mutex::new(Arc::new(OnceCell::new())),
        }
    }
}

impl<T> Singleflight<T> {
    /// The result of a run that starts after this call. One of the callers that wait for
    /// it does the work; if that caller is cancelled, another takes over.
    pub async fn run<E, F>(&self, work: impl FnOnce() -> F) -> Result<Arc<T>, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let flight = Arc::clone(&self.next());
        let run = async || {
            let _one_at_a_time = self.running.lock().await;
            self.close(&flight);
            work().await.map(Arc::new)
        };
        flight.get_or_try_init(run).await.cloned()
    }

    /// Directs later callers to the run after this one.
    fn close(&self, flight: &Flight<T>) {
        let mut next = self.next();
        if Arc::ptr_eq(&next, flight) {
            *next = Arc::new(OnceCell::new());
        }
    }

    fn next(&self) -> MutexGuard<'_, Flight<T>> {
        // Nothing awaits while this is held, and a panic leaves the value consistent.
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::future::{pending, ready};
    use std::task::Poll;

    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(work)
    }

    /// Polls once and expects no result.
    async fn start<F: Future>(mut work: std::pin::Pin<&mut F>) {
        std::future::poll_fn(|context| {
            assert!(work.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
    }

    #[test]
    fn callers_during_a_run_share_the_next_run() {
        block_on(async {
            let flights = Singleflight::default();
            let count = Cell::new(0);
            let gate = tokio::sync::Notify::new();
            let work = || async {
                count.set(count.get() + 1);
                let this = count.get();
                gate.notified().await;
                Ok::<_, Infallible>(this)
            };
            let mut first = Box::pin(flights.run(work));
            start(first.as_mut()).await;
            let mut later: Vec<_> = (0..100).map(|_| Box::pin(flights.run(work))).collect();
            for call in &mut later {
                start(call.as_mut()).await;
            }
            gate.notify_one();
            assert_eq!(*first.await.unwrap(), 1);
            // The others wait for the caller that does the work.
            let mut later = later.into_iter();
            let mut worker = later.next().unwrap();
            start(worker.as_mut()).await;
            gate.notify_one();
            assert_eq!(*worker.await.unwrap(), 2);
            for call in later {
                assert_eq!(*call.await.unwrap(), 2);
            }
            assert_eq!(count.get(), 2);
        });
    }

    #[test]
    fn a_cancelled_or_failed_run_blocks_no_other_caller() {
        block_on(async {
            let flights = Singleflight::<i32>::default();
            let mut cancelled = Box::pin(flights.run(pending::<Result<i32, String>>));
            start(cancelled.as_mut()).await;
            let mut failing = Box::pin(flights.run(|| ready(Err::<i32, _>("no".to_owned()))));
            let mut waiting = Box::pin(flights.run(|| ready(Ok::<_, String>(7))));
            start(failing.as_mut()).await;
            start(waiting.as_mut()).await;
            drop(cancelled);
            assert_eq!(failing.await, Err("no".to_owned()));
            assert_eq!(waiting.await, Ok(Arc::new(7)));
        });
    }
}
