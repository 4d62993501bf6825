//! Any bytes as a SKILL.md and as the files of its folder: findings have places and safe messages,
//! and fixes end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_core::{LintSettings, escape_control};
use skills_lint::{Collection, File, Kind, Skill, check, fixed_text};

fuzz_target!(|bytes: &[u8]| {
    let mut text = bytes.to_vec();
    // Each round removes findings, so a few rounds are enough.
    for _ in 0..8 {
        let found = check(&collection(&text), &LintSettings::default()).all;
        for finding in &found {
            assert!(finding.at.line > 0 && finding.at.column > 0);
            assert_eq!(escape_control(&finding.message), finding.message);
        }
        let own: Vec<_> = found.iter().filter(|f| *f.file == *"a/SKILL.md").collect();
        let fixed = std::str::from_utf8(&text).ok();
        match fixed.and_then(|text| fixed_text(text, &own)) {
            Some(fixed) => text = fixed.into_bytes(),
            None => return,
        }
    }
    panic!("fixes do not end");
});

fn collection(bytes: &[u8]) -> Collection {
    let file = |name: &str| File {
        name: name.into(),
        shown: format!("a/{name}").into(),
        bytes: Some(bytes.to_vec()),
    };
    let skill = |id: &str, kind: Kind| Skill {
        id: id.parse().ok(),
        kind,
        document: file("SKILL.md"),
        bundled: vec![file("b.md"), file("c.sh"), file("d")],
    };
    Collection {
        skills: vec![
            skill("a", Kind::Folder { name: "a".into() }),
            Skill {
                document: file("x.md"),
                bundled: Vec::new(),
                ..skill("x", Kind::Markdown)
            },
            Skill {
                document: file("y.3md"),
                bundled: Vec::new(),
                ..skill("y", Kind::Agent3md)
            },
        ],
        ..Collection::default()
    }
}
