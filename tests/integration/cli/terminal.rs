//! Output to a terminal, which `script` provides.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use skills_test_support::process::skills_path;

use super::transcript::{CommandOutput, Transcript};

/// Runs a line on a terminal of this width.
fn on_a_terminal(transcript: &Transcript, columns: usize, line: &str) -> CommandOutput {
    let binary = skills_path();
    let line = line.replacen("skills", &format!("'{binary}'"), 1);
    let line = format!("stty cols {columns} rows 24; exec {line}");
    let command = transcript
        .command("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh");
    transcript.finish(command)
}

#[test]
fn markdown_is_rendered_on_a_terminal_only() {
    let s = Transcript::new();
    let body = "# Title\n\nUse `code` and [links](iii://b).\n";
    s.run_with("skills register a -", body);
    let shown = on_a_terminal(&s, 80, "skills read a --quiet").stdout;
    assert_eq!(
        shown,
        "\x1b[1m\x1b[4mTitle\x1b[0m\n\nUse \x1b[36mcode\x1b[0m and \x1b[4mlinks\x1b[0m \x1b[2m(iii://b)\x1b[0m.\n"
    );
    assert_eq!(
        on_a_terminal(&s, 80, "skills read a --raw --quiet").stdout,
        body
    );
    assert_eq!(s.run("skills read a").stdout, body, "raw in a pipe");
    let plain = on_a_terminal(&s, 80, "skills read a --quiet | cat").stdout;
    assert_eq!(plain, body, "raw in a pipe on a terminal");
}

#[test]
fn text_is_wrapped_to_the_terminal() {
    let s = Transcript::new();
    s.run_with("skills register a -", "- one two three 漢字漢字 four\n");
    let shown = |columns| on_a_terminal(&s, columns, "skills read a --quiet").stdout;
    assert_eq!(shown(80), "• one two three 漢字漢字 four\n");
    assert_eq!(shown(20), "• one two three 漢字\n  漢字 four\n");
}

#[test]
fn labels_have_colours_on_a_terminal_only() {
    let s = Transcript::new();
    s.run_with("skills register resend -", "x");
    let shown = on_a_terminal(&s, 80, "skills read resent --data-dir data").stdout;
    assert!(
        shown.contains("\x1b[31m\x1b[1merror:\x1b[0m skill not found"),
        "{shown:?}"
    );
    assert!(shown.contains("\x1b[32m\x1b[1mhint:\x1b[0m "), "{shown:?}");
    let shown = on_a_terminal(&s, 80, "skills list --data-dir none").stdout;
    assert!(
        shown.contains("\x1b[36m\x1b[1mnote:\x1b[0m no skills yet"),
        "{shown:?}"
    );
    s.file("config.yaml", "skils: []\nskills: []\n");
    let shown = on_a_terminal(&s, 80, "skills list --data-dir data").stdout;
    assert!(
        shown.contains("\x1b[33m\x1b[1mwarning:\x1b[0m "),
        "{shown:?}"
    );
    let plain = on_a_terminal(&s, 80, "skills list --data-dir none 2>&1 | cat").stdout;
    assert!(
        plain.contains("\nnote: no skills yet") || plain.starts_with("warning: "),
        "{plain:?}"
    );
    assert!(!plain.contains('\x1b'), "{plain:?}");
}

#[test]
fn a_binary_file_is_not_printed_on_a_terminal() {
    let s = Transcript::new();
    s.file("config.yaml", "skills: ['*/SKILL.md']\n")
        .file("pdf/SKILL.md", "# PDF\n")
        .file("pdf/logo.png", [0x89, b'P', 0xff, 0x1b]);
    let shown = on_a_terminal(&s, 80, "skills read pdf/logo.png");
    assert_eq!(shown.code, 2, "{}", shown.stdout);
    let message = "skill://pdf/logo.png is not text: 4 B of image/png";
    assert!(shown.stdout.contains(message), "{}", shown.stdout);
    let piped = on_a_terminal(&s, 80, "skills read pdf/logo.png --quiet | wc -c");
    assert_eq!(piped.stdout.trim(), "4");
}

/// The text of a document must not control the terminal.
#[test]
fn control_characters_of_a_document_are_escaped_on_a_terminal() {
    let s = Transcript::new();
    let body = "Clear \u{1b}[2J it.";
    let plane = "kind=identity\nx\n@plane z=1 label=a triggers=a";
    s.file(
        "a.3md",
        format!("---\n3md: 1\nagent: a\n---\n@plane z=0 {plane}\n{body}\n"),
    );
    for verb in ["get", "resolve"] {
        let shown = on_a_terminal(&s, 80, &format!("skills agent {verb} a.3md a")).stdout;
        assert!(shown.contains("Clear \\u{1b}[2J it."), "{verb}: {shown:?}");
        let raw = s.run(&format!("skills agent {verb} a.3md a")).stdout;
        assert!(raw.contains(body), "{verb}, in a pipe: {raw:?}");
    }
}

/// Every verb that prints text of documents and workers, in text and as JSON.
#[test]
fn no_verb_prints_characters_that_control_the_terminal() {
    const CHARACTERS: [char; 6] = [
        '\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200f}',
    ];
    let s = Transcript::new();
    let hostile = format!("a{}b", String::from_iter(CHARACTERS));
    s.file(
        "a.3md",
        format!(
            "---\n3md: 1\nagent: {hostile}\n---\n@plane z=0 kind=identity\n{hostile}\n\
             @plane z=1 label=a triggers={hostile} tool=\"echo {hostile} {{x}}\" inputs=x\n{hostile}\n"
        ),
    );
    s.run_with("skills register a -", format!("# {hostile}\n\n{hostile}\n"));
    let prompt = serde_json::json!({
        "name": "p", "description": hostile, "function_id": "w::p",
        "arguments": [{ "name": hostile, "description": hostile }],
    });
    s.run_with("skills call prompts::register -", prompt.to_string());
    for verb in [
        "read a",
        "index",
        "fetch a",
        "list",
        "prompts list",
        "call skills::list",
        "call prompts::mcp-list",
        "agent manifest a.3md",
        "agent skills a.3md",
        "agent get a.3md a",
        "agent resolve a.3md a",
        "agent route a.3md a b",
        "agent command a.3md a --set x=1",
        "agent command a.3md a --set x=1 --argv",
        "agent export a.3md --manifest",
        "agent validate a.3md",
        "agent get a.3md other",
    ] {
        for options in ["", " --json"] {
            let line = format!("env NO_COLOR=1 skills {verb}{options} --quiet");
            let shown = on_a_terminal(&s, 200, &line).stdout;
            let found = shown.chars().find(|c| CHARACTERS.contains(c));
            assert_eq!(found, None, "{line}: {shown:?}");
        }
    }
}

#[test]
fn no_color_and_dumb_terminals_get_plain_text() {
    let s = Transcript::new();
    s.run_with("skills register a -", "# Title\n");
    for setting in ["NO_COLOR=1", "TERM=dumb"] {
        let line = format!("env {setting} skills");
        let binary = skills_path();
        let line = format!("{} read a --quiet", line.replace("skills", &binary));
        let command =
            s.command("script")
                .args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        assert_eq!(s.finish(command).stdout, "# Title\n", "{setting}");
    }
}

#[test]
fn a_narrow_terminal_gets_fewer_columns_and_complete_ids() {
    let s = Transcript::new();
    s.run_with("skills register resend/email -", "# Email\n");
    let shown = |columns| on_a_terminal(&s, columns, "skills list --flat --quiet").stdout;
    assert_eq!(shown(80), "resend/email  8 B     now  state  Email\n");
    assert_eq!(shown(32), "resend/email  8 B     now  state\n");
    assert_eq!(shown(30), "resend/email  8 B     now\n");
    assert_eq!(shown(20), "resend/email  8 B\n");
    assert_eq!(shown(10), "resend/email\n");
}

#[test]
fn a_spinner_shows_what_is_awaited() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let s = Transcript::new();
    let output = on_a_terminal(&s, 80, &format!("skills list --timeout 2s --url {url}"));
    assert_eq!(output.code, 5, "{}", output.stdout);
    assert!(
        output.stdout.contains(&format!("looking for {url}")),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stdout
            .contains("did not answer as an engine within 2s"),
        "{}",
        output.stdout
    );
}

#[test]
fn an_import_shows_a_progress_bar() {
    let s = Transcript::new();
    for n in 0..300 {
        s.file(&format!("docs/s{n}.md"), format!("# {n}\n"));
    }
    let output = on_a_terminal(&s, 80, "skills import docs");
    assert!(output.stdout.contains("importing"), "{}", output.stdout);
    assert!(
        output.stdout.contains("300 imported, 0 unchanged"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("300 files\n"), "{}", output.stdout);
    assert!(!output.stdout.contains("s7.md"), "{}", output.stdout);
    let output = on_a_terminal(&s, 80, "skills import docs --quiet");
    assert_eq!(output.stdout, "", "quiet: nothing changed");
}

/// The README's first screen, replayed with free ports.
#[test]
fn a_server_on_a_terminal_prints_what_the_readme_shows() {
    let readme = include_str!("../../../README.md");
    let block = readme.split("$ skills serve ").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    let (folder, expected) = block.split_once('\n').unwrap();
    let s = Transcript::new();
    let line = format!(
        "exec '{}' serve {folder} --url ws://127.0.0.1:0 --http 127.0.0.1:0",
        skills_path()
    );
    let mut server = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SKILLS_DATA_DIR", s.path("data"))
        .env("SHELL", "/bin/sh")
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    while !shown.contains("Ctrl-C\r\n") && output.read_line(&mut shown).unwrap() > 0 {}
    let mut keyboard = server.stdin.take().unwrap();
    keyboard.write_all(b"\x03").unwrap();
    assert!(server.wait().unwrap().success(), "{shown}");
    let comparable = |text: &str| {
        let text = s.normalise(text);
        let text = text.replace("[dir]/data", "~/.local/share/skills");
        text.lines()
            .map(without_port)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        comparable(&shown).trim_end(),
        comparable(expected).trim_end()
    );
    assert!(expected.contains("claude mcp add --transport http skills http://127.0.0.1:"));
}

/// The line without the digits behind `127.0.0.1:`.
fn without_port(line: &str) -> String {
    let mut parts = line.split("127.0.0.1:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("127.0.0.1:PORT");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}
