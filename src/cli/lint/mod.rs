//! `skills lint`: what is wrong with skills, why, and the fix.

mod collect;
mod fix;
mod formats;
mod sarif;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skills_core::{Severity, nearest};
use skills_lint::{Findings, RULES, explain, find_rule};

use super::CliError;
use super::humanize::count;
use super::options::Options;
use super::output::{Output, Text};
use collect::Checked;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LintArgs {
    /// Folders, markdown files and `.3md` documents, or ids of skills [default: the configured
    /// sources and the registered skills].
    #[arg(value_name = "PATH|ID")]
    subjects: Vec<PathBuf>,

    /// Apply the safe fixes: byte order marks, line ends, quotes, misspelt keys, case of links.
    #[arg(long)]
    fix: bool,

    /// Show the safe fixes as a diff. Without --fix, no file changes.
    #[arg(long)]
    diff: bool,

    /// Exit with 1 for notes too.
    #[arg(long)]
    strict: bool,

    /// The form of the output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Leave out a rule, by its code. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    ignore: Vec<&'static str>,

    /// Explain a rule, with a text that has it and one that does not.
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    explain: Option<&'static str>,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON document, as with --json.
    Json,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

const EXAMPLES: &str = "Examples:
  skills lint                          the configured sources and the registered skills
  skills lint skills/pdf               one skill folder
  skills lint skills --fix             correct what is safe to correct
  skills lint skills --diff            show those corrections
  skills lint resend/email             a registered skill
  skills lint --explain T008           what a rule finds and why
  skills lint skills --format sarif > lint.sarif

A comment silences a rule on its own line and the next: <!-- skills-lint-allow CODE: reason -->
Exit code 0 without errors and warnings, 1 with some, 2 for invalid use.";

/// The code of a rule.
fn parse_code(text: &str) -> Result<&'static str, String> {
    if let Some(rule) = find_rule(text) {
        return Ok(rule.code);
    }
    let codes = RULES.iter().copied().flatten().map(|rule| rule.code);
    let near = nearest(&text.to_uppercase(), codes);
    let near = near.map(|near| format!("; did you mean `{near}`?"));
    let near = near.unwrap_or_default();
    Err(format!(
        "no rule has this code{near} (docs/lint.md lists them)"
    ))
}

pub fn run(args: &LintArgs) -> Result<(), CliError> {
    let output = match args.format {
        Format::Json => Output::new(true, args.options.output_args.quiet),
        _ => args.options.output(),
    };
    if let Some(rule) = args.explain.and_then(find_rule) {
        return output.data("lint", &formats::rule(rule), |_| explain(rule));
    }
    let mut checked = collect::check(args)?;
    if args.diff {
        let diff = fix::diff(&checked);
        if !args.fix {
            print(args, &output, &checked, Some(diff))?;
            return outcome(args, &checked.findings);
        }
        output.remark(diff.trim_end());
    }
    if args.fix {
        // A fix may make room for another one; each round leaves fewer findings.
        let mut files = 0;
        while let changed @ 1.. = fix::write(&checked, &output)? {
            files += changed;
            let before = checked.findings.all.len();
            checked = collect::check(args)?;
            if checked.findings.all.len() >= before {
                break;
            }
        }
        output.remark(&format!("fixed {}", count(files, "file")));
    }
    print(args, &output, &checked, None)?;
    outcome(args, &checked.findings)
}

fn print(
    args: &LintArgs,
    output: &Output,
    checked: &Checked,
    diff: Option<String>,
) -> Result<(), CliError> {
    let data = formats::data(&checked.findings);
    output.data("lint", &data, |_| -> Text {
        match (args.format, diff) {
            (_, Some(diff)) => diff.into(),
            (Format::Github, _) => formats::github(&checked.findings).into(),
            (Format::Sarif, _) => sarif::log(&checked.findings).into(),
            (Format::Text | Format::Json, _) => text::render(checked).into(),
        }
    })?;
    output.remark(&summary(&checked.findings));
    Ok(())
}

fn summary(findings: &Findings) -> String {
    let severities = [Severity::Error, Severity::Warning, Severity::Note];
    let counts = severities.map(|severity| count(findings.count(severity), severity.as_str()));
    let fixable = findings.all.iter().filter(|finding| finding.fix.is_some());
    let fixable = match fixable.count() {
        0 => String::new(),
        some => format!("; `--fix` corrects {some}"),
    };
    let allowed = match findings.allowed.len() {
        0 => String::new(),
        some => format!("; allowed by comments: {some}"),
    };
    format!("{}{fixable}{allowed}", counts.join(", "))
}

/// Whether the findings make the command fail.
fn outcome(args: &LintArgs, findings: &Findings) -> Result<(), CliError> {
    let least = if args.strict {
        Severity::Note
    } else {
        Severity::Warning
    };
    let serious = findings
        .all
        .iter()
        .filter(|finding| finding.severity >= least);
    match serious.count() {
        0 => Ok(()),
        serious => Err(CliError::broken(count(serious, "finding"))),
    }
}
