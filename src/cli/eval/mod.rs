//! `skills eval`: whether requests are routed to the skills that are meant for them.

mod case;
mod report;
mod suggest;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

use super::CliError;
use super::connection::{Connection, open};
use super::input;
use super::list::listing;
use super::options::Options;
use super::search::{Found, ask_uncounted};
use case::{Case, HINT, parse};
use report::Report;

/// Bytes of a file of cases.
const MAX_CASES_BYTES: usize = 16 * 1024 * 1024;
/// Places of an answer that are looked at.
const PLACES: usize = 10;

/// Test the routing: send each request of a file, and compare the answer with the expected skill.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct EvalArgs {
    /// JSON lines `{"text": REQUEST, "expect": ID | [IDS] | null}`; `null` if no skill serves it.
    #[arg(value_name = "CASES")]
    cases: PathBuf,

    /// Fail if fewer requests than this share have the expected skill first, such as 0.8.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_hit1: Option<f64>,

    /// Propose triggers that correct a miss and break no other case: each is tried, nothing is written.
    #[arg(long)]
    suggest: bool,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills eval routes.jsonl                       hit@1, hit@3, MRR, abstentions, confused pairs
  skills eval routes.jsonl --min-hit1 0.8        exit code 1 below it, for CI
  skills eval routes.jsonl --suggest             triggers that would correct the misses";

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "is not a number from 0 to 1, such as 0.8".into())
}

/// A case with the answer it got.
struct Outcome {
    case: Case,
    abstained: bool,
    /// Matches, then close ones.
    found: Vec<Found>,
}

impl Outcome {
    /// The place of the first expected skill, from 0.
    fn place(&self) -> Option<usize> {
        let is_expected = |found: &Found| self.case.expected.contains(&found.id);
        self.found.iter().position(is_expected)
    }

    fn is_miss(&self) -> bool {
        !self.case.expected.is_empty() && self.place() != Some(0)
    }
}

pub fn run(args: &EvalArgs) -> Result<(), CliError> {
    let output = args.options.output();
    let text = input::text(&args.cases, MAX_CASES_BYTES, &output).map_err(|error| {
        // What there is to do about a file of a skill is of no use here.
        let is_about_skills = error.hint.is_some();
        if is_about_skills {
            error.with_hint(HINT)
        } else {
            error
        }
    })?;
    let name = args.cases.display().to_string();
    let cases = parse(&text, &name)?;
    if args.min_hit1.is_some() && cases.iter().all(|case| case.expected.is_empty()) {
        return Err(CliError::invalid(
            format!("{name}: no case has an expected skill, so there is no hit@1"),
            HINT,
        ));
    }
    open(&args.options, async |connection| {
        let mut outcomes = Vec::with_capacity(cases.len());
        for case in cases {
            outcomes.push(outcome(connection, case).await?);
        }
        let ids = listing(connection, None).await?.skills;
        let ids: BTreeSet<String> = ids.into_iter().map(|skill| skill.id).collect();
        let mut report = Report::of(&outcomes, &ids);
        if args.suggest {
            let suggested = suggest::triggers(connection, &outcomes).await?;
            report.suggestions = Some(suggested.found);
            report.suggestions_cut = suggested.is_cut;
        }
        connection.output.data("eval", &report, |_| report.text())?;
        match (args.min_hit1, report.hit1) {
            (Some(least), Some(hit1)) if hit1 < least => Err(CliError::broken(format!(
                "hit@1 is {hit1:.3}, less than {least}"
            ))
            .with_hint("`--suggest` proposes triggers for the misses")),
            _ => Ok(()),
        }
    })
}

async fn outcome(connection: &Connection, case: Case) -> Result<Outcome, CliError> {
    let answer = ask_uncounted(connection, &case.text, PLACES).await?;
    let mut found = answer.matches;
    found.extend(answer.close);
    Ok(Outcome {
        case,
        abstained: answer.abstained,
        found,
    })
}
