//! Filling the placeholders of a skill's command: `rg {pattern} {path}`.
//!
//! Nothing here runs a command. The line form is for a shell, each value in single quotes; the
//! argument form needs no shell and is the one to run.

use std::collections::BTreeMap;

use crate::agent::Skill;
use crate::error::excerpt;
use crate::limits::MAX_COMMAND_BYTES;
use crate::template::{Hazard, Placeholder, Template};

/// Values by input name.
pub type Values = BTreeMap<String, String>;

/// Why a command cannot be filled safely.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// A placeholder stands where quoting its value is not sufficient.
    #[error("the placeholder {{{name}}} stands {hazard}")]
    Unsafe {
        /// The placeholder's name.
        name: String,
        /// What is wrong with where it stands.
        hazard: Hazard,
    },
    /// The value contains NUL, which no argument of a program can contain.
    #[error("the value of {name} contains a NUL character")]
    Nul {
        /// The placeholder's name.
        name: String,
    },
    /// The command uses a feature of the shell, which the argument form cannot express.
    #[error("the command needs a shell: it uses {}", excerpt(&.what.to_string()))]
    NeedsShell {
        /// The character that only a shell interprets.
        what: char,
    },
    /// The template ends inside a quote.
    #[error("a quote in the command is never closed")]
    UnclosedQuote,
    /// With its values it is longer than [`MAX_COMMAND_BYTES`].
    #[error("the command is too large with these values: more than {MAX_COMMAND_BYTES} bytes")]
    TooLarge,
}

impl CommandError {
    /// How to correct it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unsafe { .. } => {
                "write the placeholder on its own, without quotes: values are quoted for you"
            }
            Self::Nul { .. } => "remove the NUL character",
            Self::NeedsShell { .. } => {
                "ask for the shell line, or put the pipeline in a script of its own"
            }
            Self::UnclosedQuote => "close the quote in the skill's tool",
            Self::TooLarge => "pass shorter values",
        }
    }
}

impl Skill {
    /// The shell line with its placeholders filled; none without a tool.
    ///
    /// A placeholder without a value stays as written: see [`Template::missing`].
    pub fn command(&self, values: &Values) -> Option<Result<String, CommandError>> {
        self.tool
            .as_deref()
            .map(|tool| Template::parse(tool).line(values))
    }

    /// The arguments to run without a shell, the program first; none without a tool.
    pub fn argv(&self, values: &Values) -> Option<Result<Vec<String>, CommandError>> {
        self.tool
            .as_deref()
            .map(|tool| Template::parse(tool).argv(values))
    }
}

impl Template<'_> {
    /// The text with each value in single quotes. Values are not scanned for placeholders.
    pub fn line(&self, values: &Values) -> Result<String, CommandError> {
        let mut line = String::with_capacity(self.text().len().min(MAX_COMMAND_BYTES));
        // Checked before each part is added: a short text can name a long value many times.
        let mut push = |part: &str| {
            if part.len() > MAX_COMMAND_BYTES - line.len() {
                return Err(CommandError::TooLarge);
            }
            line.push_str(part);
            Ok(())
        };
        let mut copied = 0;
        for placeholder in self.placeholders() {
            let Some(value) = value(placeholder, values)? else {
                continue;
            };
            push(&self.text()[copied..placeholder.bytes.start])?;
            push("'")?;
            for (number, part) in value.split('\'').enumerate() {
                if number > 0 {
                    push(r"'\''")?;
                }
                push(part)?;
            }
            push("'")?;
            copied = placeholder.bytes.end;
        }
        push(&self.text()[copied..])?;
        Ok(line)
    }

    /// The text split into words; a value is part of the word that contains its placeholder.
    pub fn argv(&self, values: &Values) -> Result<Vec<String>, CommandError> {
        let mut words = Words::default();
        let mut copied = 0;
        for placeholder in self.placeholders() {
            words.read(&self.text()[copied..placeholder.bytes.start])?;
            let written = &self.text()[placeholder.bytes.clone()];
            words.fill(value(placeholder, values)?.unwrap_or(written))?;
            copied = placeholder.bytes.end;
        }
        words.read(&self.text()[copied..])?;
        words.finish()
    }

    /// The placeholders that have no value, each once, in order.
    pub fn missing(&self, values: &Values) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        let names = self
            .placeholders()
            .iter()
            .map(|placeholder| placeholder.name);
        names
            .filter(|name| !values.contains_key(*name) && seen.insert(*name))
            .collect()
    }
}

fn value<'v>(
    placeholder: &Placeholder<'_>,
    values: &'v Values,
) -> Result<Option<&'v str>, CommandError> {
    let name = || placeholder.name.to_owned();
    // An error with and without a value: the template is wrong, not the request.
    if let Some(hazard) = placeholder.hazard {
        return Err(CommandError::Unsafe {
            name: name(),
            hazard,
        });
    }
    let value = values.get(placeholder.name).map(String::as_str);
    match value {
        Some(value) if value.contains('\0') => Err(CommandError::Nul { name: name() }),
        value => Ok(value),
    }
}

/// Splits the literal parts of a template into words, quotes and backslashes as in `sh`.
#[derive(Default)]
struct Words {
    done: Vec<String>,
    current: Option<String>,
    quote: Option<char>,
    /// Bytes of everything that was read and filled in, blanks and quotes included.
    bytes: usize,
}

impl Words {
    fn word(&mut self) -> &mut String {
        self.current.get_or_insert_default()
    }

    /// Counts a part before it is added.
    fn count(&mut self, part: &str) -> Result<(), CommandError> {
        if part.len() > MAX_COMMAND_BYTES - self.bytes {
            return Err(CommandError::TooLarge);
        }
        self.bytes += part.len();
        Ok(())
    }

    fn fill(&mut self, value: &str) -> Result<(), CommandError> {
        self.count(value)?;
        self.word().push_str(value);
        Ok(())
    }

    fn read(&mut self, text: &str) -> Result<(), CommandError> {
        self.count(text)?;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (self.quote, c) {
                (Some(quote), c) if c == quote => self.quote = None,
                (Some('"'), '\\') => {
                    let kept = chars.next_if(|next| matches!(next, '"' | '\\' | '$' | '`'));
                    self.word().push(kept.unwrap_or('\\'));
                }
                (Some('"'), '$' | '`') => return Err(CommandError::NeedsShell { what: c }),
                (None, '\'' | '"') => {
                    self.word();
                    self.quote = Some(c);
                }
                (None, '\\') => {
                    let kept = chars.next().unwrap_or('\\');
                    self.word().push(kept);
                }
                (None, ' ' | '\t') => self.done.extend(self.current.take()),
                (
                    None,
                    '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '\n',
                ) => {
                    return Err(CommandError::NeedsShell { what: c });
                }
                (None, '#' | '~') if self.current.is_none() => {
                    return Err(CommandError::NeedsShell { what: c });
                }
                _ => self.word().push(c),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<String>, CommandError> {
        if self.quote.is_some() {
            return Err(CommandError::UnclosedQuote);
        }
        self.done.extend(self.current.take());
        Ok(self.done)
    }
}
