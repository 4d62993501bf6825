//! `skills agent command`: fills the command of a skill with values. Nothing is run.

use agent3md::{CommandError, Input, Skill, Template, Values};
use clap::Args;
use serde_json::{Value, json};
use skills_core::Kind;

use super::{CliError, Output, SkillArgs, line, load};
use crate::cli::output::lines;

#[derive(Args)]
pub struct CommandArgs {
    #[command(flatten)]
    skill: SkillArgs,

    /// A value for an input; may be repeated.
    #[arg(long = "set", value_name = "INPUT=VALUE")]
    values: Vec<String>,

    /// Print one argument per line, to run without a shell.
    #[arg(long)]
    argv: bool,
}

pub fn run(args: &CommandArgs, output: &Output) -> Result<(), CliError> {
    let agent = load(&args.skill.file)?;
    let skill = args.skill.find(&agent)?;
    let tool = skill.tool.as_deref().ok_or_else(|| {
        CliError::not_found(
            format!("the skill {:?} has no command", skill.name),
            "add one to its plane: tool=\"rg {pattern}\" inputs=pattern",
        )
    })?;
    let values = parse_values(&args.values, skill)?;
    let template = Template::parse(tool);
    let missing = template.missing(&values);
    check_required(skill, &missing)?;
    let filled = template
        .line(&values)
        .map_err(|error| invalid_command(&error))?;
    let words = match template.argv(&values) {
        Ok(words) => Some(words),
        Err(error) if args.argv => return Err(invalid_command(&error)),
        // A pipeline has no argument form.
        Err(_) => None,
    };
    for name in &missing {
        output.note(&format!("{{{name}}} has no value and is left unchanged"));
    }
    let data = json!({ "line": filled, "argv": words, "missing": missing });
    output.data("agent command", &data, |_| match words {
        Some(words) if args.argv => lines(&words),
        _ => line(&filled),
    })
}

fn invalid_command(error: &CommandError) -> CliError {
    let kind = match error {
        CommandError::Nul { .. } | CommandError::TooLarge => Kind::Invalid,
        _ => Kind::Broken,
    };
    CliError::new(kind, error.to_string()).with_hint(error.hint())
}

/// The values by name, each of the type that its input declares.
fn parse_values(given: &[String], skill: &Skill) -> Result<Values, CliError> {
    let mut values = Values::new();
    for pair in given {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            let hint = "write the input, `=` and the value, as in --set pattern=word";
            CliError::invalid(format!("--set {pair:?} has no `=`"), hint)
        })?;
        let input = skill.inputs.iter().find(|input| input.name == name);
        let input = input.ok_or_else(|| {
            let names: Vec<_> = skill.inputs.iter().map(|input| &*input.name).collect();
            let hint = match names[..] {
                [] => "it has none".to_owned(),
                _ => format!("it has {}", names.join(", ")),
            };
            let message = format!("the skill {:?} has no input {name:?}", skill.name);
            CliError::invalid(message, hint)
        })?;
        check_type(input, value)?;
        if values.insert(name.to_owned(), value.to_owned()).is_some() {
            let message = format!("the input {name:?} is set twice");
            return Err(CliError::invalid(message, "give each input one value"));
        }
    }
    Ok(values)
}

fn check_type(input: &Input, value: &str) -> Result<(), CliError> {
    let parsed: Option<Value> = serde_json::from_str(value).ok();
    let has_type: fn(&Value) -> bool = match &*input.kind {
        "number" => Value::is_number,
        "boolean" => Value::is_boolean,
        "object" => Value::is_object,
        "array" => Value::is_array,
        // Strings, and types that only the validator rejects.
        _ => return Ok(()),
    };
    if parsed.as_ref().is_some_and(has_type) {
        return Ok(());
    }
    let Input { name, kind, .. } = input;
    Err(CliError::invalid(
        format!("the input {name:?} takes a value of type {kind}, not {value:?}"),
        "write it as in JSON: 1.5, true, {\"a\":1}, [1,2]",
    ))
}

/// Optional inputs may have no value; the others must have one.
fn check_required(skill: &Skill, missing: &[&str]) -> Result<(), CliError> {
    let is_optional = |name: &str| {
        let mut inputs = skill.inputs.iter();
        inputs.any(|input| input.optional && input.name == name)
    };
    let mut required = missing.to_vec();
    required.retain(|name| !is_optional(name));
    match required[..] {
        [] => Ok(()),
        [first, ..] => Err(CliError::invalid(
            format!("no value for {}", required.join(", ")),
            format!("add --set {first}=VALUE"),
        )),
    }
}
