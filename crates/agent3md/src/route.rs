//! Which skills a request calls for.
//!
//! A trigger matches when all its words are in the request. The index files each phrase under the
//! rarest of its words, so a request only looks at phrases that could match.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::agent::Skill;
use crate::rows::Rows;
use crate::token::tokens;

/// A skill that a request calls for.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The triggers that matched, as declared; one for each distinct phrase, so their number is
    /// the score.
    pub matched: Vec<&'a str>,
}

/// The triggers of all skills, by word.
#[derive(Debug, Default)]
pub(crate) struct Index {
    vocabulary: HashMap<Box<str>, u32>,
    /// By phrase: its words, distinct and sorted.
    words: Rows<u32>,
    /// By phrase: the skill and the number of each trigger that says it.
    uses: Rows<(u32, u32)>,
    /// By word: the phrases whose rarest word it is.
    filed: Rows<u32>,
}

impl Index {
    /// Indexes the triggers of the numbered skills.
    pub(crate) fn new<'a>(skills: impl Iterator<Item = (u32, &'a Skill)>) -> Self {
        let mut index = Self::default();
        let mut phrases: HashMap<Box<[u32]>, u32> = HashMap::new();
        // By phrase: the last skill that says it.
        let mut said: Vec<u32> = Vec::new();
        let mut uses = Vec::new();
        let mut words = Vec::new();
        for (number, skill) in skills {
            for (trigger, text) in (0..).zip(&skill.triggers) {
                index.learn(text, &mut words);
                let phrase = match phrases.get(words.as_slice()) {
                    // The same phrase again, whatever its case and punctuation, counts once.
                    Some(&phrase) if said[phrase as usize] == number => continue,
                    Some(&phrase) => phrase,
                    None if words.is_empty() => continue,
                    None => {
                        let phrase = count(&phrases);
                        phrases.insert(words.as_slice().into(), phrase);
                        words.sort_unstable();
                        words.dedup();
                        index.words.push(words.iter().copied());
                        said.push(number);
                        phrase
                    }
                };
                said[phrase as usize] = number;
                uses.push((phrase, (number, trigger)));
            }
        }
        index.uses = Rows::sorted(phrases.len(), uses);
        index.file();
        index
    }

    /// The words of a trigger as numbers, new words included.
    fn learn(&mut self, trigger: &str, words: &mut Vec<u32>) {
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

    fn file(&mut self) {
        let phrases = || {
            (0..)
                .take(self.words.len())
                .map(|phrase| (phrase, self.words.row(phrase)))
        };
        let mut common = vec![0_u32; self.vocabulary.len()];
        for &word in phrases().flat_map(|(_, words)| words) {
            common[word as usize] += 1;
        }
        let rarest = |words: &[u32]| {
            words
                .iter()
                .copied()
                .min_by_key(|&word| common[word as usize])
        };
        let filed = phrases().filter_map(|(phrase, words)| Some((rarest(words)?, phrase)));
        self.filed = Rows::sorted(self.vocabulary.len(), filed.collect());
    }

    /// The skills a text calls for, best first; ties in order of z.
    pub(crate) fn route<'a>(&self, text: &str, skill: impl Fn(u32) -> &'a Skill) -> Vec<Match<'a>> {
        let text = lowercase(text);
        let mut asked: Vec<u32> = tokens(&text)
            .filter_map(|token| self.vocabulary.get(token).copied())
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let mut hits: Vec<(u32, u32)> = Vec::new();
        for &phrase in asked.iter().flat_map(|&word| self.filed.row(word)) {
            let words = self.words.row(phrase);
            if words.iter().all(|word| asked.binary_search(word).is_ok()) {
                hits.extend(self.uses.row(phrase));
            }
        }
        hits.sort_unstable();
        let mut matches: Vec<Match<'a>> = hits
            .chunk_by(|a, b| a.0 == b.0)
            .map(|hits| {
                let skill = skill(hits[0].0);
                let trigger = |hit: &(u32, u32)| skill.triggers[hit.1 as usize].as_str();
                Match {
                    skill,
                    matched: hits.iter().map(trigger).collect(),
                }
            })
            .collect();
        matches.sort_unstable_by(|a, b| {
            b.matched
                .len()
                .cmp(&a.matched.len())
                .then(a.skill.z.total_cmp(&b.skill.z))
        });
        matches
    }
}

/// Most triggers are lowercase ASCII already and need no copy.
fn lowercase(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|b| b.is_ascii() && !b.is_ascii_uppercase())
    {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// The next free number of a table. A document is far too small to have more than fit.
fn count<K, V>(table: &HashMap<K, V>) -> u32 {
    u32::try_from(table.len()).unwrap_or(u32::MAX)
}
