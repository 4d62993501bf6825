//! Invalid arguments, addresses and bodies: each error names the mistake.

use skills_test_support::process::skills_path;

use super::transcript::Transcript;

#[test]
fn invalid_arguments() {
    let mut s = Transcript::new();
    s.step("skills lst")
        .step("skills lst --json")
        .step("skills read --json")
        .step("skills list --flt")
        .step("skills read")
        .step("skills list --origin disk")
        .step("skills list --timeout soon")
        .step("skills list --url http://127.0.0.1:1")
        .step("skills completions tcsh")
        .step("skills man lst");
    s.matches("mistakes");
}

#[test]
fn every_command_takes_the_engine_from_the_environment() {
    let s = Transcript::new();
    for line in ["", "serve --http 127.0.0.1:0", "list", "mcp", "doctor"] {
        let words = line.split_whitespace();
        let command = s.command(skills_path()).args(words);
        let output = s.finish(command.env("SKILLS_URL", "http://from-environment"));
        let text = output.stdout + &output.stderr;
        assert!(text.contains("http://from-environment"), "{line}: {text}");
        assert_ne!(output.code, 0, "{line}: {text}");
    }
}

/// A value that cannot be used is named in the message: the command has read the variable.
#[test]
fn every_command_takes_its_settings_from_the_environment() {
    let s = Transcript::new();
    s.file("file", "not a directory").file("x.md", "# X\n");
    let file = s.path("file").display().to_string();
    let serve = "serve --url ws://127.0.0.1:0 --http 127.0.0.1:0";
    let on_a_directory = [
        "list",
        "read x",
        "register x x.md",
        "export out",
        "backup b",
        "mcp",
    ];
    let every = [&on_a_directory[..], &["", serve, "doctor"]].concat();
    // Each: the variable, its value, what the message has, and the commands.
    let cases: [(&str, &str, &str, &[&str]); 4] = [
        (
            "III_URL",
            "http://from-iii",
            "http://from-iii",
            &["", "list", "mcp", "doctor"],
        ),
        (
            "SKILLS_CONFIG",
            "from-environment.yaml",
            "from-environment.yaml",
            &on_a_directory,
        ),
        (
            "SKILLS_TOKEN",
            "\u{e9}",
            "--token or SKILLS_TOKEN cannot be used",
            &every,
        ),
        (
            "SKILLS_DATA_DIR",
            &file,
            "[dir]/file",
            &["list", "doctor", serve, "mcp"],
        ),
    ];
    for (variable, value, message, commands) in cases {
        for line in commands {
            let command = s.command(skills_path()).args(line.split_whitespace());
            let command = match variable {
                // Empty is as if it were not set.
                "III_URL" => command.env("SKILLS_URL", ""),
                _ => command,
            };
            let output = s.finish(command.env(variable, value));
            let text = output.stdout + &output.stderr;
            assert!(text.contains(message), "{variable}, {line}: {text}");
            assert_ne!(output.code, 0, "{variable}, {line}: {text}");
        }
    }
}

#[test]
fn invalid_addresses() {
    let mut s = Transcript::new();
    s.run_with("skills register resend/email -", "# Email\n");
    s.step("skills read resend/emial")
        .step("skills read resend/emial --json")
        .step("skills read email")
        .step("skills read Resend")
        .step("skills read ''")
        .step("skills read iii://fn/state/get")
        .step("skills read iii://fn/no/body")
        .step("skills read iii://x/worker::fn")
        .step("skills fetch resend/email nothing nowhere")
        .step("skills unregister fn/x");
    s.matches("invalid_addresses");
}

#[test]
fn invalid_bodies() {
    let mut s = Transcript::new();
    s.file("binary.md", [0xff, 0xfe, 0x00, 0x41])
        .file("nul.md", "a\0b")
        .file("empty.md", " \n")
        .file("large.md", "x".repeat(262_145))
        .file("edge.md", "x".repeat(262_144))
        .file("docs/a.md", "# A\n");
    s.step("skills register a none.md")
        .step("skills register a docs")
        .step("skills register a binary.md")
        .step("skills register a nul.md")
        .step("skills register a empty.md")
        .step("skills register a large.md")
        .step("skills register a edge.md")
        .step_with("skills register a -", "")
        .step("skills register A edge.md")
        .step("skills register skills edge.md");
    s.matches("invalid_bodies");
}

/// `<&-` closes stdin before the program starts.
#[cfg(unix)]
#[test]
fn a_closed_stdin_is_empty() {
    let mut s = Transcript::new();
    let line = "skills register a - <&-";
    let output = shell(&s, line);
    s.note(line, &output);
    s.matches("closed_stdin");
}

/// Runs a line in a shell whose `PATH` has the binary.
#[cfg(unix)]
pub fn shell(transcript: &Transcript, line: &str) -> super::transcript::CommandOutput {
    let binary = std::path::PathBuf::from(skills_path());
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let command = transcript
        .command("sh")
        .args(["-c", line])
        .env("PATH", path);
    transcript.finish(command)
}

#[test]
fn a_server_for_other_machines_needs_a_token() {
    let s = Transcript::new();
    for line in [
        "skills serve --http 0.0.0.0:0 --url ws://127.0.0.1:0",
        "skills serve --http 127.0.0.1:0 --url ws://0.0.0.0:0",
    ] {
        let output = s.run(line);
        assert_eq!(output.code, 2, "{line}: {}", output.stderr);
        assert!(
            output
                .stderr
                .contains("can be reached from other machines, and no token is set")
                && output.stderr.contains("hint: set a token with --token"),
            "{line}: {}",
            output.stderr
        );
    }
}

#[test]
fn options_may_stand_before_the_verb() {
    let s = Transcript::new();
    s.run_with("skills register a -", "# A\n");
    let after = s.run("skills list --flat --json");
    let before = s.run("skills --json --flat list");
    assert_eq!((before.code, before.stdout), (0, after.stdout));
}
