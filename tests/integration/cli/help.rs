//! Help and manual pages.

use skills_test_support::process::skills_path;

use super::transcript::Transcript;

/// Every command.
const VERBS: &[&str] = &[
    "list",
    "read",
    "fetch",
    "index",
    "search",
    "route",
    "eval",
    "stats",
    "register",
    "unregister",
    "history",
    "diff",
    "rollback",
    "log",
    "renew",
    "gc",
    "new",
    "import",
    "export",
    "backup",
    "restore",
    "prompts",
    "prompts list",
    "prompts get",
    "prompts register",
    "prompts unregister",
    "prompts history",
    "prompts rollback",
    "call",
    "watch",
    "completions",
    "man",
    "serve",
    "mcp",
    "agent",
    "agent manifest",
    "agent skills",
    "agent route",
    "agent get",
    "agent resolve",
    "agent command",
    "agent validate",
    "agent export",
    "agent new",
    "doctor",
    "lint",
];

#[test]
fn help_of_every_verb() {
    for verb in VERBS {
        let mut s = Transcript::new();
        s.step(&format!("skills {verb} --help"));
        s.matches(&format!("help_{}", verb.replace(' ', "_")));
    }
}

/// Lines fit the width, and no word is divided: the words are those of a wide terminal.
#[test]
fn help_is_wrapped_between_words() {
    let s = Transcript::new();
    let help = |verb: &str, columns: &str| {
        let words = verb.split_whitespace().chain(["--help"]);
        let command = s.command(skills_path()).args(words).env("COLUMNS", columns);
        s.finish(command).stdout
    };
    for verb in VERBS.iter().chain(&[""]) {
        let wide = help(verb, "100");
        for columns in ["80", "40"] {
            let narrow = help(verb, columns);
            let width: usize = columns.parse().unwrap();
            for line in narrow.lines() {
                let is_one_word = !line.trim().contains(' ');
                let fits = line.chars().count() <= width;
                assert!(fits || is_one_word, "skills {verb} in {columns}: {line:?}");
            }
            let words = |text: &'_ str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            assert_eq!(words(&narrow), words(&wide), "skills {verb} in {columns}");
        }
    }
}

#[test]
fn every_verb_has_an_example_and_a_manual_page() {
    let s = Transcript::new();
    for verb in VERBS {
        let help = s.run(&format!("skills {verb} --help"));
        assert!(help.stdout.contains("Examples:"), "{verb}");
        let page = s.run(&format!("skills man {verb}"));
        assert_eq!(page.code, 0, "{verb}: {}", page.stderr);
        let title = format!("skills {verb}").replace(' ', "-").to_uppercase();
        let heading = format!(".TH {title} 1 \"\" \"skills [version]\" \"Manual of skills\"\n");
        for part in [
            &heading,
            ".SH NAME",
            ".SH SYNOPSIS",
            ".SH OPTIONS",
            ".fi\n.SH \"EXIT STATUS\"",
            ".SH EXAMPLES\n.nf\n",
        ] {
            assert!(
                page.stdout.contains(part),
                "{verb} has no {part}:\n{}",
                page.stdout
            );
        }
    }
}

#[test]
fn the_main_page_lists_every_verb_and_exit_code() {
    let s = Transcript::new();
    let page = s.run("skills man").stdout;
    for verb in VERBS.iter().filter(|verb| !verb.contains(' ')) {
        assert!(
            page.contains(&format!("skills\\-{verb}(1)")),
            "{verb}:\n{page}"
        );
    }
    for (code, meaning) in skills::cli::EXIT_CODES {
        assert!(
            page.contains(&format!("\\fB{code}\\fR\n{meaning}\n")),
            "{code}:\n{page}"
        );
    }
    let help = s.run("skills --help").stdout;
    for verb in VERBS.iter().filter(|verb| !verb.contains(' ')) {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}:\n{help}");
    }
}

/// The rows of the README's table with this head.
fn readme_rows(head: &str) -> Vec<&'static str> {
    let readme = include_str!("../../../README.md");
    let table = readme.split(head).nth(1).expect("the README has the table");
    let rows = table.lines().skip(2);
    rows.take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_readme_lists_the_exit_codes() {
    let codes = skills::cli::EXIT_CODES.iter();
    let expected: Vec<_> = codes
        .map(|(code, meaning)| format!("| {code} | {meaning} |"))
        .collect();
    assert_eq!(readme_rows("| exit code | meaning |"), expected);
}

#[test]
fn the_readme_lists_the_environment() {
    let rows = readme_rows("| variable | meaning | option |");
    assert_eq!(rows.len(), skills::cli::ENVIRONMENT.len());
    for (row, (name, meaning)) in rows.iter().zip(skills::cli::ENVIRONMENT) {
        let start = format!("| `{name}` | {meaning} |");
        assert!(row.starts_with(&start), "{row}: {start}");
    }
}

/// The messages that the README explains are those of the program.
#[test]
fn the_readme_explains_messages_that_there_are() {
    let sources = [
        include_str!("../../../src/app/engine_events.rs"),
        include_str!("../../../src/app/worker.rs"),
        include_str!("../../../src/app/serve.rs"),
        include_str!("../../../crates/skills-access/src/lib.rs"),
    ];
    let mut messages = 0;
    for row in readme_rows("| what you see | cause and cure |") {
        let seen = row.split('|').nth(1).unwrap_or_default();
        if let Some(message) = seen.split('`').nth(1) {
            // What follows differs with the address.
            let message = message.split(" 127.").next().unwrap_or_default();
            let found = sources.iter().any(|source| source.contains(message));
            assert!(found, "no message is {message:?}");
            messages += 1;
        }
    }
    assert_eq!(messages, 4);
}
