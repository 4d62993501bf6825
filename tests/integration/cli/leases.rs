//! Owners and leases: registering, renewing, marks in lists, and `gc`.

use skills_test_support::process::{Addresses, SkillsProcess};

use super::transcript::Transcript;

#[tokio::test(flavor = "multi_thread")]
async fn owners_and_leases_are_shown_renewed_and_collected() {
    let mut s = Transcript::new();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&s.path("data"), &[]).await;
    s.redact(&url, "ws://[engine]");
    s.file("email.md", "# Email\n")
        .file("plain.md", "# Plain\n");
    for line in [
        "register plain plain.md",
        "register resend email.md --owner mailer --ttl 1h",
        "register left email.md --owner nobody-there",
        "prompts register greet --function w::greet --description d --owner nobody-there",
        "list",
        "prompts list",
        "renew mailer",
        "renew nobody-there",
        "renew unknown",
        "gc --dry-run",
        "gc --dry-run --json",
        "gc",
        "gc",
        "list --flat --json",
    ] {
        s.step(&format!("skills {line} --url {url}"));
    }
    s.matches("leases");
}

#[test]
fn mistakes_in_owners_and_leases() {
    let mut s = Transcript::new();
    s.file("a.md", "# A\n");
    s.step("skills register a a.md --ttl 0s")
        .step("skills register a a.md --ttl 9000h")
        .step("skills register a a.md --ttl 5x")
        .step("skills register a a.md --owner ''")
        .step("skills prompts register p --function w::p --description d --ttl soon --json")
        .step("skills renew ''")
        .step("skills register a a.md --owner mailer --ttl 90s --quiet")
        .step("skills list")
        // No engine tells which owners are connected.
        .step("skills gc")
        .step("skills gc --dry-run --json");
    s.matches("lease_mistakes");
}
