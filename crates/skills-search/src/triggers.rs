//! Trigger phrases: a phrase matches when all its words are in the request. The word rule is that
//! of agent.3md documents.
//!
//! Each phrase is listed under one of its words, the rarest at the time, so that a request only
//! examines phrases that could match.

use std::collections::{HashMap, HashSet};

use agent3md::for_each_word;

use crate::postings::Slot;

/// One trigger of a document.
struct Phrase {
    /// Distinct and sorted.
    words: Box<[u32]>,
    /// The word it is listed under.
    under: u32,
    slot: Slot,
    /// The number of the trigger in its document.
    trigger: u32,
}

/// The triggers of all documents.
#[derive(Default)]
pub(crate) struct Triggers {
    words: HashMap<Box<str>, u32>,
    /// By word: the phrases that are listed under it.
    listed: Vec<Vec<u32>>,
    phrases: Vec<Option<Phrase>>,
    free: Vec<u32>,
}

impl Triggers {
    /// Adds the triggers of a document. Returns the numbers of their phrases. A phrase that is
    /// declared again, whatever its case and punctuation, counts once.
    pub(crate) fn insert(&mut self, slot: Slot, triggers: &[&str]) -> Box<[u32]> {
        let mut seen: HashSet<Vec<u32>> = HashSet::new();
        let mut numbers = Vec::new();
        for (trigger, text) in (0..).zip(triggers) {
            let mut words = Vec::new();
            for_each_word(text, |word| words.push(self.word(word)));
            if words.is_empty() || !seen.insert(words.clone()) {
                continue;
            }
            words.sort_unstable();
            words.dedup();
            let listed = |&&word: &&u32| self.listed[word as usize].len();
            let Some(&under) = words.iter().min_by_key(listed) else {
                continue;
            };
            let number = self.add(Phrase {
                words: words.into(),
                under,
                slot,
                trigger,
            });
            self.listed[under as usize].push(number);
            numbers.push(number);
        }
        numbers.into()
    }

    fn word(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.words.get(word) {
            return number;
        }
        let number = count(self.listed.len());
        self.words.insert(word.into(), number);
        self.listed.push(Vec::new());
        number
    }

    fn add(&mut self, phrase: Phrase) -> u32 {
        if let Some(number) = self.free.pop() {
            self.phrases[number as usize] = Some(phrase);
            return number;
        }
        self.phrases.push(Some(phrase));
        count(self.phrases.len() - 1)
    }

    /// Removes the phrases of a document.
    pub(crate) fn remove(&mut self, numbers: &[u32]) {
        for &number in numbers {
            let Some(phrase) = self.phrases[number as usize].take() else {
                continue;
            };
            let listed = &mut self.listed[phrase.under as usize];
            if let Some(at) = listed.iter().position(|&listed| listed == number) {
                listed.swap_remove(at);
            }
            self.free.push(number);
        }
    }

    /// Gives every document its new slot.
    pub(crate) fn renumber(&mut self, new_slot: impl Fn(Slot) -> Slot) {
        for phrase in self.phrases.iter_mut().flatten() {
            phrase.slot = new_slot(phrase.slot);
        }
    }

    /// The triggers that a request matches: slots and numbers of triggers, sorted.
    pub(crate) fn matches(&self, request: &str) -> Vec<(Slot, u32)> {
        if self.phrases.len() == self.free.len() {
            return Vec::new();
        }
        let mut asked = Vec::new();
        for_each_word(request, |word| asked.extend(self.words.get(word).copied()));
        asked.sort_unstable();
        asked.dedup();
        let mut hits = Vec::new();
        for &number in asked.iter().flat_map(|&word| &self.listed[word as usize]) {
            let Some(phrase) = &self.phrases[number as usize] else {
                continue;
            };
            let is_asked = |word| asked.binary_search(word).is_ok();
            if phrase.words.iter().all(is_asked) {
                hits.push((phrase.slot, phrase.trigger));
            }
        }
        hits.sort_unstable();
        hits
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 4 Gi phrases")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_matches_when_all_its_words_are_in_the_request() {
        let mut triggers = Triggers::default();
        let numbers = triggers.insert(0, &["find code", "grep", "GREP!", "", "!!"]);
        triggers.insert(1, &["code review", "find"]);
        assert_eq!(triggers.matches("Find the CODE"), [(0, 0), (1, 1)]);
        assert_eq!(triggers.matches("grep"), [(0, 1)]);
        assert_eq!(triggers.matches("finding codes"), []);
        triggers.remove(&numbers);
        assert_eq!(triggers.matches("grep and find code"), [(1, 1)]);
        triggers.insert(2, &["grep"]);
        triggers.renumber(|slot| slot + 1);
        assert_eq!(triggers.matches("grep and find code"), [(2, 1), (3, 0)]);
    }
}
