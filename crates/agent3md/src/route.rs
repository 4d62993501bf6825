//! Routing: which skills a request matches.
//!
//! A trigger matches when all its words are in the request. The index lists each phrase under
//! the rarest of its words, so a request only examines phrases that could match.

use std::collections::HashMap;

use crate::agent::Skill;
use crate::rows::Rows;
use crate::token::{lowercase, tokens};

/// A skill that a request matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The triggers that matched, as declared; one for each distinct phrase, so their number is
    /// the score.
    pub matched: Vec<&'a str>,
}

/// The triggers of many skills, indexed by word.
///
/// ```
/// let index = agent3md::TriggerIndex::new([["find code", "grep"], ["Code review", "code, REVIEW"]]);
/// assert_eq!(index.route("find the code"), [(0, 0)]);
/// assert_eq!(index.route("review the code"), [(1, 0)]);
/// ```
#[derive(Debug, Default)]
pub struct TriggerIndex {
    vocabulary: HashMap<Box<str>, u32>,
    /// By phrase: its words, distinct and sorted.
    words: Rows<u32>,
    /// By phrase: the skill and the number of each trigger that is this phrase.
    uses: Rows<(u32, u32)>,
    /// By word: the phrases whose rarest word it is.
    by_rarest_word: Rows<u32>,
}

impl TriggerIndex {
    /// Indexes the triggers of each skill. Skills and triggers are numbered from 0.
    pub fn new<T: AsRef<str>>(
        skills: impl IntoIterator<Item = impl IntoIterator<Item = T>>,
    ) -> Self {
        let mut index = Self::default();
        let mut phrases: HashMap<Box<[u32]>, u32> = HashMap::new();
        // By phrase: the last skill that has it.
        let mut last_use: Vec<u32> = Vec::new();
        let mut uses = Vec::new();
        let mut words = Vec::new();
        for (number, triggers) in (0..).zip(skills) {
            for (trigger, text) in (0..).zip(triggers) {
                index.read_words(text.as_ref(), &mut words);
                let phrase = match phrases.get(words.as_slice()) {
                    // The same phrase again, whatever its case and punctuation, counts once.
                    Some(&phrase) if last_use[phrase as usize] == number => continue,
                    Some(&phrase) => phrase,
                    None if words.is_empty() => continue,
                    None => {
                        let phrase = count(&phrases);
                        phrases.insert(words.as_slice().into(), phrase);
                        words.sort_unstable();
                        words.dedup();
                        index.words.push(words.iter().copied());
                        last_use.push(number);
                        phrase
                    }
                };
                last_use[phrase as usize] = number;
                uses.push((phrase, (number, trigger)));
            }
        }
        index.uses = Rows::sorted(phrases.len(), uses);
        index.group_by_rarest_word();
        index
    }

    /// The words of a trigger as numbers. New words are added to the vocabulary.
    fn read_words(&mut self, trigger: &str, words: &mut Vec<u32>) {
        words.clear();
        for token in tokens(&lowercase(trigger)) {
            let word = self.vocabulary.get(token).copied().unwrap_or_else(|| {
                let next = count(&self.vocabulary);
                self.vocabulary.insert(token.into(), next);
                next
            });
            words.push(word);
        }
    }

    fn group_by_rarest_word(&mut self) {
        let phrases = || {
            (0..)
                .take(self.words.len())
                .map(|phrase| (phrase, self.words.row(phrase)))
        };
        let mut uses = vec![0_u32; self.vocabulary.len()];
        for &word in phrases().flat_map(|(_, words)| words) {
            uses[word as usize] += 1;
        }
        let rarest = |words: &[u32]| {
            words
                .iter()
                .copied()
                .min_by_key(|&word| uses[word as usize])
        };
        let pairs = phrases().filter_map(|(phrase, words)| Some((rarest(words)?, phrase)));
        self.by_rarest_word = Rows::sorted(self.vocabulary.len(), pairs.collect());
    }

    /// The triggers that a text matches, as sorted pairs of skill and trigger number. A phrase
    /// that a skill declares more than once is reported once.
    pub fn route(&self, text: &str) -> Vec<(usize, usize)> {
        let text = lowercase(text);
        let mut asked: Vec<u32> = tokens(&text)
            .filter_map(|token| self.vocabulary.get(token).copied())
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for &phrase in asked.iter().flat_map(|&word| self.by_rarest_word.row(word)) {
            let words = self.words.row(phrase);
            if words.iter().all(|word| asked.binary_search(word).is_ok()) {
                let uses = self.uses.row(phrase).iter();
                hits.extend(uses.map(|&(skill, trigger)| (skill as usize, trigger as usize)));
            }
        }
        hits.sort_unstable();
        hits
    }
}

/// The next free number of a table. A document is too small to have more than fit.
fn count<K, V>(table: &HashMap<K, V>) -> u32 {
    u32::try_from(table.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::TriggerIndex;

    #[track_caller]
    fn check(request: &str, triggers: &[&str], expected: &[&str]) {
        let found = TriggerIndex::new([triggers]).route(request).into_iter();
        let found: Vec<&str> = found.map(|(_, number)| triggers[number]).collect();
        assert_eq!(found, expected, "for {request:?}");
    }

    #[test]
    fn a_trigger_matches_when_all_its_words_are_in_the_request() {
        check(
            "Please FIND the code!",
            &["find code", "code review"],
            &["find code"],
        );
        check("code, find", &["find code"], &["find code"]);
        check("tie", &["tie", "Tie", "tie!", "tie"], &["tie"]);
        check("finding code", &["find code"], &[]);
        check("anything", &["", "!!!"], &[]);
        check("où est le café", &["café", "OÙ"], &["café", "OÙ"]);
        check("a_b", &["b"], &["b"]);
        check("हिन्दी", &["हि"], &["हि"]);
    }
}
