//! The cases of the reference validator of the Agent Skills specification (`skills-ref`, its
//! tests of validator and parser): every input that it rejects has an error here. What differs
//! is listed in `docs/lint.md`.

use skills_core::Severity;

use super::{files, lint};

#[track_caller]
fn check(folder: &str, text: &str, is_rejected: bool) {
    let found = lint(&files(&[(&format!("{folder}/SKILL.md"), text)])).all;
    let errors = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|finding| &*finding.message).collect();
    assert_eq!(
        !errors.is_empty(),
        is_rejected,
        "{folder}: {text:?}: {errors:?}"
    );
}

fn with(name: &str, lines: &str) -> String {
    format!("---\nname: {name}\n{lines}\n---\nBody\n")
}

#[test]
fn what_the_reference_validator_rejects_has_an_error() {
    let good = "description: A test skill";
    let long = "a".repeat(70);
    for (folder, name) in [
        ("MySkill", "MySkill"),
        (&*long, &*long),
        ("-my-skill", "-my-skill"),
        ("my--skill", "my--skill"),
        ("my_skill", "my_skill"),
        ("wrong-name", "correct-name"),
        ("НАВЫК", "НАВЫК"),
    ] {
        check(folder, &with(name, good), true);
    }
    check(
        "my-skill",
        &with(
            "my-skill",
            &format!("{good}\nunknown_field: should not be here"),
        ),
        true,
    );
    check(
        "my-skill",
        &with("my-skill", &format!("description: {}", "x".repeat(1_100))),
        true,
    );
    check(
        "my-skill",
        &with(
            "my-skill",
            &format!("{good}\ncompatibility: {}", "x".repeat(550)),
        ),
        true,
    );
    check("my-skill", "# No frontmatter here", true);
    check(
        "my-skill",
        "---\nname: my-skill\ndescription: A test skill\n",
        true,
    );
    check(
        "my-skill",
        "---\nname: [invalid\ndescription: broken\n---\nBody here\n",
        true,
    );
    check("my-skill", "---\n- just\n- a\n- list\n---\nBody\n", true);
    check(
        "my-skill",
        "---\ndescription: A test skill\n---\nBody\n",
        true,
    );
    check("my-skill", "---\nname: my-skill\n---\nBody\n", true);
}

#[test]
fn what_the_reference_validator_accepts_has_none() {
    let good = "description: A test skill";
    check("my-skill", &with("my-skill", good), false);
    check(
        "my-skill",
        &with(
            "my-skill",
            &format!("{good}\nlicense: MIT\nmetadata:\n  author: Test"),
        ),
        false,
    );
    check(
        "my-skill",
        &with(
            "my-skill",
            &format!("{good}\nallowed-tools: Bash(jq:*) Bash(git:*)"),
        ),
        false,
    );
    check(
        "my-skill",
        &with(
            "my-skill",
            &format!("{good}\ncompatibility: Requires Python 3.11+"),
        ),
        false,
    );
}

#[test]
fn what_is_stricter_here() {
    let good = "description: A test skill";
    // Other clients accept ASCII names only.
    for name in ["技能", "мой-навык", "навык", "café"] {
        check(name, &with(name, good), true);
    }
    // Other clients want texts.
    check(
        "my-skill",
        &with("my-skill", &format!("{good}\nmetadata:\n  version: 1.0")),
        true,
    );
    check(
        "my-skill",
        &with("my-skill", &format!("{good}\nallowed-tools: [Read]")),
        true,
    );
}
