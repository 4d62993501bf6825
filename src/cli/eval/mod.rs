//! `skills eval`: whether requests are routed to the skills that are meant for them.

mod report;
mod suggest;

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::CliError;
use super::connection::{Connection, open};
use super::input;
use super::options::Options;
use super::search::{Found, ask_uncounted};
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

    /// Propose triggers that correct a miss and no other case contradicts.
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

/// One request, and what is right for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    text: String,
    expect: Expected,
}

/// The ids that are right; none if abstaining is right.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    None(()),
    One(String),
    OneOf(Vec<String>),
}

impl Case {
    fn expected(&self) -> &[String] {
        match &self.expect {
            Expected::None(()) => &[],
            Expected::One(id) => std::slice::from_ref(id),
            Expected::OneOf(ids) => ids,
        }
    }
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
        let is_expected = |found: &Found| self.case.expected().contains(&found.id);
        self.found.iter().position(is_expected)
    }

    fn is_miss(&self) -> bool {
        !self.case.expected().is_empty() && self.place() != Some(0)
    }
}

pub fn run(args: &EvalArgs) -> Result<(), CliError> {
    let output = args.options.output();
    let text = input::text(&args.cases, MAX_CASES_BYTES, &output)?;
    let cases = parse(&text, &args.cases.display().to_string())?;
    open(&args.options, async |connection| {
        let mut outcomes = Vec::with_capacity(cases.len());
        for case in cases {
            outcomes.push(outcome(connection, case).await?);
        }
        let mut report = Report::of(&outcomes);
        if args.suggest {
            report.suggestions = suggest::triggers(&outcomes);
        }
        connection
            .output
            .data("eval", &report, |_| report.text(args.suggest))?;
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

fn parse(text: &str, name: &str) -> Result<Vec<Case>, CliError> {
    const HINT: &str =
        "write a line such as {\"text\": \"send a mail\", \"expect\": \"resend/email\"}";
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let case = |(number, line): (usize, &str)| {
        let problem =
            |problem: String| CliError::invalid(format!("{name}:{number}: {problem}"), HINT);
        let case: Case = serde_json::from_str(line).map_err(|error| problem(error.to_string()))?;
        if case.text.trim().is_empty() {
            return Err(problem("`text` is empty".into()));
        }
        Ok(case)
    };
    let cases: Vec<Case> = lines.map(case).collect::<Result<_, _>>()?;
    if cases.is_empty() {
        return Err(CliError::invalid(format!("{name} has no cases"), HINT));
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_lines() {
        let text = "{\"text\":\"a\",\"expect\":\"x\"}\n\n{\"text\":\"b\",\"expect\":[\"x\",\"y\"]}\n{\"text\":\"c\",\"expect\":null}\n";
        let cases = parse(text, "f").unwrap();
        let expected: Vec<usize> = cases.iter().map(|case| case.expected().len()).collect();
        assert_eq!(expected, [1, 2, 0]);
        for (text, message) in [
            ("", "f has no cases"),
            ("{\"text\":\"a\"}", "f:1: missing field `expect`"),
            ("\n{\"text\":\" \",\"expect\":null}", "f:2: `text` is empty"),
            ("{\"text\":\"a\",\"expect\":5}", "f:1: data did not match"),
            ("nothing", "f:1: expected"),
        ] {
            let Err(error) = parse(text, "f") else {
                panic!("{text:?} is accepted");
            };
            assert!(error.message.starts_with(message), "{}", error.message);
        }
    }
}
