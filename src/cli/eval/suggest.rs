//! Triggers that would correct a miss and break no other case.

use std::collections::BTreeSet;

use agent3md::for_each_word;
use serde::Serialize;
use skills_search::content_words;

use super::Outcome;

/// Words of a suggested trigger, tried in this order: two words say more than one, and match more
/// requests than three.
const WORDS: [usize; 3] = [2, 3, 1];

/// A trigger to add.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The skill that gets it.
    pub id: String,
    /// The phrase.
    pub trigger: String,
    /// The request that it corrects.
    pub text: String,
}

/// One trigger for each miss that a trigger can correct.
pub fn triggers(outcomes: &[Outcome]) -> Vec<Suggestion> {
    let words: Vec<BTreeSet<String>> = outcomes.iter().map(|o| words_of(&o.case.text)).collect();
    let mut suggestions: Vec<Suggestion> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.is_miss()) {
        let id = &outcome.case.expected()[0];
        if !would_win(outcome, id) {
            continue;
        }
        let breaks = |phrase: &[String]| {
            let others = outcomes.iter().zip(&words);
            let mut others = others.filter(|(o, _)| !o.case.expected().contains(id));
            others.any(|(_, words)| phrase.iter().all(|word| words.contains(word)))
        };
        let phrases = phrases(&outcome.case.text);
        if let Some(phrase) = phrases.into_iter().find(|phrase| !breaks(phrase)) {
            let trigger = phrase.join(" ");
            let is_known = |s: &Suggestion| s.id == *id && s.trigger == trigger;
            if !suggestions.iter().any(is_known) {
                suggestions.push(Suggestion {
                    id: id.clone(),
                    trigger,
                    text: outcome.case.text.clone(),
                });
            }
        }
    }
    suggestions
}

/// Whether one more trigger puts the skill first: more triggers win.
fn would_win(outcome: &Outcome, id: &str) -> bool {
    let triggers = |is_own: bool| {
        let found = outcome
            .found
            .iter()
            .filter(move |found| (found.id == id) == is_own);
        found.map(|found| found.matched.len()).max().unwrap_or(0)
    };
    triggers(true) + 1 > triggers(false)
}

fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for_each_word(text, |word| {
        words.insert(word.to_owned());
    });
    words
}

/// Neighbouring words of a request that are not stop words, as phrases.
fn phrases(text: &str) -> Vec<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    for_each_word(text, |word| {
        if !content_words(word).is_empty() && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    });
    let of_size = |size: usize| {
        words
            .windows(size)
            .map(<[String]>::to_vec)
            .collect::<Vec<_>>()
    };
    WORDS.into_iter().flat_map(of_size).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Outcome};
    use super::*;
    use crate::cli::search::Found;

    fn outcome(text: &str, expect: &str, got: &[&str]) -> Outcome {
        let found = |id: &&str| Found {
            id: (*id).into(),
            uri: None,
            title: String::new(),
            description: None,
            score: 0.5,
            why: Vec::new(),
            matched: Vec::new(),
        };
        let line = format!("{{\"text\":{text:?},\"expect\":{expect:?}}}");
        let case: Case = serde_json::from_str(&line).unwrap();
        Outcome {
            case,
            abstained: false,
            found: got.iter().map(found).collect(),
        }
    }

    #[test]
    fn a_trigger_corrects_a_miss_and_breaks_no_other_case() {
        let outcomes = [
            outcome("please send a mail to them", "mail", &["post", "mail"]),
            outcome("send mail by post", "post", &["post"]),
            outcome("write the mail now", "mail", &["post"]),
        ];
        let found = triggers(&outcomes);
        let found: Vec<_> = found.iter().map(|s| (&*s.id, &*s.trigger)).collect();
        assert_eq!(found, [("mail", "write mail")]);
    }
}
