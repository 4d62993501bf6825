//! One id in a registration, a file and a 3md document: marks, addresses, and refusals.

use super::transcript::Transcript;

const AGENT: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";

/// A folder, a document, and registered skills with the same ids.
fn with_collisions() -> Transcript {
    let s = Transcript::new();
    s.file(
        "config.yaml",
        "skills: ['docs/**/*.md']\nagents: ['*.3md']\n",
    )
    .file("docs/resend.md", "# From a file\n\n## Use\n\nRead it.\n")
    .file("docs/same.md", "# The same\n")
    .file(
        "docs/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF folder\n",
    )
    .file("docs/pdf/references/api.md", "# API\n")
    .file("docs/dev.md", "# Dev\n")
    .file("dev.3md", AGENT);
    s.run_with("skills register resend -", "# From a worker\n");
    s.run_with("skills register same -", "# The same\n");
    s.run_with("skills register pdf -", "# PDF worker\n");
    s
}

#[test]
fn collisions_are_marked_and_every_text_can_be_read() {
    let mut s = with_collisions();
    s.step("skills list")
        .step("skills list --flat --json")
        .step("skills index --raw")
        .step("skills read @files/resend --raw")
        .step("skills read 'iii://@files/resend#use' --raw")
        .step("skills read @files/pdf --raw")
        .step("skills read @files/pdf/references/api --raw")
        .step("skills read @agents/dev --raw")
        .step("skills read @state/resend --json")
        .step("skills fetch iii://resend iii://@files/resend --raw")
        .step("skills read @state/dev")
        .step("skills read @other/dev");
    s.matches("collisions");
}

#[test]
fn a_registration_can_be_refused_or_reported() {
    let mut s = Transcript::new();
    s.file(
        "config.yaml",
        "skills: ['docs/*.md']\nsources:\n  on_conflict: refuse\n",
    )
    .file("docs/resend.md", "# From a file\n")
    .file("new.md", "# From a worker\n")
    .file("same.md", "# From a file\n");
    s.step("skills register resend new.md")
        .step("skills register resend new.md --json")
        .step("skills register resend same.md");
    s.file(
        "config.yaml",
        "skills: ['docs/*.md']\nsources:\n  on_conflict: warn\n",
    );
    s.step("skills register resend new.md");
    s.file("config.yaml", "sources:\n  on_conflict: never\n");
    s.step("skills list");
    s.matches("on_conflict");
}

#[test]
fn the_doctor_lists_no_hidden_file_as_served() {
    let s = with_collisions();
    let found = s.run("skills doctor --all").stdout;
    assert!(found.contains("Hidden by another entry"), "{found}");
    for (id, is_served) in [("resend", false), ("pdf", false), ("dev", true)] {
        let served = format!("skill {id}: served from");
        assert_eq!(found.contains(&served), is_served, "{id}: {found}");
    }
}
