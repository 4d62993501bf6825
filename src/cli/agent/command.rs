//! `skills agent command`: fills the command of a skill. Nothing is run.

use agent3md::{CommandError, Input, Skill, Template, Values};
use clap::Args;
use serde_json::{Value, json};
use skills_core::Kind;

use super::{CliError, Output, WhichArgs, line, open};

#[derive(Args)]
pub struct CommandArgs {
    #[command(flatten)]
    which: WhichArgs,

    /// A value for an input; may be given for each.
    #[arg(long = "set", value_name = "INPUT=VALUE")]
    values: Vec<String>,

    /// One argument a line, to run without a shell.
    #[arg(long)]
    argv: bool,
}

pub fn run(args: &CommandArgs, output: &Output) -> Result<(), CliError> {
    let agent = open(&args.which.file)?;
    let skill = args.which.find(&agent)?;
    let Some(tool) = &skill.tool else {
        return Err(CliError {
            kind: Kind::NotFound,
            message: format!("the skill {:?} has no command", skill.name),
            hint: Some("give its plane one: tool=\"rg {pattern}\" inputs=pattern".into()),
        });
    };
    let values = values(&args.values, skill)?;
    let template = Template::parse(tool);
    required(skill, &template.missing(&values))?;
    let missing = template.missing(&values);
    let filled = template.line(&values).map_err(|error| stop(&error))?;
    // A pipeline is a fine command and has no argument form.
    let words = match template.argv(&values) {
        Ok(words) => Some(words),
        Err(error) if args.argv => return Err(stop(&error)),
        Err(_) => None,
    };
    for name in &missing {
        output.remark(&format!(
            "note: {{{name}}} has no value and stays as written"
        ));
    }
    let data = json!({ "line": filled, "argv": words, "missing": missing });
    output.data("agent command", &data, |_| match words {
        Some(words) if args.argv => words.iter().fold(String::new(), |all, w| all + w + "\n"),
        _ => line(&filled),
    })
}

fn stop(error: &CommandError) -> CliError {
    CliError {
        kind: match error {
            CommandError::Nul { .. } => Kind::Invalid,
            _ => Kind::Broken,
        },
        message: error.to_string(),
        hint: Some(error.hint().into()),
    }
}

/// The values by name, each of the type its input declares.
fn values(given: &[String], skill: &Skill) -> Result<Values, CliError> {
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
            CliError::invalid(
                format!("the skill {:?} has no input {name:?}", skill.name),
                hint,
            )
        })?;
        check_type(input, value)?;
        if values.insert(name.to_owned(), value.to_owned()).is_some() {
            let hint = "give each input one value";
            return Err(CliError::invalid(
                format!("the input {name:?} is set twice"),
                hint,
            ));
        }
    }
    Ok(values)
}

fn check_type(input: &Input, value: &str) -> Result<(), CliError> {
    let parsed: Option<Value> = serde_json::from_str(value).ok();
    let parsed = parsed.as_ref();
    let fits = match &*input.kind {
        "number" => parsed.is_some_and(Value::is_number),
        "boolean" => parsed.is_some_and(Value::is_boolean),
        "object" => parsed.is_some_and(Value::is_object),
        "array" => parsed.is_some_and(Value::is_array),
        // Strings, and types that only the validator complains about.
        _ => true,
    };
    if fits {
        return Ok(());
    }
    let Input { name, kind, .. } = input;
    Err(CliError::invalid(
        format!("the input {name:?} takes a value of type {kind}, and {value:?} is none"),
        "write it as in JSON: 1.5, true, {\"a\":1}, [1,2]",
    ))
}

/// An optional input without a value stays as written; the rest must have one.
fn required(skill: &Skill, missing: &[&str]) -> Result<(), CliError> {
    let optional = |name: &&str| {
        let mut inputs = skill.inputs.iter();
        inputs.any(|input| input.optional && input.name == **name)
    };
    let needed: Vec<&str> = missing
        .iter()
        .copied()
        .filter(|name| !optional(name))
        .collect();
    match needed[..] {
        [] => Ok(()),
        [first, ..] => Err(CliError::invalid(
            format!("no value for {}", needed.join(", ")),
            format!("add --set {first}=VALUE"),
        )),
    }
}
