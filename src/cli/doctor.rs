//! `skills doctor`: what the configuration names, and what is wrong with it.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use skills_core::Skipped;

use super::{Stop, block_on};
use crate::config::{Config, Loaded};
use crate::files::{self, Folder, Report};

#[derive(Args)]
pub struct DoctorArgs {
    /// The configuration file to look at.
    #[arg(long, value_name = "PATH", default_value = "./config.yaml")]
    config: PathBuf,

    /// Say it as one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &DoctorArgs) -> Result<(), Stop> {
    let loaded = Config::load(&args.config);
    let config = &loaded.config;
    let folder = Folder::new(&loaded.base, &config.skills, &config.prompts);
    let report = block_on(async {
        let report = folder.report().await;
        report.map_err(|error| Stop::broken(error.to_text()))
    })?;
    let said = if args.json {
        format!("{:#}\n", in_json(&loaded, &report))
    } else {
        in_words(&loaded, &report)
    };
    // A reader that has seen enough is no failure.
    let _ = std::io::stdout().write_all(said.as_bytes());
    match findings(&loaded, &report) {
        0 => Ok(()),
        1 => Err(Stop::broken("1 finding")),
        many => Err(Stop::broken(format!("{many} findings"))),
    }
}

fn findings(loaded: &Loaded, report: &Report) -> usize {
    let files = report.skills.iter().chain(&report.prompts);
    let warned = files.filter(|file| file.warning.is_some()).count();
    loaded.warnings.len() + report.skipped.len() + warned
}

/// How many files each pattern gave, in the order of the configuration.
fn per_pattern<'a>(patterns: &'a [String], files: &[files::Loaded]) -> Vec<(&'a str, usize)> {
    let count = |pattern: &str| files.iter().filter(|f| *f.pattern == *pattern).count();
    let patterns = patterns.iter().map(String::as_str);
    patterns.map(|pattern| (pattern, count(pattern))).collect()
}

fn in_words(loaded: &Loaded, report: &Report) -> String {
    let mut lines = Vec::new();
    for warning in &loaded.warnings {
        lines.push(format!("warning  {warning}"));
    }
    let kinds = [
        ("skill", &loaded.config.skills, &report.skills),
        ("prompt", &loaded.config.prompts, &report.prompts),
    ];
    for (kind, patterns, files) in kinds {
        for (pattern, count) in per_pattern(patterns, files) {
            lines.push(format!("pattern  {pattern} ({kind}s: {count})"));
        }
        for file in files {
            let path = file.path.display();
            lines.push(format!("{kind:<8} {}  {path}", file.name));
            if let Some(warning) = &file.warning {
                lines.push(format!("warning  {path}: {warning}"));
            }
        }
    }
    for Skipped { place, reason } in &report.skipped {
        lines.push(format!("skipped  {place}: {reason}"));
    }
    lines.push(format!(
        "skills: {}, prompts: {}, skipped: {}",
        report.skills.len(),
        report.prompts.len(),
        report.skipped.len()
    ));
    lines.join("\n") + "\n"
}

fn in_json(loaded: &Loaded, report: &Report) -> Value {
    let patterns = |patterns: &[String], files: &[files::Loaded]| -> Value {
        let counted = per_pattern(patterns, files).into_iter();
        let entry = |(pattern, files)| json!({ "pattern": pattern, "files": files });
        counted.map(entry).collect()
    };
    let files = |files: &[files::Loaded], key: &str| -> Value {
        let entry = |file: &files::Loaded| {
            json!({
                key: file.name,
                "path": file.path.display().to_string(),
                "pattern": &*file.pattern,
                "warning": file.warning,
            })
        };
        files.iter().map(entry).collect()
    };
    let skipped = |s: &Skipped| json!({ "place": s.place, "reason": s.reason });
    json!({
        "healthy": findings(loaded, report) == 0,
        "warnings": loaded.warnings,
        "patterns": {
            "skills": patterns(&loaded.config.skills, &report.skills),
            "prompts": patterns(&loaded.config.prompts, &report.prompts),
        },
        "skills": files(&report.skills, "id"),
        "prompts": files(&report.prompts, "name"),
        "skipped": report.skipped.iter().map(skipped).collect::<Value>(),
    })
}
