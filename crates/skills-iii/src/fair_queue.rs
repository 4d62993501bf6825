//! A queue that serves callers in turn.
//!
//! A caller that sends thousands of calls at once must not delay the single call of another one.
//! So the calls of one caller stay in order, and each caller gets its turn. Items without a caller,
//! such as results and events, go first: there are few of them, and others wait for them.
//!
//! A queue that was empty keeps its first item apart: without load there are no turns to take.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    first: VecDeque<T>,
    /// The items of each caller. None of the queues is empty.
    by_caller: HashMap<Arc<str>, VecDeque<T>>,
    /// The callers in `by_caller`, in the order of their turns.
    turns: VecDeque<Arc<str>>,
    len: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            first: VecDeque::new(),
            by_caller: HashMap::new(),
            turns: VecDeque::new(),
            len: 0,
        }
    }
}

impl<T> FairQueue<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, caller: Option<&Arc<str>>, item: T) {
        self.len += 1;
        let Some(caller) = caller.filter(|_| self.len > 1) else {
            return self.first.push_back(item);
        };
        if let Some(items) = self.by_caller.get_mut(caller) {
            return items.push_back(item);
        }
        self.by_caller.insert(caller.clone(), [item].into());
        self.turns.push_back(caller.clone());
    }

    /// The item that `pop` would return.
    pub(crate) fn peek(&self) -> Option<&T> {
        let first = self.first.front();
        first.or_else(|| self.by_caller.get(self.turns.front()?)?.front())
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.first.pop_front().or_else(|| self.pop_in_turn())?;
        self.len -= 1;
        Some(item)
    }

    fn pop_in_turn(&mut self) -> Option<T> {
        let caller = self.turns.pop_front()?;
        let items = self.by_caller.get_mut(&caller)?;
        let item = items.pop_front();
        if items.is_empty() {
            self.by_caller.remove(&caller);
        } else {
            self.turns.push_back(caller);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut FairQueue<String>) -> Vec<String> {
        std::iter::from_fn(|| {
            let next = queue.peek().cloned();
            let popped = queue.pop();
            assert_eq!(popped, next);
            popped
        })
        .collect()
    }

    #[test]
    fn a_caller_with_many_items_does_not_delay_another() {
        let (a, b, c) = ("a".into(), "b".into(), "c".into());
        let mut queue = FairQueue::default();
        for n in 0..100 {
            queue.push(Some(&a), format!("a{n}"));
        }
        for (caller, item) in [
            (Some(&b), "b0"),
            (Some(&c), "c0"),
            (Some(&b), "b1"),
            (None, "result"),
        ] {
            queue.push(caller, item.to_owned());
        }
        assert_eq!(queue.len(), 104);
        let order = drain(&mut queue);
        assert_eq!(order.len(), 104);
        assert_eq!(order[..7], ["a0", "result", "a1", "b0", "c0", "a2", "b1"]);
        let of_a = order.iter().filter(|item| item.starts_with('a'));
        let expected: Vec<_> = (0..100).map(|n| format!("a{n}")).collect();
        assert!(of_a.eq(&expected), "each caller's items stay in order");
        assert_eq!(queue.len(), 0);
        assert!(queue.by_caller.is_empty() && queue.turns.is_empty());
    }
}
