//! Arguments in the text of a prompt: where values go, which are refused, and hostile texts.

use serde_json::json;

use super::*;
use crate::{Kind, Origin};

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
        let chars =
            (0..6).map(|at| ['a', '-', '}', '{', ' ', '\u{3000}'][number / 6_usize.pow(at) % 6]);
        let text: String = chars.collect();
        assert_eq!(braced_name(&text), by_definition(&text), "for {text:?}");
    }
}

/// A short text names a long value many times: only what fits is built.
#[test]
fn a_prompt_that_is_too_large_with_its_arguments_is_refused() {
    const VALUE: usize = 1 << 16;
    let mut given = Map::new();
    given.insert("to".into(), "v".repeat(VALUE).into());
    given.insert("tone".into(), "short".into());
    let render = |text: &str| prompt().render(text.into(), &given);
    for mark in ["$1", "{{to}}", "{{ to }}"] {
        let full = mark.repeat(MAX_RENDERED_PROMPT_BYTES / VALUE);
        assert_eq!(render(&full).unwrap().len(), MAX_RENDERED_PROMPT_BYTES);
        for more in [" ", "{", "$3", r"\$1", mark] {
            let error = render(&(full.clone() + more)).unwrap_err();
            assert_eq!(error.kind(), Kind::Invalid, "for {more:?}");
            assert_eq!(
                error.to_text(),
                "prompt `mail` is too large with these arguments: more than 8388608 bytes \
                 (pass shorter arguments)"
            );
        }
    }
    for mark in ["$1 ", "$ARGUMENTS ", "{{to}}"] {
        render(&mark.repeat(20_000)).unwrap_err();
    }
    let escaped = r"\$ARGUMENTS ".repeat(20_000);
    assert_eq!(*render(&escaped).unwrap(), *escaped.replace('\\', ""));
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
