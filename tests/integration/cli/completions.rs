//! Completions: scripts of shells, and the answers to their requests.

use std::net::TcpListener;

use skills_test_support::process::{Addresses, SkillsProcess, skills_path};

use super::transcript::{CommandOutput, Transcript};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

/// What the script of fish is answered for these words; the last one is completed.
fn answer(s: &Transcript, words: &[&str]) -> Vec<String> {
    let output = ask(s, words);
    assert_eq!((output.code, &*output.stderr), (0, ""), "for {words:?}");
    // Options are candidates for an empty word.
    let candidates = output.stdout.lines().filter(|line| !line.starts_with("--"));
    let value = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    candidates.map(value).collect()
}

fn ask(s: &Transcript, words: &[&str]) -> CommandOutput {
    let command = s.command(skills_path()).env("COMPLETE", "fish");
    s.finish(command.args(["--", "skills"]).args(words))
}

#[test]
fn the_script_of_every_shell_asks_the_program() {
    let s = Transcript::new();
    for shell in SHELLS {
        let script = s.run(&format!("skills completions {shell}")).stdout;
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
        assert!(script.contains("skills"), "{shell}: {script}");
        let command = s.command(skills_path()).env("COMPLETE", shell);
        assert_eq!(s.finish(command).stdout, script, "{shell}");
    }
}

#[test]
fn ids_and_names_come_from_the_registry() {
    let s = Transcript::new();
    s.file("config.yaml", "skills:\n  - docs/*.md\n")
        .file("docs/resume.md", "# Resume\n")
        .file(
            "team.3md",
            "---\n3md: 1.0\nagent: t\n---\n@plane z=0 kind=identity\nI.\n@plane z=1 label=search\nS.\n",
        );
    s.run_with("skills register resend/email -", "# Email\n");
    s.run_with("skills register brain -", "# Brain\n");
    s.run("skills prompts register greet --function w::greet --description Greets");
    assert_eq!(answer(&s, &["regis"]), ["register"]);
    assert_eq!(answer(&s, &["read", "res"]), ["resend/email", "resume"]);
    assert_eq!(answer(&s, &["ls", "b"]), ["brain"]);
    assert_eq!(
        answer(&s, &["rm", "brain", "r"]),
        ["resend/email", "resume"]
    );
    let addresses = ["iii://resend/email", "iii://resume"];
    assert_eq!(answer(&s, &["fetch", "iii://r"]), addresses);
    assert_eq!(answer(&s, &["prompts", "get", ""]), ["greet"]);
    assert_eq!(answer(&s, &["prompts", "unregister", "g"]), ["greet"]);
    assert_eq!(answer(&s, &["agent", "get", "team.3md", "s"]), ["search"]);
    assert_eq!(answer(&s, &["call", "skills::reg"]), ["skills::register"]);
    assert_eq!(answer(&s, &["read", "nothing"]), [""; 0]);
}

#[test]
fn a_request_creates_nothing_and_says_nothing_of_mistakes() {
    let s = Transcript::new();
    s.file("config.yaml", "skills: [\n");
    assert_eq!(answer(&s, &["read", ""]), [""; 0]);
    assert_eq!(answer(&s, &["read", "--config", "none.yaml", ""]), [""; 0]);
    assert_eq!(answer(&s, &["agent", "get", "none.3md", ""]), [""; 0]);
    assert_eq!(answer(&s, &["read", "--url", "nonsense", ""]), [""; 0]);
    assert!(!s.path("data").exists());
    // It accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", silent.local_addr().unwrap());
    assert_eq!(answer(&s, &["read", "--url", &url, ""]), [""; 0]);
    // Another meaning of the variable is none of ours.
    let command = s.command(skills_path()).env("COMPLETE", "yes").arg("list");
    assert_eq!(s.finish(command).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_of_the_command_line_is_asked() {
    let s = Transcript::new();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&s.path("served"), &[]).await;
    s.run_with(&format!("skills register there - --url {url}"), "# There\n");
    assert_eq!(answer(&s, &["read", "--url", &url, "t"]), ["there"]);
    let joined = format!("--url={url}");
    assert_eq!(answer(&s, &[&joined, "read", "t"]), ["there"]);
    assert!(!s.path("data").exists());
}

/// Bash runs the script and completes with it, at colons too.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes_with_the_script() {
    let s = Transcript::new();
    s.run_with("skills register resend/email -", "# Email\n");
    let script = s.run("skills completions bash").stdout;
    s.file("skills.bash", script);
    for (words, expected) in [
        ("skills unreg", "unregister\n"),
        ("skills read res", "resend/email\n"),
        // As bash splits `iii://res`, of which it replaces what follows the colon.
        ("skills read iii : //res", "//resend/email\n"),
        ("skills read --data-dir data res", "resend/email\n"),
    ] {
        let last = words.rsplit(' ').next().unwrap_or_default();
        let line = format!(
            "source ./skills.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _clap_complete_skills skills {last} x; echo \"${{COMPREPLY[*]}}\""
        );
        let output = s.finish(s.command("bash").args(["-c", &line]));
        assert_eq!(output.stdout, expected, "{words}: {}", output.stderr);
    }
}
