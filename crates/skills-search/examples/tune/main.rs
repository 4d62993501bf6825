//! Measures the ranking on labelled requests, and fits the coefficients of `confidence.rs`.
//!
//! `cargo run --release -p skills-search --example tune -- DIR [UNSERVED]`, where `DIR` has
//! `tools.jsonl` (`{name, description, body?}`) and `queries.jsonl` (`{text, tool}`), and `UNSERVED` has
//! a request per line that no tool serves. Prints figures over all requests, never a single one.
//! What is fitted is measured on tools that it was not fitted on. `--no-default-features` does the
//! same without vectors.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "prints its measurements"
)]

mod data;
mod fit;

use std::path::Path;

use data::{Data, FOLDS, Form, Outcome};
use fit::{Example, Row, fit, probability, sum};
use skills_search::Confidence;

/// The share of served requests that get an answer.
const ANSWERED: f64 = 0.62;
/// So many tools are removed with the right one, so that none serves the request.
const ALIKE: usize = 39;
/// Tried for the fall of later matches.
const FALLS: [f64; 10] = [0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .expect("the directory with tools.jsonl and queries.jsonl");
    let data = Data::read(Path::new(&folder), arguments.next().as_deref());
    let (queries, tools) = (data.len(), data.tools.len());
    println!("{queries} requests, {tools} tools: Hit@1, Hit@3, MRR");
    let forms = [
        ("id, title, description", Form::Head),
        ("the same as markdown bodies", Form::Markdown),
        ("with the longer descriptions in the bodies", Form::Body),
    ];
    for (name, form) in forms {
        let [hit1, hit3, mrr] = figures(&data.run(&data.index(form)));
        println!("  {name:<44} {hit1:.4}  {hit3:.4}  {mrr:.4}");
    }
    let index = data.index(Form::Markdown);
    let served = data.run(&index);
    print_confidence(&served);
    let unserved = data.run_unserved(&index);
    print_relevance(&data, &served, &unserved);
}

fn figures(outcomes: &[Outcome]) -> [f64; 3] {
    let all = outcomes.len() as f64;
    let hits = |n: usize| {
        outcomes
            .iter()
            .filter(|o| o.place.is_some_and(|p| p < n))
            .count()
    };
    let reciprocal = |o: &Outcome| o.place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
    let mrr: f64 = outcomes.iter().map(reciprocal).sum();
    [hits(1) as f64 / all, hits(3) as f64 / all, mrr / all]
}

/// How likely the best match is the right one.
fn print_confidence(served: &[Outcome]) {
    let example = |o: &Outcome| (confidence_row(o), 1.0, o.is_right());
    let examples: Vec<Example> = served.iter().map(example).collect();
    println!("confidence, constant first: {:.3?}", fit(&examples));
    let fits = fold_fits(served, &examples);
    let sure = |o: &Outcome| probability(&fits[o.fold], &confidence_row(o));
    println!("fall of later matches: {}", fitted_fall(served, &sure));
    let fitted: Vec<_> = served.iter().map(|o| (sure(o), o.is_right())).collect();
    print_calibration("score, fitted on other tools", &fitted);
    let answered = served.iter().filter(|o| o.is_relevant);
    let answered = answered.map(|o| (f64::from(o.scores[0]), o.is_right()));
    print_calibration("score of answers as shipped", &answered.collect::<Vec<_>>());
    for place in 0..3 {
        let answers = served.iter().filter_map(|o| {
            let score = f64::from(*o.scores.get(place)?);
            Some((score, o.place == Some(place)))
        });
        print_calibration(
            &format!("score of match {} as shipped", place + 1),
            &answers.collect::<Vec<_>>(),
        );
    }
}

/// What was fitted without each fold.
fn fold_fits(outcomes: &[Outcome], examples: &[Example]) -> Vec<Row> {
    let without = |fold: usize| {
        let others = outcomes
            .iter()
            .zip(examples)
            .filter(|(o, _)| o.fold != fold);
        fit(&others.map(|(_, example)| *example).collect::<Vec<_>>())
    };
    (0..FOLDS).map(without).collect()
}

fn confidence_row(outcome: &Outcome) -> Row {
    let mut row = [1.0; fit::SIZE];
    let features = outcome.evidence.confidence_features().map(f64::from);
    row[1..].copy_from_slice(&features);
    row
}

fn relevance_row(outcome: &Outcome) -> Row {
    let [a, b, c] = outcome.evidence.relevance_features().map(f64::from);
    [1.0, a, b, c, 0.0, 0.0]
}

fn print_calibration(name: &str, answers: &[(f64, bool)]) {
    println!("{name}: predicted, right, answers");
    for step in 0..10 {
        let (from, to) = (f64::from(step) / 10.0, f64::from(step + 1) / 10.0);
        let bin: Vec<_> = answers
            .iter()
            .filter(|(p, _)| *p >= from && *p < to)
            .collect();
        let size = bin.len() as f64;
        if bin.len() >= 20 {
            let mean = bin.iter().map(|(p, _)| p).sum::<f64>() / size;
            let right = bin.iter().filter(|(_, right)| *right).count() as f64 / size;
            println!("  {mean:.2}  {right:.2}  {size}");
        }
    }
}

/// The fall that describes best how likely the second and third match are right.
fn fitted_fall(served: &[Outcome], sure: &impl Fn(&Outcome) -> f64) -> f64 {
    let shipped = f64::from(Confidence::shipped(true).fall);
    let error = |fall: f64| {
        let mut error = 0.0;
        for outcome in served {
            for place in 1..outcome.scores.len().min(3) {
                // The shipped fall undone: how far the sum is behind.
                let behind = -f64::from(outcome.scores[place] / outcome.scores[0]).ln() * shipped;
                let predicted = sure(outcome) * (-behind / fall).exp();
                error += (predicted - f64::from(outcome.place == Some(place))).powi(2);
            }
        }
        error
    };
    let best = FALLS
        .into_iter()
        .min_by(|a, b| error(*a).total_cmp(&error(*b)));
    best.unwrap()
}

/// Whether any tool serves a request.
fn print_relevance(data: &Data, served: &[Outcome], unserved: &[Outcome]) {
    let others = data.run_removed(Form::Markdown, ALIKE);
    let removed = data.run_removed(Form::Markdown, 0);
    let groups = [
        (served, true, 2.0),
        (unserved, false, 0.75),
        (&others, false, 1.25),
    ];
    let mut outcomes = Vec::new();
    let mut examples = Vec::new();
    for (group, is_served, parts) in groups {
        let weight = 10_000.0 * parts / group.len().max(1) as f64;
        examples.extend(group.iter().map(|o| (relevance_row(o), weight, is_served)));
        outcomes.extend(group.iter().map(|o| o.fold));
    }
    let mut fitted = fit(&examples);
    let sums = |fit: &Row, group: &[Outcome]| -> Vec<f64> {
        group.iter().map(|o| sum(fit, &relevance_row(o))).collect()
    };
    let mut served_sums = sums(&fitted, served);
    served_sums.sort_by(|a, b| b.total_cmp(a));
    let threshold = served_sums[(ANSWERED * served_sums.len() as f64) as usize];
    fitted[0] -= threshold;
    println!("relevance, constant first: {fitted:.3?}");
    // The same with coefficients and threshold from the other tools.
    let mut answered = [0_usize; 3];
    for fold in 0..FOLDS {
        let kept = examples.iter().zip(&outcomes).filter(|(_, f)| **f != fold);
        let mut fold_fit = fit(&kept.map(|(example, _)| *example).collect::<Vec<_>>());
        let of_others = served.iter().filter(|o| o.fold != fold);
        let mut of_others: Vec<f64> = of_others
            .map(|o| sum(&fold_fit, &relevance_row(o)))
            .collect();
        of_others.sort_by(|a, b| b.total_cmp(a));
        fold_fit[0] -= of_others[(ANSWERED * of_others.len() as f64) as usize];
        for (answered, group) in answered.iter_mut().zip([served, unserved, &others]) {
            let own = group.iter().filter(|o| o.fold == fold);
            *answered += own
                .filter(|o| sum(&fold_fit, &relevance_row(o)) >= 0.0)
                .count();
        }
    }
    let share = |answered: usize, group: &[Outcome]| answered as f64 / group.len().max(1) as f64;
    let crossed = [served, unserved, &others];
    let crossed = crossed
        .iter()
        .zip(answered)
        .map(|(group, answered)| share(answered, group));
    println!(
        "answered, fitted on other tools: served, unserved, all tools like the right one removed"
    );
    println!("  {:.3?}", crossed.collect::<Vec<_>>());
    println!(
        "answered, as shipped: served, unserved, all like it removed, only the right one removed"
    );
    let shipped = [served, unserved, &others, &removed];
    let shipped = shipped
        .iter()
        .map(|group| share(group.iter().filter(|o| o.is_relevant).count(), group));
    println!("  {:.3?}", shipped.collect::<Vec<_>>());
    let right = served
        .iter()
        .filter(|o| o.is_relevant && o.is_right())
        .count() as f64;
    let relevant = served.iter().filter(|o| o.is_relevant).count() as f64;
    println!("right of these: {:.3}", right / relevant);
}
