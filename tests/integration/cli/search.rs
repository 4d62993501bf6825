//! Finding skills: `search`, `route` and `eval`; and `stats` of what was found.

use std::path::Path;

use super::transcript::Transcript;

const MAIL: &str = "# Send mail\n\nSends an e-mail to a customer.\n";
const COMMIT: &str = "---\ntriggers: write a commit\n---\n# Commit\n\nCommits staged files.\n";

fn with_skills() -> Transcript {
    let s = Transcript::new();
    s.file(
        "config.yaml",
        "skills:\n  - docs/**/*.md\nprompts:\n  - prompts/*.md\n",
    )
    .file("docs/mail/send.md", MAIL)
    .file("docs/git/commit.md", COMMIT)
    .file(
        "prompts/open-pr.md",
        "---\ndescription: Open a pull request.\n---\nOpen it.\n",
    );
    s
}

#[test]
fn skills_are_searched_and_routed() {
    let mut s = with_skills();
    s.step("skills search customer mail")
        .step("skills search files --prefix mail/")
        .step("skills search pull request --json")
        .step("skills search --limit 0 x")
        .step("skills search zebra --prefix mail/ --origin fs")
        .step("skills search zebra --json")
        .step("skills index --json")
        .step("skills search mail --cursor 10.00")
        .step("skills route write a commit for these files")
        .step("skills route will it rain tomorrow in the mountains")
        .step("skills route --json e-mail a customer");
    s.matches("search");
}

#[test]
fn routing_is_tested_with_cases() {
    let mut s = with_skills();
    s.file(
        "routes.jsonl",
        "{\"text\": \"mail the customer\", \"expect\": \"mail/send\"}\n\
         {\"text\": \"stage files for a customer\", \"expect\": \"git/commit\"}\n\
         {\"text\": \"tell a customer about staged files\", \"expect\": [\"mail/send\", \"x\"]}\n\
         {\"text\": \"will it rain tomorrow\", \"expect\": null}\n",
    );
    s.file("bad.jsonl", "{\"text\": \"a\", \"expect\": null}\n{}\n");
    s.file("id.jsonl", "{\"text\": \"a\", \"expect\": [[\"a\"]]}\n");
    s.file("null.jsonl", "{\"text\": \"a\", \"expect\": null}\n");
    s.file(
        "wrong.jsonl",
        "\u{feff}{\"text\": \"mail the customer\", \"expect\": null}\n\
         {\"text\": \"will it rain tomorrow\", \"expect\": \"mail/sned\"}\n",
    );
    s.step("skills eval routes.jsonl --suggest")
        .step("skills eval routes.jsonl --min-hit1 1 --json")
        .step("skills eval bad.jsonl")
        .step("skills eval id.jsonl")
        .step("skills eval null.jsonl --min-hit1 0.5")
        .step("skills eval docs")
        .step("skills eval wrong.jsonl --suggest")
        .step("skills eval wrong.jsonl --json")
        .step("skills eval gone.jsonl")
        .step("skills eval routes.jsonl --min-hit1 80");
    s.matches("eval");
}

#[test]
fn the_example_folder_passes_its_routing_test() {
    let s = Transcript::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/folder");
    let (config, cases) = (example.join("config.yaml"), example.join("routes.jsonl"));
    let (config, cases) = (config.display(), cases.display());
    let run = s.run(&format!(
        "skills eval {cases} --config {config} --min-hit1 1 --json"
    ));
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("\"abstained_right\":2"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("\"abstained_wrong\":0"),
        "{}",
        run.stdout
    );
}

#[test]
fn uses_are_counted_across_processes() {
    let mut s = with_skills();
    s.file("off.yaml", "skills:\n  - docs/**/*.md\nusage: false\n");
    s.file(
        "routes.jsonl",
        "{\"text\": \"mail the customer\", \"expect\": \"mail/send\"}\n",
    );
    s.step("skills stats")
        .step("skills route write a commit for these files --json")
        .step("skills read iii://git/commit --raw")
        .step("skills read iii://git/commit --raw")
        .step("skills eval routes.jsonl --json")
        .step("skills read iii://mail/send --config off.yaml --raw")
        .step("skills stats")
        .step("skills stats --unused")
        .step("skills stats --json")
        .step("skills stats --config off.yaml");
    s.matches("stats");
}
