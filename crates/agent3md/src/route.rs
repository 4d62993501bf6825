//! Which skills a request calls for.
//!
//! A trigger matches when all its words are in the request. The index files each phrase under the
//! rarest of its words, so a request only looks at phrases that could match.

use std::collections::{HashMap, HashSet};

use crate::agent::Skill;
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
    phrases: Vec<Phrase>,
    /// By word: the phrases whose rarest word it is.
    filed: Vec<Vec<u32>>,
}

/// A set of words, and every trigger that consists of them.
#[derive(Debug)]
struct Phrase {
    /// Distinct and sorted.
    words: Box<[u32]>,
    /// Skill number and trigger number.
    uses: Vec<(u32, u32)>,
}

impl Index {
    /// Indexes the triggers of the numbered skills.
    pub(crate) fn new<'a>(skills: impl Iterator<Item = (u32, &'a Skill)>) -> Self {
        let mut index = Self::default();
        let mut by_words: HashMap<Box<[u32]>, u32> = HashMap::new();
        let mut spoken: HashSet<Vec<u32>> = HashSet::new();
        for (number, skill) in skills {
            spoken.clear();
            for (trigger, text) in (0..).zip(&skill.triggers) {
                let mut words = index.learn(text);
                // The same phrase again, whatever its case and punctuation, counts once.
                if words.is_empty() || !spoken.insert(words.clone()) {
                    continue;
                }
                words.sort_unstable();
                words.dedup();
                let words = words.into_boxed_slice();
                let next = u32::try_from(index.phrases.len()).unwrap_or(u32::MAX);
                let phrase = *by_words.entry(words.clone()).or_insert(next);
                if phrase == next {
                    index.phrases.push(Phrase {
                        words,
                        uses: Vec::new(),
                    });
                }
                index.phrases[phrase as usize].uses.push((number, trigger));
            }
        }
        index.file();
        index
    }

    /// The words of a trigger as numbers, new words included.
    fn learn(&mut self, trigger: &str) -> Vec<u32> {
        let mut words = Vec::new();
        for token in tokens(&trigger.to_lowercase()) {
            let next = u32::try_from(self.vocabulary.len()).unwrap_or(u32::MAX);
            let word = self.vocabulary.get(token).copied().unwrap_or_else(|| {
                self.vocabulary.insert(token.into(), next);
                next
            });
            words.push(word);
        }
        words
    }

    fn file(&mut self) {
        let mut common = vec![0_u32; self.vocabulary.len()];
        for word in self.phrases.iter().flat_map(|phrase| &phrase.words) {
            common[*word as usize] += 1;
        }
        self.filed = vec![Vec::new(); self.vocabulary.len()];
        for (number, phrase) in (0..).zip(&self.phrases) {
            if let Some(&rarest) = phrase
                .words
                .iter()
                .min_by_key(|&&word| common[word as usize])
            {
                self.filed[rarest as usize].push(number);
            }
        }
    }

    /// The skills a text calls for, best first; ties in order of z.
    pub(crate) fn route<'a>(&self, text: &str, skill: impl Fn(u32) -> &'a Skill) -> Vec<Match<'a>> {
        let text = text.to_lowercase();
        let mut asked: Vec<u32> = tokens(&text)
            .filter_map(|token| self.vocabulary.get(token).copied())
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let mut hits: Vec<(u32, u32)> = Vec::new();
        for &number in asked.iter().flat_map(|&word| &self.filed[word as usize]) {
            let phrase = &self.phrases[number as usize];
            if phrase
                .words
                .iter()
                .all(|word| asked.binary_search(word).is_ok())
            {
                hits.extend(&phrase.uses);
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
