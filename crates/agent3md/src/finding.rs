//! What the validator has to say, and how it is printed.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};

use crate::number::{Number, js_number};
use crate::span::Span;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The document breaks a rule.
    Error,
    /// The document keeps the rules and is probably not what was meant.
    Warning,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $name:literal $level:ident,)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// Every rule, in the order findings are reported.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// The name printed in brackets.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// Whether it is an error or a warning.
            pub fn level(self) -> Level {
                match self { $(Self::$rule => Level::$level,)* }
            }
        }
    };
}

rules! {
    /// The text is not a 3md document.
    Parse "parse" Error,
    /// Neither `title` nor `agent` names the agent.
    Frontmatter "frontmatter" Error,
    /// More than one identity, or no plane at all.
    Identity "identity" Error,
    /// A skill without a label.
    MissingLabel "missing-label" Error,
    /// Two skills with one label.
    UniqueSkill "unique-skill" Error,
    /// A link to a plane that is not there.
    DeadLink "dead-link" Error,
    /// `entry` is not the position of a plane.
    Entry "entry" Error,
    /// Skills that depend on themselves.
    Cycle "cycle" Error,
    /// An input declared twice.
    DupInput "dup-input" Error,
    /// An input of a type that is not known.
    InputType "input-type" Error,
    /// A placeholder that no input declares.
    ToolInput "tool-input" Error,
    /// A placeholder where a value could break out of its quotes.
    UnsafePlaceholder "unsafe-placeholder" Error,
    /// A skill without triggers.
    Triggers "triggers" Warning,
    /// A `tool` without a command.
    Tool "tool" Warning,
    /// An input that the tool never uses.
    UnusedInput "unused-input" Warning,
    /// A program that the front matter's `tools` does not list.
    UndeclaredTool "undeclared-tool" Warning,
    /// Triggers without a word in them.
    Unroutable "unroutable" Warning,
    /// A link that the base format knows and an agent ignores.
    WideLink "wide-link" Warning,
    /// A skill that is taken for the identity because no plane says it is.
    ImpliedIdentity "implied-identity" Warning,
    /// A code fence without end that hides planes.
    UnclosedFence "unclosed-fence" Warning,
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// One thing the validator found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The position of the plane it concerns.
    pub z: Option<f64>,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub at: Span,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            rule: Rule,
            level: Level,
            z: Option<Number>,
            message: &'a str,
            line: usize,
            column: usize,
        }
        let Self {
            rule,
            z,
            message,
            at,
        } = self;
        let (level, z) = (rule.level(), z.map(Number));
        Shown {
            rule: *rule,
            level,
            z,
            message,
            line: at.line,
            column: at.column,
        }
        .serialize(to)
    }
}

/// Everything the validator found: errors first, then warnings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ValidationReport {
    /// The findings in order.
    pub findings: Vec<Finding>,
}

impl ValidationReport {
    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.rule.level() == Level::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.rule.level() == Level::Warning)
    }

    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The report as `agent3md validate` prints it, without a final line end.
    pub fn text(&self, file: &str) -> String {
        let mut text = format!("agent3md validate: {file}");
        for Finding {
            rule, z, message, ..
        } in &self.findings
        {
            let mark = if rule.level() == Level::Error {
                '✗'
            } else {
                '⚠'
            };
            let z = z.map_or_else(String::new, |z| format!(" z={}", js_number(z)));
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {mark} [{}]{z}  {message}", rule.name());
        }
        let verdict = if self.is_ok() { "PASS" } else { "FAIL" };
        let (errors, warnings) = (self.errors().count(), self.warnings().count());
        let _ = write!(
            text,
            "\n  {verdict} - {errors} error(s), {warnings} warning(s)"
        );
        text
    }
}
