//! `skills agent validate`: lists the problems of documents with file and line.

use std::path::PathBuf;

use agent3md::ValidationReport;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use skills_core::escape_control;

use super::{CliError, Output, read_text};
use crate::cli::document::format_finding;
use crate::cli::humanize::count;
use crate::cli::output::lines;

#[derive(Args)]
pub struct ValidateArgs {
    /// The documents.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Fail on warnings too.
    #[arg(long)]
    strict: bool,
}

/// The result for one file, as `--json` prints it.
#[derive(Serialize)]
struct Checked {
    file: String,
    ok: bool,
    #[serde(flatten)]
    report: ValidationReport,
    /// Why it could not be read.
    unreadable: Option<String>,
}

pub fn run(args: &ValidateArgs, output: &Output) -> Result<(), CliError> {
    let mut text = Vec::new();
    let mut files = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    for path in &args.files {
        let (report, unreadable) = match read_text(path) {
            Ok(text) => (agent3md::validate(&text), None),
            Err(error) => (ValidationReport::default(), Some(error.message)),
        };
        let (file, findings) = (path.display().to_string(), report.findings.iter());
        text.extend(findings.map(|finding| format_finding(path, finding)));
        let problem = unreadable.iter();
        text.extend(problem.map(|problem| format!("{file}: error [read] {problem}")));
        errors += report.errors().count() + usize::from(unreadable.is_some());
        warnings += report.warnings().count();
        files.push(Checked {
            file,
            ok: report.is_ok() && unreadable.is_none(),
            report,
            unreadable,
        });
    }
    let summary = [
        count(files.len(), "file"),
        count(errors, "error"),
        count(warnings, "warning"),
    ];
    let summary = summary.join(", ");
    let data = json!({ "files": files, "errors": errors, "warnings": warnings });
    let fails = errors > 0 || (args.strict && warnings > 0);
    output.data("agent validate", &data, |_| {
        // The error has it otherwise.
        text.extend((!fails).then(|| summary.clone()));
        lines(text.iter().map(|line| escape_control(line)))
    })?;
    if fails {
        return Err(CliError::broken(summary));
    }
    Ok(())
}
