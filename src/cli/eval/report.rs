//! The figures of an evaluation, and which skills are confused by which words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use skills_core::{escape_control, nearest};

use super::Outcome;
use super::suggest::Suggestion;
use crate::cli::humanize::count;

/// What an evaluation found.
#[derive(Serialize)]
pub struct Report {
    /// Cases with an expected skill, and without one.
    cases: usize,
    unserved: usize,
    /// The share with the expected skill first; none without such cases.
    pub hit1: Option<f64>,
    hit3: Option<f64>,
    mrr: Option<f64>,
    /// Cases without an expected skill that got no answer.
    abstained_right: usize,
    /// Cases with one that got no answer.
    abstained_wrong: usize,
    confused: Vec<Confused>,
    /// Cases whose skill is in no place.
    missing: Vec<Missing>,
    /// Cases that no skill serves, with the skill that answered.
    answered: Vec<Answered>,
    /// Cases with an expected skill that got no answer.
    abstained: Vec<Missing>,
    /// Expected ids of cases of which no id is that of a skill.
    unknown: Vec<Unknown>,
    /// Present if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Vec<Suggestion>>,
    /// Whether the search for triggers ended before all misses were tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suggestions_cut: bool,
    /// Whether another skill than an expected one is first, or none, in a case.
    #[serde(skip)]
    has_miss: bool,
}

/// A skill that another one is taken for.
#[derive(Serialize)]
struct Confused {
    expected: String,
    got: String,
    cases: usize,
    /// The words that counted for the wrong one and not for the right one, or for both if there
    /// are none; if no word counted, the triggers that decided.
    words: Vec<String>,
}

#[derive(Serialize)]
struct Missing {
    text: String,
    expected: Vec<String>,
}

impl Missing {
    fn of(outcome: &Outcome) -> Self {
        Self {
            text: outcome.case.text.clone(),
            expected: outcome.case.expected.clone(),
        }
    }
}

#[derive(Serialize)]
struct Answered {
    text: String,
    got: String,
}

/// An expected id that no skill has.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Unknown {
    id: String,
    /// The id that is nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
}

impl Report {
    /// `ids`: those of all skills.
    pub fn of(outcomes: &[Outcome], ids: &BTreeSet<String>) -> Self {
        let (served, unserved): (Vec<_>, Vec<_>) = outcomes
            .iter()
            .partition(|outcome| !outcome.case.expected.is_empty());
        let mean = |value: &dyn Fn(usize) -> f64| {
            let places = served.iter().filter_map(|outcome| outcome.place());
            #[expect(clippy::cast_precision_loss, reason = "a number of cases")]
            let all = served.len() as f64;
            // From 0: an empty sum of floats is -0.
            (!served.is_empty())
                .then(|| places.map(value).fold(0.0, |sum, value| sum + value) / all)
        };
        let within = |places: usize| move |place: usize| f64::from(u8::from(place < places));
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let reciprocal = |place: usize| 1.0 / (place + 1) as f64;
        let missing = served.iter().filter(|outcome| outcome.place().is_none());
        let missing = missing.map(|outcome| Missing::of(outcome));
        let without_answer = served.iter().filter(|outcome| outcome.abstained);
        let answered = unserved.iter().filter(|outcome| !outcome.abstained);
        let answered = answered.filter_map(|outcome| {
            Some(Answered {
                text: outcome.case.text.clone(),
                got: outcome.found.first()?.id.clone(),
            })
        });
        let abstained = |outcomes: &[&Outcome]| outcomes.iter().filter(|o| o.abstained).count();
        Self {
            cases: served.len(),
            unserved: unserved.len(),
            hit1: mean(&within(1)),
            hit3: mean(&within(3)),
            mrr: mean(&reciprocal),
            abstained_right: abstained(&unserved),
            abstained_wrong: abstained(&served),
            confused: confused(&served),
            missing: missing.collect(),
            answered: answered.collect(),
            abstained: without_answer.map(|outcome| Missing::of(outcome)).collect(),
            unknown: unknown(&served, ids),
            suggestions: None,
            suggestions_cut: false,
            has_miss: served.iter().any(|outcome| outcome.is_miss()),
        }
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let mut put = |line: String| {
            let _ = writeln!(out, "{}", escape_control(&line));
        };
        if let (Some(hit1), Some(hit3), Some(mrr)) = (self.hit1, self.hit3, self.mrr) {
            let cases = count(self.cases, "case");
            put(format!(
                "hit@1 {hit1:.3}  hit@3 {hit3:.3}  MRR {mrr:.3}  of {cases}"
            ));
        }
        put(format!(
            "abstained: {} of {} that no skill serves, {} of {} that one serves",
            self.abstained_right, self.unserved, self.abstained_wrong, self.cases
        ));
        for confused in &self.confused {
            let Confused {
                expected,
                got,
                cases,
                words,
            } = confused;
            let cases = count(*cases, "case");
            let words = words.join(", ");
            put(format!(
                "confused: {expected} taken for {got} ({cases}): {words}"
            ));
        }
        for Missing { text, expected } in &self.missing {
            put(format!("not found: {}: {text:?}", expected.join(" or ")));
        }
        for Answered { text, got } in &self.answered {
            put(format!("answered by {got}, no skill serves it: {text:?}"));
        }
        for Missing { text, expected } in &self.abstained {
            put(format!("no answer: {}: {text:?}", expected.join(" or ")));
        }
        for Unknown { id, nearest } in &self.unknown {
            let nearest = nearest.as_ref().map(|id| format!("; did you mean {id}?"));
            put(format!(
                "there is no skill {id}{}",
                nearest.unwrap_or_default()
            ));
        }
        for suggestion in self.suggestions.iter().flatten() {
            put(format!(
                "suggestion: {} gets the trigger \"{}\"",
                suggestion.id, suggestion.trigger
            ));
        }
        if self.suggestions_cut {
            put("not all misses were tried; try again with fewer cases".into());
        } else if self.suggestions.as_ref().is_some_and(Vec::is_empty) {
            let reason = if self.has_miss {
                "no trigger would correct a miss without breaking another case"
            } else {
                "no suggestion: there is no miss to correct"
            };
            put(reason.into());
        }
        out
    }
}

fn unknown(served: &[&Outcome], ids: &BTreeSet<String>) -> Vec<Unknown> {
    let is_unknown = |outcome: &&&Outcome| outcome.case.expected.iter().all(|id| !ids.contains(id));
    let unknown = served.iter().filter(is_unknown);
    let unknown: BTreeSet<&String> = unknown.flat_map(|outcome| &outcome.case.expected).collect();
    let unknown = unknown.into_iter().map(|id| Unknown {
        id: id.clone(),
        nearest: nearest(id, ids.iter().map(String::as_str)).map(str::to_owned),
    });
    unknown.collect()
}

fn confused(served: &[&Outcome]) -> Vec<Confused> {
    let mut pairs: BTreeMap<(String, String), (usize, BTreeSet<String>)> = BTreeMap::new();
    for outcome in served.iter().filter(|outcome| outcome.is_miss()) {
        let Some(got) = outcome.found.first() else {
            continue;
        };
        let expected = &outcome.case.expected[0];
        let right = outcome.place().map(|place| &outcome.found[place]);
        let has_word = |word: &str| {
            right.is_some_and(|right| right.why.iter().any(|reason| reason.word == word))
        };
        let words = || got.why.iter().map(|reason| reason.word.clone());
        let mut confusing: Vec<String> = words().filter(|word| !has_word(word)).collect();
        if confusing.is_empty() {
            confusing = words().collect();
        }
        if confusing.is_empty() {
            confusing.clone_from(&got.matched);
        }
        let pair = (expected.clone(), got.id.clone());
        let (cases, all) = pairs.entry(pair).or_default();
        *cases += 1;
        all.extend(confusing);
    }
    let pair =
        |((expected, got), (cases, words)): ((String, String), (usize, BTreeSet<String>))| {
            Confused {
                expected,
                got,
                cases,
                words: words.into_iter().collect(),
            }
        };
    let mut confused: Vec<Confused> = pairs.into_iter().map(pair).collect();
    confused.sort_by_key(|confused| std::cmp::Reverse(confused.cases));
    confused
}
