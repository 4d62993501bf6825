//! Many who ask at once share one answer.
//!
//! An answer is shared only by those who asked before it began to be made: whoever
//! asks later may know of an edit that it has not seen, and waits for the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// The answer that is being made, and the one that comes after it.
#[derive(Debug)]
pub struct Singleflight<T> {
    /// Held while an answer is made.
    making: tokio::sync::Mutex<()>,
    /// The answer whose making has not begun.
    next: Mutex<Flight<T>>,
}

type Flight<T> = Arc<OnceCell<Arc<T>>>;

impl<T> Default for Singleflight<T> {
    fn default() -> Self {
        Self {
            making: tokio::sync::Mutex::default(),
            next: Mutex::new(Arc::new(OnceCell::new())),
        }
    }
}

impl<T> Singleflight<T> {
    /// An answer whose making begins after this call. One of those who wait for it
    /// makes it; should that one give up, another does.
    pub async fn share<E, F>(&self, make: impl FnOnce() -> F) -> Result<Arc<T>, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let turn = Arc::clone(&self.next());
        let making = async || {
            let _one_at_a_time = self.making.lock().await;
            self.begin(&turn);
            make().await.map(Arc::new)
        };
        turn.get_or_try_init(making).await.cloned()
    }

    /// From here on, whoever asks waits for the turn after this one.
    fn begin(&self, turn: &Flight<T>) {
        let mut next = self.next();
        if Arc::ptr_eq(&next, turn) {
            *next = Arc::new(OnceCell::new());
        }
    }

    fn next(&self) -> MutexGuard<'_, Flight<T>> {
        // A std mutex: nothing awaits while it is held, and a panic leaves it usable.
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

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(work)
    }

    /// Polls once; it must not be ready.
    async fn begin<F: Future>(mut work: std::pin::Pin<&mut F>) {
        std::future::poll_fn(|context| {
            assert!(work.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
    }

    #[test]
    fn who_asks_while_one_is_made_shares_the_next() {
        run(async {
            let flights = Singleflight::default();
            let count = Cell::new(0);
            let gate = tokio::sync::Notify::new();
            let make = || async {
                count.set(count.get() + 1);
                let mine = count.get();
                gate.notified().await;
                Ok::<_, Infallible>(mine)
            };
            let mut first = Box::pin(flights.share(make));
            begin(first.as_mut()).await;
            let mut later: Vec<_> = (0..100).map(|_| Box::pin(flights.share(make))).collect();
            for one in &mut later {
                begin(one.as_mut()).await;
            }
            gate.notify_one();
            assert_eq!(*first.await.unwrap(), 1);
            // Those who wait are woken by the one who makes it.
            let mut later = later.into_iter();
            let mut maker = later.next().unwrap();
            begin(maker.as_mut()).await;
            gate.notify_one();
            assert_eq!(*maker.await.unwrap(), 2);
            for one in later {
                assert_eq!(*one.await.unwrap(), 2);
            }
            assert_eq!(count.get(), 2);
        });
    }

    #[test]
    fn who_gives_up_or_fails_leaves_nobody_waiting() {
        run(async {
            let flights = Singleflight::<i32>::default();
            let mut gone = Box::pin(flights.share(pending::<Result<i32, String>>));
            begin(gone.as_mut()).await;
            let mut failing = Box::pin(flights.share(|| ready(Err::<i32, _>("no".to_owned()))));
            let mut waiting = Box::pin(flights.share(|| ready(Ok::<_, String>(7))));
            begin(failing.as_mut()).await;
            begin(waiting.as_mut()).await;
            drop(gone);
            assert_eq!(failing.await, Err("no".to_owned()));
            assert_eq!(waiting.await, Ok(Arc::new(7)));
        });
    }
}
