//! Prompts that are text with arguments: what they declare, which values fit, and where the
//! values go.
//!
//! The text names a value as `{{name}}`, as `$1` by its position, or all values as `$ARGUMENTS`,
//! in the order of the declaration with a blank between them. A backslash keeps a `$`: `\$1`.
//! Values are inserted as they are and are not searched again. The text of a prompt that declares
//! no arguments is used unchanged.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::escape::quote;
use crate::limits::MAX_ARGUMENT_NAME_BYTES;
use crate::nearest::nearest;
use crate::prompt::check_given;
use crate::{Error, PromptArgument, PromptName, SourcePrompt};

/// Stands for all values.
const ALL: &str = "ARGUMENTS";

/// One declared argument of a prompt that is text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateArgument {
    /// Its name and description, and whether a caller must give it.
    pub argument: PromptArgument,
    /// Its value if none is given.
    pub default: Option<Box<str>>,
    /// The only values that it can have; empty if it can have any.
    pub choices: Box<[Box<str>]>,
}

impl TemplateArgument {
    /// How a menu shows it: the description ends with the possible values and the default.
    pub fn to_menu(&self) -> PromptArgument {
        let choices = self.choices.iter().map(|choice| quote(choice));
        let choices = choices.collect::<Vec<_>>().join(", ");
        let choices = (!choices.is_empty()).then(|| format!("one of {choices}"));
        let default = self.default.as_deref();
        let default = default.map(|value| format!("default {}", quote(value)));
        let facts: Vec<_> = choices.into_iter().chain(default).collect();
        let mut shown = self.argument.clone();
        if !facts.is_empty() {
            let facts = facts.join("; ");
            let description = shown.description.as_deref().unwrap_or_default().trim();
            let text = match description {
                "" => facts,
                _ => format!("{description} ({facts})"),
            };
            shown.description = Some(text.into());
        }
        shown
    }

    /// The value to use, if there is one. An empty value of an argument that is not required
    /// counts as none: forms send one for a field that was left empty.
    fn value<'a>(&'a self, given: &'a Map<String, Value>) -> Option<&'a str> {
        let value = given.get(&*self.argument.name).and_then(Value::as_str);
        let value = value.filter(|value| self.argument.required || !value.is_empty());
        value.or(self.default.as_deref())
    }

    fn check_choice(&self, prompt: &PromptName, value: &str) -> Result<(), Error> {
        let mut choices = self.choices.iter().map(|choice| &**choice);
        if self.choices.is_empty() || choices.any(|choice| choice == value) {
            return Ok(());
        }
        let choices = || self.choices.iter().map(|choice| &**choice);
        let hint = match nearest(value, choices()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", choices().collect::<Vec<_>>().join(", ")),
        };
        let what = format!("argument `{}` of prompt `{prompt}`", self.argument.name);
        let problem = format!("cannot be {}", quote(value));
        Err(Error::invalid_hint(what, problem, hint))
    }
}

impl SourcePrompt {
    /// The text with the given values in place, once they fit what is declared.
    pub fn render(&self, text: Arc<str>, given: &Map<String, Value>) -> Result<Arc<str>, Error> {
        if self.arguments.is_empty() {
            return Ok(text);
        }
        let declared: Vec<_> = self.arguments.iter().map(|a| a.argument.clone()).collect();
        check_given(&self.name, &declared, given)?;
        let mut values = Vec::with_capacity(self.arguments.len());
        for argument in &*self.arguments {
            let value = argument.value(given);
            if let Some(value) = value {
                argument.check_choice(&self.name, value)?;
            }
            values.push(value);
        }
        let name = |name: &str| declared.iter().position(|argument| &*argument.name == name);
        Ok(fill(&text, name, &values).into())
    }
}

/// The names in `{{...}}` that are not declared, each once, in order; they stay as they are. What
/// is longer than the name of any argument is not one.
pub fn undeclared_names<'a>(text: &'a str, declared: &[TemplateArgument]) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        rest = &rest[at + 2..];
        if let Some((name, _)) = braced_name(rest)
            && name.len() <= MAX_ARGUMENT_NAME_BYTES
            && !declared.iter().any(|known| &*known.argument.name == name)
            && seen.insert(name)
        {
            names.push(name);
        }
    }
    names
}

/// Replaces every mark in one pass. `position` finds a declared name.
fn fill(text: &str, position: impl Fn(&str) -> Option<usize>, values: &[Option<&str>]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '$', '\\']) {
        let (before, mark) = rest.split_at(at);
        filled.push_str(before);
        let escaped = mark.strip_prefix('\\').and_then(|mark| {
            let (_, length) = dollar_values(mark, values)?;
            Some(&mark[..length])
        });
        if let Some(kept) = escaped {
            filled.push_str(kept);
            rest = &mark[1 + kept.len()..];
        } else if let Some((value, length)) = dollar_values(mark, values) {
            filled.push_str(&value);
            rest = &mark[length..];
        } else if let Some((name, length)) = mark.strip_prefix("{{").and_then(braced_name)
            && let Some(at) = position(name)
        {
            filled.push_str(values[at].unwrap_or_default());
            rest = &mark[2 + length..];
        } else {
            // One character of ASCII.
            filled.push_str(&mark[..1]);
            rest = &mark[1..];
        }
    }
    filled.push_str(rest);
    filled
}

/// The value of `$1` or `$ARGUMENTS` at the start of a text, and the length of the mark.
fn dollar_values(text: &str, values: &[Option<&str>]) -> Option<(String, usize)> {
    let name = text.strip_prefix('$')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
    let length = 1 + word.len();
    if word == ALL {
        let given: Vec<_> = values.iter().copied().flatten().collect();
        return Some((given.join(" "), length));
    }
    if word.starts_with('0') || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let position = word.parse::<usize>().ok()?.checked_sub(1)?;
    let value = values.get(position)?.unwrap_or_default();
    Some((value.to_owned(), length))
}

/// The name before `}}`, with blanks around it, and the length up to its end.
///
/// Reads forwards instead of searching for `}}`: neither blanks nor names have braces, so nothing
/// is read again for the next `{{`, and a text of `{{` alone takes linear time.
fn braced_name(text: &str) -> Option<(&str, usize)> {
    let name = text.trim_start();
    let length = name.find(|c| !is_name_char(c)).unwrap_or(name.len());
    let (name, after) = name.split_at(length);
    let rest = after.trim_start().strip_prefix("}}")?;
    (!name.is_empty()).then_some((name, text.len() - rest.len()))
}

/// Whether a text can be the name of an argument in a template.
pub fn is_argument_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Origin;

    fn argument(name: &str) -> TemplateArgument {
        TemplateArgument {
            argument: PromptArgument {
                name: name.into(),
                description: None,
                required: false,
            },
            default: None,
            choices: Box::default(),
        }
    }

    /// `to` is required, `tone` is `short` or `formal`, and by default `short`.
    fn declared() -> Vec<TemplateArgument> {
        let mut arguments = vec![argument("to"), argument("cc"), argument("tone")];
        arguments[0].argument.required = true;
        arguments[2].default = Some("short".into());
        arguments[2].choices = ["short".into(), "formal".into()].into();
        arguments
    }

    fn prompt() -> SourcePrompt {
        SourcePrompt {
            name: "mail".parse().unwrap(),
            description: "d".into(),
            arguments: declared().into(),
            registered_at: "".into(),
            origin: Origin::Fs,
        }
    }

    #[track_caller]
    fn check(text: &str, given: Value, expected: &str) {
        let Value::Object(map) = given else {
            panic!("not an object");
        };
        let got = prompt().render(text.into(), &map);
        let got = got.map_or_else(|error| error.to_text(), |text| text.to_string());
        assert_eq!(got, expected, "for {text:?}");
    }

    #[test]
    fn values_go_where_the_text_names_them() {
        let to = || json!({ "to": "Ada" });
        check("Dear {{to}}, {{ to }}", to(), "Dear Ada, Ada");
        check("$1 $2|$3", to(), "Ada |short");
        check("[$ARGUMENTS]", to(), "[Ada short]");
        check(
            "[$ARGUMENTS]",
            json!({ "tone": "formal", "cc": "Bob", "to": "Ada" }),
            "[Ada Bob formal]",
        );
        check("{{cc}}{{tone}}", to(), "short");
        check("{{tone}}", json!({ "to": "", "tone": "" }), "short");
    }

    #[test]
    fn other_text_stays() {
        let to = || json!({ "to": "Ada" });
        for text in [
            "$0 $4 $01 $10 $1st $ARGUMENTSX $ {{}} {{nobody}} {{to",
            "{to} {{a b}} ${HOME} \\n \\ $",
            "日本 {日} $日",
        ] {
            check(text, to(), text);
        }
        check(
            r"\$1 \$ARGUMENTS \$HOME \\",
            to(),
            r"$1 $ARGUMENTS \$HOME \\",
        );
        check("{{{to}}}", to(), "{Ada}");
    }

    #[test]
    fn values_are_not_searched_again() {
        check(
            "{{to}} $1 $2",
            json!({ "to": "{{cc}} $2", "cc": "$1" }),
            "{{cc}} $2 {{cc}} $2 $1",
        );
    }

    #[test]
    fn values_are_checked_first() {
        check(
            "x",
            json!({}),
            "prompt `mail` is missing required argument `to`",
        );
        check(
            "x",
            json!({ "to": "a", "ton": "b" }),
            "prompt `mail` has no argument `ton` (did you mean `to`?)",
        );
        check(
            "x",
            json!({ "to": "a", "tone": "formall" }),
            "argument `tone` of prompt `mail` cannot be `formall` (did you mean `formal`?)",
        );
        check(
            "x",
            json!({ "to": "a", "tone": "loud" }),
            "argument `tone` of prompt `mail` cannot be `loud` (use one of short, formal)",
        );
        check(
            "x",
            json!({ "to": 5 }),
            "argument `to` of prompt `mail` must be a string, not a number",
        );
    }

    #[test]
    fn a_menu_shows_choices_and_default() {
        let mut tone = declared().remove(2);
        let shown = |argument: &TemplateArgument| argument.to_menu().description.unwrap();
        assert_eq!(&*shown(&tone), "one of `short`, `formal`; default `short`");
        tone.argument.description = Some("How it sounds.".into());
        tone.choices = Box::default();
        assert_eq!(&*shown(&tone), "How it sounds. (default `short`)");
        assert_eq!(argument("a").to_menu().description, None);
    }

    #[test]
    fn undeclared_names_are_found_once() {
        let text = "{{to}} {{too}} {{ too }} {{a b}} {{{cc}}} {{x";
        assert_eq!(undeclared_names(text, &declared()), ["too"]);
        let longest = "n".repeat(MAX_ARGUMENT_NAME_BYTES);
        let text = format!("{{{{{longest}}}}} {{{{{longest}n}}}} {{{{b}}}} {{{{a}}}} {{{{b}}}}");
        assert_eq!(undeclared_names(&text, &[]), [&*longest, "b", "a"]);
    }

    #[test]
    fn a_name_is_what_is_before_the_first_closing_braces_without_blanks() {
        fn by_definition(text: &str) -> Option<(&str, usize)> {
            let end = text.find("}}")?;
            let name = text[..end].trim();
            is_argument_name(name).then_some((name, end + 2))
        }
        for number in 0..6_usize.pow(6) {
            let chars = (0..6)
                .map(|at| ['a', '-', '}', '{', ' ', '\u{3000}'][number / 6_usize.pow(at) % 6]);
            let text: String = chars.collect();
            assert_eq!(braced_name(&text), by_definition(&text), "for {text:?}");
        }
    }

    /// Each takes minutes if `}}` is searched for again at every `{{`.
    #[test]
    fn large_texts_of_braces_stay() {
        const BYTES: usize = 1 << 20;
        for text in [
            "{".repeat(BYTES),
            "{{ ".repeat(BYTES / 3) + "}}",
            "{{a".repeat(BYTES / 3) + "}}}",
            format!("{{{{{}", " ".repeat(BYTES)),
        ] {
            let mut given = Map::new();
            given.insert("to".into(), "Ada".into());
            assert_eq!(
                *prompt().render(text.as_str().into(), &given).unwrap(),
                *text
            );
        }
        let names: Vec<_> = (0..BYTES / 16).map(|number| format!("a{number}")).collect();
        let text = format!("{{{{{}}}}}", names.join("}}{{"));
        assert_eq!(undeclared_names(&text.repeat(2), &declared()), names);
    }
}
