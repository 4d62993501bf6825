//! Filling commands: what is replaced, what is an error, and how a real shell reads the line.

use agent3md::limits::MAX_COMMAND_BYTES;
use agent3md::{Agent, CommandError, Template, Values};

fn values(pairs: &[(&str, &str)]) -> Values {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Fills `a` and `b`, and checks the shell line.
#[track_caller]
fn line(tool: &str, expected: &str) {
    let values = values(&[("a", "it's $HOME"), ("b", "{a}")]);
    let got = Template::parse(tool)
        .line(&values)
        .unwrap_or_else(|error| error.to_string());
    assert_eq!(got, expected, "for {tool:?}");
}

#[test]
fn a_value_is_put_in_single_quotes() {
    line("echo", "echo");
    line("echo {a}", r"echo 'it'\''s $HOME'");
    line("echo {b}{b}", "echo '{a}''{a}'");
    line("echo --x={b}", "echo --x='{a}'");
    line("echo {c} {b}", "echo {c} '{a}'");
    line("echo {x{b}}", "echo {x'{a}'}");
    line(
        "echo {} {1a} {a-b} { a} {a b} {é} {a",
        "echo {} {1a} {a-b} { a} {a b} {é} {a",
    );
    line("echo {{b}}", "echo {'{a}'}");
    line(
        "cat <{b} | wc 'x' \"y\" && ls {b}",
        "cat <'{a}' | wc 'x' \"y\" && ls '{a}'",
    );
    line(
        r"echo \\{b} a#{b} $(ls {b})",
        r"echo \\'{a}' a#'{a}' $(ls '{a}')",
    );
}

#[test]
fn a_placeholder_where_a_value_is_not_safe_is_an_error() {
    line("echo '{a}'", "the placeholder {a} stands inside quotes");
    line("echo \"x {a}\"", "the placeholder {a} stands inside quotes");
    line(
        "echo \"x\\\" {a}\"",
        "the placeholder {a} stands inside quotes",
    );
    line(
        "echo 'x\\' {b} '{a}'",
        "the placeholder {a} stands inside quotes",
    );
    line(
        "echo '{missing}'",
        "the placeholder {missing} stands inside quotes",
    );
    line(r"echo \{a}", "the placeholder {a} stands after a backslash");
    line(
        "echo `ls {a}`",
        "the placeholder {a} stands inside backquotes",
    );
    line(
        "echo ${a}",
        "the placeholder {a} stands in a shell expansion",
    );
    line(
        r"echo $'\' {a} ''",
        "the placeholder {a} stands in a shell expansion",
    );
    line(
        "echo \"$(echo \"{a}\")\"",
        "the placeholder {a} stands in a shell expansion",
    );
    line(
        "echo $((1 + {a}))",
        "the placeholder {a} stands in a shell expansion",
    );
    line(
        "cat <<E\n{a}\nE",
        "the placeholder {a} stands after a here-document",
    );
    line("ls # {a}", "the placeholder {a} stands in a comment");
}

#[test]
fn a_nul_character_is_an_error() {
    let error = Template::parse("x {a}")
        .line(&values(&[("a", "\0")]))
        .unwrap_err();
    assert_eq!(error.to_string(), "the value of a contains a NUL character");
    assert!(!error.hint().is_empty());
}

/// A short text names a long value many times: only what fits is built.
#[test]
fn a_command_that_is_too_large_with_its_values_is_an_error() {
    const BYTES: usize = 1 << 16;
    let tool = "{a}".repeat(MAX_COMMAND_BYTES / BYTES);
    let template = Template::parse(&tool);
    // With the quotes around it, and with each of its own as `'\\''`, a value of the line is full.
    for (value, unquoted) in [
        ("v".repeat(BYTES - 2), BYTES - 2),
        ("'".repeat(BYTES / 4 - 1) + "vv", BYTES / 4 + 1),
    ] {
        let filled = values(&[("a", &value)]);
        let line = template.line(&filled).unwrap();
        assert_eq!(line.len(), MAX_COMMAND_BYTES);
        let argv = template.argv(&filled).unwrap();
        assert_eq!(argv[0].len(), unquoted * template.placeholders().len());
        for more in ["x", "{a}", "{b}"] {
            let error = Template::parse(&(tool.clone() + more)).line(&filled);
            assert_eq!(error, Err(CommandError::TooLarge), "for {more:?}");
        }
    }
    let filled = values(&[("a", &"v".repeat(BYTES))]);
    assert_eq!(template.argv(&filled).unwrap()[0].len(), MAX_COMMAND_BYTES);
    for more in ["x", " ", "{a}", "{b}"] {
        let error = Template::parse(&(tool.clone() + more)).argv(&filled);
        assert_eq!(error, Err(CommandError::TooLarge), "for {more:?}");
    }
    let error = Template::parse(&"{a} ".repeat(200_000))
        .line(&filled)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the command is too large with these values: more than 8388608 bytes"
    );
    assert_eq!(error.hint(), "pass shorter values");
}

#[track_caller]
fn argv(tool: &str, expected: Result<&[&str], &str>) {
    let values = values(&[("a", "it's; $HOME *"), ("e", "")]);
    let got = Template::parse(tool)
        .argv(&values)
        .map_err(|error| error.to_string());
    let expected = expected.map(|words| words.iter().map(ToString::to_string).collect());
    assert_eq!(got, expected.map_err(str::to_owned), "for {tool:?}");
}

#[test]
fn arguments_need_no_shell() {
    argv("rg -n {a}", Ok(&["rg", "-n", "it's; $HOME *"]));
    argv(
        "rg --x={a}y {e} {e}{a}",
        Ok(&["rg", "--x=it's; $HOME *y", "", "it's; $HOME *"]),
    );
    argv(
        "  a\t'b c' \"d \\\" \\x\" e\\ f ''",
        Ok(&["a", "b c", "d \" \\x", "e f", ""]),
    );
    argv("rg {missing}", Ok(&["rg", "{missing}"]));
    argv("git show HEAD~1 a#b", Ok(&["git", "show", "HEAD~1", "a#b"]));
    argv("", Ok(&[]));
}

#[test]
fn features_of_the_shell_are_an_error_in_the_argument_form() {
    argv(
        "cat {a} | wc",
        Err("the command needs a shell: it uses \"|\""),
    );
    argv(
        "echo \"$HOME\"",
        Err("the command needs a shell: it uses \"$\""),
    );
    argv("ls *.rs", Err("the command needs a shell: it uses \"*\""));
    argv("ls ~", Err("the command needs a shell: it uses \"~\""));
    argv("ls # x", Err("the command needs a shell: it uses \"#\""));
    argv("echo 'x", Err("a quote in the command is never closed"));
    argv(
        "echo '{a}'",
        Err("the placeholder {a} stands inside quotes"),
    );
}

#[test]
fn a_skill_without_a_tool_has_no_command() {
    let source = "---\n3md: 1\n---\n@plane z=0\n@plane z=1 label=a\n@plane z=2 label=b tool=\"rg {p} {q} {p}\"";
    let agent = Agent::parse(source).unwrap();
    let values = values(&[("q", "x")]);
    assert!(agent.get("a").unwrap().command(&values).is_none());
    assert!(agent.get("a").unwrap().argv(&values).is_none());
    let b = agent.get("b").unwrap();
    assert_eq!(b.command(&values).unwrap().unwrap(), "rg {p} 'x' {p}");
    assert_eq!(b.argv(&values).unwrap().unwrap(), ["rg", "{p}", "x", "{p}"]);
    assert_eq!(
        Template::parse(b.tool.as_deref().unwrap()).missing(&values),
        ["p"]
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "only a shell can say what a shell reads"
)]
fn a_real_shell_splits_the_line_into_the_same_arguments() {
    let nasty = [
        "x",
        "",
        "it's",
        "'; echo no; '",
        "$(echo no)",
        "`echo no`",
        "a\nb",
        "\\",
        "-n",
        "*",
        "\"",
        "é {b}",
        "# no",
        "'\\''",
    ];
    let tools = [
        "printf '%s|' {a}",
        "printf '%s|' x{a}y {b}",
        "printf '%s|' \"q q\" {a}{b}",
        "printf '%s|' \\\\{a} 'it' --x={b}",
    ];
    for (a, b) in nasty.iter().zip(nasty.iter().rev()) {
        let values = values(&[("a", a), ("b", b)]);
        for tool in tools {
            let template = Template::parse(tool);
            let (line, argv) = (
                template.line(&values).unwrap(),
                template.argv(&values).unwrap(),
            );
            let shell = std::process::Command::new("sh")
                .arg("-c")
                .arg(&line)
                .output()
                .unwrap();
            let expected = argv[2..].join("|") + "|";
            assert_eq!(
                String::from_utf8_lossy(&shell.stdout),
                expected,
                "for {line:?}"
            );
        }
    }
}
