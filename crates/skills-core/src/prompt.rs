//! A prompt: a slash command, its arguments, and the function that renders it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::shown;
use crate::{Error, FunctionId, PromptName};

/// One declared argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: Box<str>,
    /// What it is for.
    pub description: Option<Box<str>>,
    /// Whether a caller must give it.
    pub required: bool,
}

/// A registered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The slash command.
    pub name: PromptName,
    /// What a person picking it reads.
    pub description: Box<str>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
    /// The function that renders it.
    pub function_id: FunctionId,
    /// When it was registered, RFC 3339 in UTC.
    pub registered_at: Arc<str>,
}

/// The description rule: not blank.
pub fn check_description(description: &str) -> Result<(), Error> {
    if description.trim().is_empty() {
        return Err(Error::invalid("description", "must be non-empty"));
    }
    Ok(())
}

/// The argument rules: every name not blank, none twice.
pub fn check_arguments(arguments: &[PromptArgument]) -> Result<(), Error> {
    let mut names = HashSet::new();
    for argument in arguments {
        let name = argument.name.trim();
        if name.is_empty() {
            return Err(Error::invalid("argument name", "must be non-empty"));
        }
        if !names.insert(name) {
            return Err(Error::invalid("duplicate argument name", shown(name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &str) {
        let argument = |name: &&str| PromptArgument {
            name: (*name).into(),
            description: None,
            required: false,
        };
        let arguments: Vec<_> = names.iter().map(argument).collect();
        let got = check_arguments(&arguments).map_or_else(|e| e.to_string(), |()| "fine".into());
        assert_eq!(got, expected, "for {names:?}");
    }

    #[test]
    fn arguments() {
        check(&[], "fine");
        check(&["to", "subject"], "fine");
        check(&["to", " "], "argument name must be non-empty");
        check(&[""], "argument name must be non-empty");
        check(&["to", "to"], "duplicate argument name `to`");
        check(&["to", " to"], "duplicate argument name `to`");
    }

    #[test]
    fn a_blank_description_is_refused() {
        assert_eq!(
            check_description(" ").unwrap_err().to_string(),
            "description must be non-empty"
        );
        assert!(check_description("Compose").is_ok());
    }
}
