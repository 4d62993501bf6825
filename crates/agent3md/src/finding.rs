//! The findings of the validator, and how they are printed.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};

use crate::number::{Number, js_number};
use crate::span::Span;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The document breaks a rule.
    Error,
    /// The document obeys the rules but is probably not what the author intended.
    Warning,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $name:literal $level:ident,)*) => {
        /// The rule that a finding reports.
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
    /// Two skills with the same label.
    UniqueSkill "unique-skill" Error,
    /// A link to a plane that does not exist.
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
    /// A placeholder where a value could leave its quotes.
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
    /// A link that is valid in the base format and that an agent ignores.
    WideLink "wide-link" Warning,
    /// A plane with attributes of a skill that is the identity because no plane is marked.
    ImpliedIdentity "implied-identity" Warning,
    /// A code fence that is never closed and contains directives.
    UnclosedFence "unclosed-fence" Warning,
    /// A version of the format that is not known.
    Version "version" Warning,
    /// A front matter key without a meaning.
    UnknownKey "unknown-key" Warning,
    /// A plane attribute without a meaning.
    UnknownAttribute "unknown-attribute" Warning,
    /// A line that is nearly a directive.
    NearDirective "near-directive" Warning,
    /// A label that the registry cannot make an id of.
    LabelId "label-id" Warning,
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// One finding of the validator.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The position of the plane it concerns.
    pub z: Option<f64>,
    /// What is wrong.
    pub message: String,
    /// Where it is.
    pub at: Span,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FindingJson<'a> {
            rule: Rule,
            level: Level,
            z: Option<Number>,
            message: &'a str,
            line: usize,
            column: usize,
        }
        let json = FindingJson {
            rule: self.rule,
            level: self.rule.level(),
            z: self.z.map(Number),
            message: &self.message,
            line: self.at.line,
            column: self.at.column,
        };
        json.serialize(to)
    }
}

/// All findings of the validator: errors first, then warnings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ValidationReport {
    /// The findings in order.
    pub findings: Vec<Finding>,
}

impl ValidationReport {
    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.at_level(Level::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.at_level(Level::Warning)
    }

    fn at_level(&self, level: Level) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(move |finding| finding.rule.level() == level)
    }

    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The report as `agent3md validate` prints it, without a final line end.
    pub fn text(&self, file: &str) -> String {
        let mut text = format!("agent3md validate: {file}");
        for finding in &self.findings {
            let (rule, message) = (finding.rule.name(), &finding.message);
            let mark = match finding.rule.level() {
                Level::Error => '✗',
                Level::Warning => '⚠',
            };
            let z = finding.z.map(|z| format!(" z={}", js_number(z)));
            let z = z.unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {mark} [{rule}]{z}  {message}");
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
