//! Versions on the command line: listing, reading, comparing, bringing back, and the log.

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use skills_test_support::process::skills_path;

use super::transcript::Transcript;

#[test]
fn versions_of_a_skill() {
    let mut s = Transcript::new();
    s.file("one.md", "# Mail\n\nSend a mail.\n")
        .file("two.md", "# Mail\n\nSend a mail with Resend.\n");
    s.step("skills register resend one.md --owner mailer")
        .step("skills register resend two.md")
        .step("skills register resend two.md")
        .step("skills history resend")
        .step("skills read resend@1")
        .step("skills diff resend")
        .step("skills diff resend 2 1")
        .step("skills diff resend 1 1")
        .step("skills diff resend --json")
        .step("skills unregister resend")
        .step("skills rollback resend 1")
        .step("skills rollback resend 1")
        .step("skills rollback resend 4")
        .step("skills history resend --json")
        .step("skills history resend");
    s.matches("history");
}

#[test]
fn versions_of_a_prompt_and_the_log() {
    let mut s = Transcript::new();
    s.file("one.md", "# One\n");
    s.step("skills register a one.md --quiet")
        .step("skills prompts register greet --function w::greet --description Hello --quiet")
        .step("skills prompts register greet --function w::greet --description Goodbye --quiet")
        .step("skills prompts history greet")
        .step("skills prompts rollback greet 1")
        .step("skills prompts history greet --json")
        .step("skills log --prompt greet --json")
        .step("skills log a --since 1h --json")
        .step("skills log --since 1h --limit 1 --json --quiet")
        .step("skills unregister a --quiet")
        .step("skills gc --history --dry-run")
        .step("skills gc --history --dry-run --json")
        .step("skills gc --history --quiet")
        .step("skills gc --history --dry-run --quiet");
    s.matches("history_log");
}

#[test]
fn mistakes_in_versions() {
    let mut s = Transcript::new();
    s.file("one.md", "# One\n");
    s.step("skills register a one.md --quiet")
        .step("skills history b")
        .step("skills diff a")
        .step("skills diff a 7")
        .step("skills read a@2")
        .step("skills read a@0")
        .step("skills read a@sha256:0000")
        .step("skills rollback a 99999999999999999999")
        .step("skills rollback a latest")
        .step("skills rollback a 1 --if-match abc")
        .step("skills rollback b 1 --json")
        .step("skills log --since yesterday")
        .step("skills log --since 99999999d --json")
        .step("skills log a --prompt b")
        .step("skills prompts history A");
    s.matches("history_mistakes");
}

#[test]
fn the_log_has_the_time_of_this_machine() {
    let s = Transcript::new();
    s.file("one.md", "# One\n");
    s.run("skills register a one.md --quiet");
    let log = |zone: &str, args: &[&str]| {
        let command = s.command(skills_path()).env("TZ", zone).arg("log");
        let output = command.args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&log("EST5", &["--json"])).unwrap();
    let at: Timestamp = json["data"]["changes"][0]["at"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    // POSIX zones: hours west of UTC, so that no zone files are needed.
    for (zone, minutes) in [
        ("EST5", -5 * 60),
        ("<+0545>-5:45", 5 * 60 + 45),
        ("UTC0", 0),
    ] {
        let offset = Offset::from_seconds(minutes * 60).unwrap();
        let shown = |at: Timestamp| {
            let local = at.to_zoned(TimeZone::fixed(offset));
            local.strftime("%Y-%m-%d %H:%M:%S").to_string()
        };
        let text = log(zone, &[]);
        assert!(text.starts_with(&shown(at)), "in {zone}: {text}");
        // A time without an offset is that of this machine, too.
        let before = log(zone, &["--since", &shown(at)]);
        assert_eq!(before, text, "in {zone}");
        let after = log(
            zone,
            &["--since", &shown(at + SignedDuration::from_mins(1))],
        );
        assert_eq!(after, "", "in {zone}");
    }
}
