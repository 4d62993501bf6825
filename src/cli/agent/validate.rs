//! `skills agent validate`: what is wrong with documents, and where.

use std::path::PathBuf;

use agent3md::Report;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use skills_core::escape_control;

use super::{CliError, Output, text_of};
use crate::cli::document::said;

#[derive(Args)]
pub struct ValidateArgs {
    /// The documents.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Warnings fail as errors do.
    #[arg(long)]
    strict: bool,
}

/// What was found in one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    ok: bool,
    #[serde(flatten)]
    report: Report,
    /// Why it could not be read.
    unreadable: Option<String>,
}

pub fn run(args: &ValidateArgs, output: &Output) -> Result<(), CliError> {
    let mut lines = Vec::new();
    let mut files = Vec::new();
    for path in &args.files {
        let (report, unreadable) = match text_of(path) {
            Ok(text) => (agent3md::validate(&text), None),
            Err(stop) => (Report::default(), Some(stop.message)),
        };
        let found = report
            .findings
            .iter()
            .map(|finding| escape_control(&said(path, finding)));
        lines.extend(found);
        if let Some(problem) = &unreadable {
            lines.push(format!(
                "{}: error [read] {}",
                path.display(),
                escape_control(problem)
            ));
        }
        files.push(Checked {
            file: path.display().to_string(),
            ok: report.is_ok() && unreadable.is_none(),
            report,
            unreadable,
        });
    }
    let unread = files
        .iter()
        .filter(|file| file.unreadable.is_some())
        .count();
    let errors = unread
        + files
            .iter()
            .map(|f| f.report.errors().count())
            .sum::<usize>();
    let warnings: usize = files
        .iter()
        .map(|file| file.report.warnings().count())
        .sum();
    let counts = [
        count(files.len(), "file"),
        count(errors, "error"),
        count(warnings, "warning"),
    ];
    let summary = counts.join(", ");
    let data = json!({ "files": files, "errors": errors, "warnings": warnings });
    output.data("agent validate", &data, |_| {
        lines.push(summary.clone());
        lines.join("\n") + "\n"
    })?;
    if errors > 0 || (args.strict && warnings > 0) {
        return Err(CliError::broken(summary));
    }
    Ok(())
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
