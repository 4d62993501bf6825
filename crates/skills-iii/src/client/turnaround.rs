//! Never answering too fast.
//!
//! Some engines send a call to its worker first and note down who waits for it
//! second; an answer that arrives in between is lost, and its caller waits in
//! vain. Answers are therefore held until a call is at least so old. A slower
//! handler is not held at all.
//!
//! However long the wait, such an engine can be slower still when the machine
//! is busy. What closes the gap is to say a quick answer a second time a few
//! milliseconds later (`ClientOptions::repeat_reply`).
//!
//! The runtime's timer moves in steps of a millisecond, many times more than
//! is needed, so a thread of its own keeps the time: it sleeps to the next due
//! moment and lets everything due go at once.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// Holds answers back; its thread ends with it.
#[derive(Debug)]
pub(super) struct Turnaround {
    least: Duration,
    waiting: Sender<Held>,
}

type Held = (Instant, oneshot::Sender<()>);

impl Turnaround {
    /// Nothing to hold if `least` is zero.
    pub(super) fn new(least: Duration) -> Option<Self> {
        if least.is_zero() {
            return None;
        }
        let (waiting, held) = channel();
        let keeper = thread::Builder::new().name("iii-turnaround".to_owned());
        match keeper.spawn(move || keep_time(&held)) {
            Ok(_) => Some(Self { least, waiting }),
            Err(error) => {
                tracing::warn!(%error, "no thread for the turnaround guard; answers go out at once");
                None
            }
        }
    }

    /// Waits until a call received at `received` may be answered.
    pub(super) async fn hold(&self, received: Instant) {
        let due = received + self.least;
        if Instant::now() >= due {
            return;
        }
        let (release, released) = oneshot::channel();
        if self.waiting.send((due, release)).is_ok() {
            let _gone = released.await;
        }
    }
}

fn keep_time(held: &Receiver<Held>) {
    // All wait equally long, so the order of arrival is the order of release
    // up to a fraction of that time; no heap is needed.
    let mut line: VecDeque<Held> = VecDeque::new();
    loop {
        let now = Instant::now();
        while line.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, release)) = line.pop_front() {
                let _gone = release.send(());
            }
        }
        let next = match line.front() {
            Some((due, _)) => held.recv_timeout(due.saturating_duration_since(now)),
            None => held.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(one) => line.push_back(one),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_never_earlier_than_due_and_hardly_later() {
        let guard = Turnaround::new(Duration::from_micros(200)).unwrap();
        let mut longest = Duration::ZERO;
        for _ in 0..200 {
            let received = Instant::now();
            guard.hold(received).await;
            let took = received.elapsed();
            assert!(
                took >= Duration::from_micros(200),
                "released after {took:?}"
            );
            longest = longest.max(took);
        }
        assert!(
            longest < Duration::from_millis(200),
            "one was held for {longest:?}"
        );
    }

    #[tokio::test]
    async fn a_slow_handler_is_not_held() {
        let guard = Turnaround::new(Duration::from_mins(1)).unwrap();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(61)).unwrap();
        guard.hold(long_ago).await;
    }
}
