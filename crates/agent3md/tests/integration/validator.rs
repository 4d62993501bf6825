//! The validator: the level, plane, position and order of every rule.

use agent3md::{Level, Rule, js_number, validate};

/// The findings of a text, as `rule z line:column`.
fn findings(source: &str) -> Vec<String> {
    let shown = |finding: &agent3md::Finding| {
        let z = finding.z.map_or_else(|| "-".to_owned(), js_number);
        format!("{} {z} {}", finding.rule.name(), finding.at)
    };
    validate(source).findings.iter().map(shown).collect()
}

/// Checks planes from line 5 on, after an identity.
#[track_caller]
fn check(planes: &str, expected: &[&str]) {
    head(
        "agent: dev\n",
        &format!("@plane z=0 kind=identity\n{planes}"),
        expected,
    );
}

#[track_caller]
fn head(lines: &str, planes: &str, expected: &[&str]) {
    let source = format!("---\n3md: 1\n{lines}---\n{planes}");
    assert_eq!(findings(&source), expected, "for {source:?}");
}

#[test]
fn a_valid_agent_has_no_findings() {
    check(
        "@plane z=1 label=a triggers=x inputs=\"p, q:number?\" tool=\"rg {p} {q}\"\n[[z=2]]\n@plane z=2 label=b triggers=y",
        &[],
    );
}

#[test]
fn the_only_finding_of_an_unparsable_text_is_its_parse_error() {
    assert_eq!(findings("hello"), ["parse - 1:1"]);
    assert_eq!(
        findings("---\n3md: 1\n---\n@plane z=1\n@plane z=1\n[[z=9]]"),
        ["parse - 5:1"]
    );
}

#[test]
fn an_agent_needs_a_name() {
    head("", "@plane z=0 kind=identity", &["frontmatter - 1:1"]);
    head(
        "title:\nagent:\n",
        "@plane z=0 kind=identity",
        &["frontmatter - 1:1"],
    );
    head("title:\nagent: a\n", "@plane z=0 kind=identity", &[]);
    head("title: a\n", "@plane z=0 kind=identity", &[]);
}

#[test]
fn an_agent_needs_one_identity() {
    check(
        "@plane z=1 kind=identity\n@plane z=2 kind=identity",
        &["identity 1 6:12"],
    );
    head("agent: a\n", "", &["identity - 1:1"]);
}

#[test]
fn a_skill_needs_a_unique_label() {
    check(
        "@plane z=1 triggers=x\n@plane z=2 label=\" \" triggers=x",
        &["missing-label 1 6:1", "missing-label 2 7:1"],
    );
    check(
        "@plane z=1 label=a triggers=x\n@plane z=2 label=\" a \" triggers=x",
        &["unique-skill 2 7:1"],
    );
    head(
        "agent: a\n",
        "@plane z=0 kind=identity label=a\n@plane z=1 label=a triggers=x",
        &[],
    );
}

#[test]
fn links_need_a_target() {
    let planes = "é [[z=9]] [[z=1]]\n[[z=8|x]] [[z=9]]\n@plane z=1 label=a triggers=x\n[[z=7]]";
    check(
        planes,
        &[
            "dead-link 0 6:3",
            "dead-link 0 7:1",
            "dead-link 0 7:11",
            "dead-link 1 9:1",
        ],
    );
    check(&format!("[[z={}]]", "9".repeat(400)), &["dead-link 0 6:1"]);
}

#[test]
fn positions_are_correct_with_crlf() {
    let source =
        "---\r\n3md: 1\r\nagent: a\r\n---\r\n@plane z=0 kind=identity\r\na\r\nb [[z=9]]\r\n";
    let report = validate(source);
    assert_eq!(report.findings[0].at.to_string(), "7:3");
    assert_eq!(&source[report.findings[0].at.bytes.clone()], "[[z=9]]");
}

#[test]
fn the_entry_must_be_a_plane() {
    for (entry, sound) in [
        ("0", true),
        (" 0 ", true),
        ("-0", true),
        ("00", true),
        ("1", false),
        ("", false),
        ("0.0", false),
        ("+0", false),
        ("x", false),
        ("-", false),
    ] {
        let expected: &[&str] = if sound { &[] } else { &["entry - 4:1"] };
        head(
            &format!("agent: a\nentry: \"{entry}\"\n"),
            "@plane z=0 kind=identity",
            expected,
        );
    }
}

#[test]
fn the_first_cycle_is_reported_once() {
    let skill = |z: u8, body: &str| format!("@plane z={z} label=s{z} triggers=x\n{body}\n");
    check(
        &(skill(1, "[[z=2]]") + &skill(2, "[[z=1]] [[z=2]]")),
        &["cycle 1 6:1"],
    );
    check(&skill(1, "[[z=1]]"), &["cycle 1 6:1"]);
    check(
        &format!("[[z=1]]\n{}", skill(1, "[[z=0]]")),
        &["cycle 0 5:1"],
    );
    check(
        &(skill(1, "[[z=2]]") + &skill(2, "[[z=3]]") + &skill(3, "[[z=2]]")),
        &["cycle 2 8:1"],
    );
    let report = validate(&format!(
        "---\n3md: 1\nagent: a\n---\n{}{}",
        skill(1, "[[z=2]]"),
        skill(2, "[[z=1]]")
    ));
    let cycle = report
        .findings
        .iter()
        .find(|finding| finding.rule == Rule::Cycle)
        .unwrap();
    assert_eq!(cycle.message, "planes depend on themselves: z=1 → 2 → 1");
}

#[test]
fn placeholders_must_be_declared_inputs() {
    let skill = |more: &str| format!("@plane z=1 label=a triggers=x {more}");
    check(&skill("inputs=\"p, p\""), &["dup-input 1 6:31"]);
    check(&skill("inputs=\"p:date\""), &["input-type 1 6:31"]);
    check(
        &skill("tool=\"rg {p} {p}\""),
        &["tool-input 1 6:31", "tool-input 1 6:31"],
    );
    check(&skill("inputs=p tool=\"rg {x{p}}\""), &[]);
    check(
        &skill("inputs=p tool=\"rg {P}\""),
        &["tool-input 1 6:40", "unused-input 1 6:31"],
    );
    check(&skill("inputs=p tool=rg"), &["unused-input 1 6:31"]);
    check(&skill("inputs=p"), &[]);
    check(&skill("tool=\" \" inputs=p"), &["tool 1 6:31"]);
    check(
        &skill("inputs=\"p:date, p:Number, q:x\" tool=\"rg {p} {q} {r}\""),
        &[
            "input-type 1 6:31",
            "dup-input 1 6:31",
            "input-type 1 6:31",
            "tool-input 1 6:62",
        ],
    );
}

#[test]
fn a_placeholder_in_quotes_is_an_error() {
    let skill = |tool: &str| format!("@plane z=1 label=a triggers=x inputs=a tool='{tool}'");
    check(&skill("echo \"{a}\""), &["unsafe-placeholder 1 6:40"]);
    check(&skill("echo {a}"), &[]);
}

#[test]
fn a_skill_needs_triggers() {
    check(
        "@plane z=1 label=a\n@plane z=2 label=b triggers=\" \"",
        &["triggers 1 6:1", "triggers 2 7:20"],
    );
}

#[test]
fn a_program_must_be_declared() {
    let identity = "@plane z=0 kind=identity\n@plane z=1 label=a triggers=x tool=\"rg x\"\n@plane z=2 label=b triggers=y tool=git";
    head(
        "agent: a\ntools: git, sh\n",
        identity,
        &["undeclared-tool 1 7:31"],
    );
    head("agent: a\ntools:\n", identity, &[]);
    head("agent: a\n", identity, &[]);
}

#[test]
fn declarations_without_effect_are_warnings() {
    check(
        "@plane z=1 label=a triggers=\", ,\"\n@plane z=2 label=b triggers=!!!",
        &["unroutable 1 6:20", "unroutable 2 7:20"],
    );
    check(
        "@plane z=1 label=a triggers=x\n[[z=1.5]] [[z=-1|b]]",
        &["wide-link 1 7:1", "wide-link 1 7:11"],
    );
    check("```\n@plane z=1 label=a\n", &["unclosed-fence - 6:1"]);
    head(
        "agent: a\n",
        "@plane z=1 label=a triggers=x\n@plane z=2 label=b triggers=y",
        &["implied-identity 1 5:20"],
    );
}

#[test]
fn the_first_plane_is_the_identity_when_none_is_marked() {
    head("agent: a\n", "@plane z=0\nhello", &[]);
    head("agent: a\n", "hello", &[]);
    head(
        "agent: a\n",
        "@plane z=0\nhello\n@plane z=1",
        &["missing-label 1 7:1", "triggers 1 7:1"],
    );
}

#[test]
fn what_is_ignored_is_a_warning() {
    head(
        "agent: a\ntols: rg\nAgent: b\nnote: x\n",
        "@plane z=0 kind=identity",
        &[
            "unknown-key - 5:1",
            "unknown-key - 6:1",
            "unknown-key - 4:1",
        ],
    );
    check(
        "@plane z=1 label=a triggres=x triggers=y",
        &["unknown-attribute 1 6:20"],
    );
    check(
        "@plan z=1 label=a\n@plan\n @plane z=2\n@PLANE z=3\n@planar z=4\n@planar text\n@place\n\
         ```\n@plan\n```\n    @plane z=5\nan @plan",
        &[
            "near-directive - 6:1",
            "near-directive - 7:1",
            "near-directive - 8:1",
            "near-directive - 9:1",
            "near-directive - 10:1",
            "near-directive - 12:1",
        ],
    );
    let messages = |source: &str| {
        let findings = validate(source).findings.into_iter();
        findings.map(|finding| finding.message).collect::<Vec<_>>()
    };
    let source = "---\n3md: 1\nagent: a\ntols: rg\nnote: x\n---\n@plane z=0 kind=identity";
    let expected = [
        "the key \"note\" is ignored",
        "the key \"tols\" is ignored; did you mean `tools`?",
    ];
    assert_eq!(messages(source), expected);
}

#[test]
fn an_unknown_version_is_a_warning() {
    for (version, expected) in [
        ("1", &[][..]),
        ("1.0", &[]),
        ("1.7", &[]),
        ("2.0", &["version - 2:1"]),
        ("one", &["version - 2:1"]),
        ("10", &["version - 2:1"]),
    ] {
        let source = format!("---\n3md: {version}\nagent: a\n---\n@plane z=0 kind=identity");
        assert_eq!(findings(&source), expected, "for {version}");
    }
}

#[test]
fn a_label_that_cannot_become_an_id_is_a_warning() {
    check(
        "@plane z=1 label=caf\u{e9} triggers=x\n@plane z=2 label=!! triggers=x\n\
         @plane z=3 label=\"Code Review\" triggers=x\n@plane z=4 label=code-review triggers=x",
        &["label-id 1 6:1", "label-id 2 7:1", "label-id 4 9:1"],
    );
}

#[test]
fn the_message_of_a_parse_error_does_not_repeat_its_place() {
    let report = validate("---\n3md: 1\n---\n@plane label=a");
    assert_eq!(report.findings[0].message, "this @plane has no z");
}

#[test]
fn findings_are_ordered_by_rule_with_errors_first() {
    let source = "---\n3md: 1\ntools: git\nentry: 77\n---\n@plane z=0 kind=identity\n[[z=9]]\n@plane z=5 kind=identity\n\
        @plane z=1 inputs=\"p:x\" tool=\"rg '{q}'\"\n[[z=2]]\n@plane z=2 label=b triggers=!\n[[z=1]] [[z=8]]\n\
        @plane z=3 label=b tool=\"\" inputs=\"a,a\"\n```\n@plane z=4\n";
    let names: Vec<_> = validate(source)
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.z))
        .collect();
    let expected = [
        (Rule::Frontmatter, None),
        (Rule::Identity, Some(5.0)),
        (Rule::MissingLabel, Some(1.0)),
        (Rule::UniqueSkill, Some(3.0)),
        (Rule::DeadLink, Some(0.0)),
        (Rule::DeadLink, Some(2.0)),
        (Rule::Entry, None),
        (Rule::Cycle, Some(1.0)),
        (Rule::InputType, Some(1.0)),
        (Rule::ToolInput, Some(1.0)),
        (Rule::DupInput, Some(3.0)),
        (Rule::UnsafePlaceholder, Some(1.0)),
        (Rule::Triggers, Some(1.0)),
        (Rule::Triggers, Some(3.0)),
        (Rule::UnusedInput, Some(1.0)),
        (Rule::Tool, Some(3.0)),
        (Rule::UndeclaredTool, Some(1.0)),
        (Rule::Unroutable, Some(2.0)),
        (Rule::UnclosedFence, None),
    ];
    assert_eq!(names, expected);
    let levels: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| rule.level() == Level::Warning)
        .collect();
    assert!(levels.is_sorted(), "the table of rules has errors first");
}

#[test]
fn the_text_of_a_report() {
    let source = "---\n3md: 1\n---\n@plane z=0 kind=identity\n@plane z=1.50 label=a\n";
    assert_eq!(
        validate(source).text("x.3md"),
        "agent3md validate: x.3md\n  \
         ✗ [frontmatter]  the agent has no name: add `title` or `agent` to the front matter\n  \
         ⚠ [triggers] z=1.5  the skill has no triggers, so nothing routes to it\n  \
         FAIL - 1 error(s), 1 warning(s)"
    );
    let sound = "---\n3md: 1\nagent: a\n---\n@plane z=0 kind=identity\n";
    assert_eq!(
        validate(sound).text("x.3md"),
        "agent3md validate: x.3md\n  PASS - 0 error(s), 0 warning(s)"
    );
    assert!(validate(sound).is_ok());
}

#[test]
fn a_report_is_serialized_as_json() {
    let json = serde_json::to_string(&validate(
        "---\n3md: 1\nagent: a\n---\n@plane z=0 kind=identity\n[[z=9]]\n",
    ))
    .unwrap();
    assert_eq!(
        json,
        r#"{"findings":[{"rule":"dead-link","level":"error","z":0,"message":"no plane stands where \"[[z=9]]\" points","line":6,"column":1}]}"#
    );
}
