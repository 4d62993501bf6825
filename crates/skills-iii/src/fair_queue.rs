//! A queue that serves callers in turn.
//!
//! A caller that sends thousands of calls at once must not delay the single call of another one.
//! So the items of one caller stay in order, and each caller gets its turn. Items without a caller,
//! such as results and events, go first: there are few of them, and others wait for them.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::Arc;

/// The largest capacity of an empty list that is kept.
const MAX_SPARE: usize = 64;

#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    first: VecDeque<T>,
    /// The callers with items, in the order of their turns. A list, because there are few: one for
    /// each connection at most.
    turns: VecDeque<CallerItems<T>>,
    /// An empty list, so that a caller with one item at a time needs no allocation.
    spare: VecDeque<T>,
    len: usize,
}

/// The items of one caller, at least one.
#[derive(Debug)]
struct CallerItems<T> {
    caller: Arc<str>,
    items: VecDeque<T>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            first: VecDeque::new(),
            turns: VecDeque::new(),
            spare: VecDeque::new(),
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
        let Some(caller) = caller else {
            return self.first.push_back(item);
        };
        let is_callers = |turn: &&mut CallerItems<T>| {
            Arc::ptr_eq(&turn.caller, caller) || turn.caller == *caller
        };
        if let Some(turn) = self.turns.iter_mut().find(is_callers) {
            return turn.items.push_back(item);
        }
        let mut items = take(&mut self.spare);
        items.push_back(item);
        self.turns.push_back(CallerItems {
            caller: caller.clone(),
            items,
        });
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.pop_if(|_| true)
    }

    /// The next item that `may` be taken. A caller whose next item may not keeps its turn.
    pub(crate) fn pop_if(&mut self, may: impl Fn(&T) -> bool) -> Option<T> {
        let item = if self.first.front().is_some_and(&may) {
            self.first.pop_front()
        } else {
            self.pop_in_turn(may)
        };
        self.len -= usize::from(item.is_some());
        item
    }

    fn pop_in_turn(&mut self, may: impl Fn(&T) -> bool) -> Option<T> {
        let next = |turn: &CallerItems<T>| turn.items.front().is_some_and(&may);
        let index = self.turns.iter().position(next)?;
        let mut turn = self.turns.remove(index)?;
        let item = turn.items.pop_front();
        if !turn.items.is_empty() {
            self.turns.push_back(turn);
        } else if turn.items.capacity() <= MAX_SPARE {
            self.spare = turn.items;
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One caller with 100 items, two others with few.
    fn queue() -> FairQueue<String> {
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
        queue
    }

    #[test]
    fn a_caller_with_many_items_does_not_delay_another() {
        let mut queue = queue();
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order.len(), 104);
        assert_eq!(order[..6], ["result", "a0", "b0", "c0", "a1", "b1"]);
        let of_a = order.iter().filter(|item| item.starts_with('a'));
        let expected: Vec<_> = (0..100).map(|n| format!("a{n}")).collect();
        assert!(of_a.eq(&expected), "each caller's items stay in order");
        assert_eq!(queue.len(), 0);
        assert!(queue.turns.is_empty());
    }

    #[test]
    fn a_caller_whose_item_may_not_be_taken_keeps_its_turn() {
        let mut queue = queue();
        let mut take = |excluded: &str| {
            let may = |item: &String| !item.starts_with(excluded);
            queue.pop_if(may).unwrap()
        };
        assert_eq!(take("r"), "a0");
        assert_eq!(take("r"), "b0");
        assert_eq!(take("c"), "result");
        assert_eq!(take("c"), "a1");
        assert_eq!(take("-"), "c0");
    }
}
