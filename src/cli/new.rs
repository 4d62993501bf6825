//! `skills new`: creates a skill folder to start from.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use skills_core::{Document, SKILL_MD, SkillId, agent_skill, quote};

use super::CliError;
use super::options::OutputArgs;
use super::write_file::{cannot_write, write_file};

/// Create a skill folder with a SKILL.md to start from.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct NewArgs {
    /// The name of the skill and of its folder: lowercase letters, digits and hyphens.
    name: String,

    /// The directory in which the folder is created.
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "Examples:
  skills new pdf-forms                        ./pdf-forms/SKILL.md
  skills new pdf-forms --in .claude/skills    for one agent; --discover serves it to every agent

The folder is an Agent Skill: every agent that reads SKILL.md loads it. Nothing is overwritten.";

pub fn run(args: &NewArgs) -> Result<(), CliError> {
    let name = args.name.as_str();
    check(name)?;
    let folder = args.dir.join(name);
    let path = folder.join(SKILL_MD);
    fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
    write_file(&path, scaffold(name), false).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            let message = format!("{} already exists", path.display());
            return CliError::invalid(message, "choose another name; files are never overwritten");
        }
        cannot_write(&path, &error)
    })?;
    let path = path.display().to_string();
    let data = json!({ "name": name, "path": path });
    let output = args.output.output();
    output.data("new", &data, |_| format!("{path}\n"))?;
    output.remark(&format!(
        "describe it in the front matter, then: skills mcp {}",
        args.dir.display()
    ));
    Ok(())
}

/// The name is valid for every agent, and as an id here.
fn check(name: &str) -> Result<(), CliError> {
    if !agent_skill::is_name(name) {
        let hint = match agent_skill::nearest_name(name) {
            Some(near) => format!("use `{near}`"),
            None => "use lowercase letters, digits and single hyphens, as in `pdf-forms`".into(),
        };
        let message = format!("{} cannot be the name of a skill", quote(name));
        return Err(CliError::invalid(message, hint));
    }
    if let Err(error) = name.parse::<SkillId>() {
        let hint = format!("use another name, such as `my-{name}`");
        return Err(CliError::invalid(error.to_string(), hint));
    }
    Ok(())
}

/// The text of a new `SKILL.md`. YAML reads a few names as numbers or booleans; those are quoted.
fn scaffold(name: &str) -> String {
    let plain = with_name(name, name);
    if agent_skill::rejections(&Document::parse(&plain), name).is_empty() {
        return plain;
    }
    with_name(name, &format!("\"{name}\""))
}

fn with_name(name: &str, yaml: &str) -> String {
    let title = name.replace('-', " ");
    let mut letters = title.chars();
    let first = letters.next().unwrap_or_default().to_ascii_uppercase();
    let rest = letters.as_str();
    format!(
        "---
name: {yaml}
description: What this skill does, and when to use it. An agent sees only this line until it needs the skill.
---

# {first}{rest}

The steps, in the order in which an agent takes them.

Longer texts belong in files beside this one, and links lead to them when they are needed, as in
`[the format](references/format.md)`. Programs belong in `scripts`, templates in `assets`.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_skill_is_an_agent_skill() {
        for name in ["pdf", "a", "pdf-forms", "0", "no", "1e3", "null", "true"] {
            let text = scaffold(name);
            let document = Document::parse(&text);
            assert_eq!(agent_skill::rejections(&document, name), [""; 0], "{name}");
        }
    }

    #[test]
    fn a_bad_name_gets_the_nearest_one() {
        for (name, hint) in [
            ("My Skill", "use `my-skill`"),
            ("a_b", "use `a-b`"),
            ("../x", "use `x`"),
            ("日本", "as in `pdf-forms`"),
            ("", "as in `pdf-forms`"),
            ("skills", "such as `my-skills`"),
        ] {
            let error = check(name).unwrap_err();
            assert!(error.hint.unwrap().contains(hint), "for {name:?}");
        }
    }
}
