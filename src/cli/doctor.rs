//! `skills doctor`: what the configuration names, and what is wrong with it.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use skills_core::Skipped;

use super::{Stop, block_on};
use crate::agents::{self, Agents};
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
    let agents = Agents::new(&loaded.base, &config.agents);
    let broken = |error: skills_core::Error| Stop::broken(error.to_text());
    let (mut report, agents) = block_on(async {
        let files = folder.report().await.map_err(broken)?;
        Ok((files, agents.report().await.map_err(broken)?))
    })?;
    report.skipped.extend(agents.skipped.iter().cloned());
    let agents = &agents.documents;
    let said = if args.json {
        format!("{:#}\n", in_json(&loaded, &report, agents))
    } else {
        in_words(&loaded, &report, agents)
    };
    // A reader that has seen enough is no failure.
    let _ = std::io::stdout().write_all(said.as_bytes());
    match findings(&loaded, &report, agents) {
        0 => Ok(()),
        1 => Err(Stop::broken("1 finding")),
        many => Err(Stop::broken(format!("{many} findings"))),
    }
}

fn findings(loaded: &Loaded, report: &Report, agents: &[agents::Loaded]) -> usize {
    let files = report.skills.iter().chain(&report.prompts);
    let warned = files.filter(|file| file.warning.is_some()).count();
    let in_agents: usize = agents.iter().map(|agent| agent.warnings.len()).sum();
    loaded.warnings.len() + report.skipped.len() + warned + in_agents
}

/// How many files each pattern gave, in the order of the configuration.
fn per_pattern<'a>(patterns: &'a [String], files: &[files::Loaded]) -> Vec<(&'a str, usize)> {
    let count = |pattern: &str| files.iter().filter(|f| *f.pattern == *pattern).count();
    let patterns = patterns.iter().map(String::as_str);
    patterns.map(|pattern| (pattern, count(pattern))).collect()
}

/// How many documents each pattern gave, in the order of the configuration.
fn agents_per_pattern<'a>(loaded: &'a Loaded, agents: &[agents::Loaded]) -> Vec<(&'a str, usize)> {
    let count = |pattern: &str| agents.iter().filter(|a| *a.pattern == *pattern).count();
    let patterns = loaded.config.agents.iter().map(String::as_str);
    patterns.map(|pattern| (pattern, count(pattern))).collect()
}

fn in_words(loaded: &Loaded, report: &Report, agents: &[agents::Loaded]) -> String {
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
    for (pattern, count) in agents_per_pattern(loaded, agents) {
        lines.push(format!("pattern  {pattern} (agents: {count})"));
    }
    for agent in agents {
        let path = agent.path.display();
        lines.push(format!("agent    {}  {path}", agent.ids.join(" ")));
        for warning in &agent.warnings {
            lines.push(format!("warning  {path}:{warning}"));
        }
    }
    for Skipped { place, reason } in &report.skipped {
        lines.push(format!("skipped  {place}: {reason}"));
    }
    lines.push(format!(
        "skills: {}, prompts: {}, agents: {}, skipped: {}",
        report.skills.len(),
        report.prompts.len(),
        agents.len(),
        report.skipped.len()
    ));
    lines.join("\n") + "\n"
}

fn in_json(loaded: &Loaded, report: &Report, agents: &[agents::Loaded]) -> Value {
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
    let agent = |agent: &agents::Loaded| {
        json!({
            "agent": agent.agent,
            "ids": agent.ids,
            "path": agent.path.display().to_string(),
            "pattern": &*agent.pattern,
            "warnings": agent.warnings,
        })
    };
    let skipped = |s: &Skipped| json!({ "place": s.place, "reason": s.reason });
    json!({
        "healthy": findings(loaded, report, agents) == 0,
        "warnings": loaded.warnings,
        "patterns": {
            "skills": patterns(&loaded.config.skills, &report.skills),
            "prompts": patterns(&loaded.config.prompts, &report.prompts),
            "agents": agents_per_pattern(loaded, agents)
                .into_iter()
                .map(|(pattern, files)| json!({ "pattern": pattern, "files": files }))
                .collect::<Value>(),
        },
        "skills": files(&report.skills, "id"),
        "prompts": files(&report.prompts, "name"),
        "agents": agents.iter().map(agent).collect::<Value>(),
        "skipped": report.skipped.iter().map(skipped).collect::<Value>(),
    })
}
