//! Skill folders on the command line: creating, listing, reading, importing, exporting and
//! checking them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use skills_test_support::process::skills_path;

use super::transcript::Transcript;

const PDF: &str = "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\n---\n\n# PDF\n\n\
                   See [the API](references/api.md).\n";
/// Not UTF-8.
const LOGO: [u8; 6] = [0x89, b'P', b'N', b'G', 0xff, 0x00];

/// A configuration that serves the folder `skills`, with one skill folder.
fn with_pdf() -> Transcript {
    let s = Transcript::new();
    s.file("config.yaml", "skills:\n  - skills/**/*.md\n")
        .file("skills/pdf/SKILL.md", PDF)
        .file("skills/pdf/references/api.md", "# API\n")
        .file("skills/pdf/scripts/run.py", "print()\r\n")
        .file("skills/pdf/assets/logo.png", LOGO);
    s
}

#[test]
fn a_skill_folder_is_created() {
    let mut s = Transcript::new();
    s.step("skills new pdf-forms")
        .step("skills new pdf-forms")
        .step("skills new other --in team/skills --json")
        .step("skills new 'My Skill'")
        .step("skills new skills")
        .step("skills new 日本 --json");
    s.file("config.yaml", "skills: ['*/SKILL.md', 'team/skills/**']\n");
    s.step("skills doctor --quiet");
    s.matches("new");
}

#[test]
fn a_skill_folder_is_listed_and_its_files_are_read() {
    let mut s = with_pdf();
    s.file("skills/house/style.md", "# Style\n");
    s.step("skills list")
        .step("skills list --flat --json")
        .step("skills read pdf")
        .step("skills read pdf/SKILL.md")
        .step("skills read pdf/references/api")
        .step("skills read pdf/scripts/run.py --json")
        .step("skills read skill://pdf/assets/logo.png --json")
        .step("skills read pdf/scripts/rum.py")
        .step("skills read pdf/SKILLS.md");
    s.matches("folders");
    let read = s
        .command(skills_path())
        .args(["read", "pdf/assets/logo.png"]);
    assert_eq!(read.output().unwrap().stdout, LOGO);
}

#[test]
fn a_skill_folder_is_imported() {
    let mut s = Transcript::new();
    s.file("docs/pdf/SKILL.md", PDF)
        .file("docs/pdf/references/api.md", "# API\n")
        .file("docs/pdf/scripts/run.py", "print()\n")
        .file("docs/pdf/forms/SKILL.md", "# Forms\n")
        .file("docs/pdf/forms/FIELDS.md", "# Fields\n")
        .file("docs/My Skill/SKILL.md", "# Mine\n")
        .file("docs/my-skill.md", "# Twice\n")
        .file("docs/house/style.md", "# Style\n");
    s.step("skills import docs")
        .step("skills import docs/pdf --json")
        .step("skills list --flat")
        .step("skills read pdf --raw");
    s.matches("import_folders");
}

/// The files below a folder with their contents.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
            found.insert(name.replace('\\', "/"), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn an_export_is_served_as_the_same_skills() {
    let mut s = with_pdf();
    s.file(
        "skills/pdf/forms/SKILL.md",
        "---\nname: forms\ndescription: d\n---\n# Forms\n",
    )
    .file(
        "skills/house/style.md",
        "---\ntitle: Style\n---\n\n# Our style\n\nBe brief.\r\n",
    )
    .file(
        "config.yaml",
        "skills: ['skills/**/*.md']\nagents: ['*.3md']\n",
    )
    .file(
        "dev.3md",
        "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n",
    );
    let bodies = [
        ("resend", "# Resend: \"mail\"\n\nMail: for # programs."),
        ("resend/email", "---\ntriggers: [mail]\n---\n# Email\n"),
        (
            "imported",
            "---\nname: imported\ndescription: d\n---\n# Imported\n",
        ),
    ];
    for (id, body) in bodies {
        s.run_with(&format!("skills register {id} -"), body);
    }
    s.run_with("skills register a_b -", "# No name\n");
    #[cfg(unix)]
    fs::set_permissions(s.path("skills/pdf/scripts/run.py"), executable()).unwrap();
    s.step("skills export out --format agent-skills")
        .step("skills export out --format agent-skills --json --quiet");
    #[cfg(unix)]
    for (name, expected) in [("scripts/run.py", 0o111), ("SKILL.md", 0)] {
        use std::os::unix::fs::PermissionsExt;
        let written = fs::metadata(s.path("out/pdf").join(name)).unwrap();
        assert_eq!(written.permissions().mode() & 0o111, expected, "{name}");
    }
    // Another registry serves the export.
    s.file("other.yaml", "skills: ['out/**/*.md']\n");
    let other = "--config other.yaml --data-dir other";
    s.step(&format!("skills list {other}"));
    s.step(&format!("skills index {other}"));
    s.step(&format!("skills doctor {other}"));
    for id in [
        "pdf",
        "pdf/forms",
        "house/style",
        "dev",
        "resend",
        "resend/email",
    ] {
        let here = s.run(&format!("skills read {id} --raw")).stdout;
        let there = s.run(&format!("skills read {id} --raw {other}")).stdout;
        assert_eq!(here, there, "{id}");
    }
    let written = tree(&s.path("out"));
    for (name, bytes) in tree(&s.path("skills/pdf")) {
        assert_eq!(written[&format!("pdf/{name}")], bytes, "{name}");
    }
    assert_eq!(written["imported/SKILL.md"], bodies[2].1.as_bytes());
    s.step(&format!(
        "skills export again --format agent-skills --quiet {other}"
    ));
    assert_eq!(tree(&s.path("again")), written);
    s.matches("export_agent_skills");
}

#[cfg(unix)]
fn executable() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o755)
}

#[test]
fn the_places_of_agents_are_found() {
    let mut s = Transcript::new();
    s.file(".claude/skills/pdf/SKILL.md", PDF)
        .file(".claude/skills/README.md", "# Not a skill\n")
        .file(".agents/skills/mail/SKILL.md", PDF)
        .file("home/.claude/skills/pdf/SKILL.md", PDF)
        .file("home/.config/goose/skills/own/SKILL.md", "# Own\n");
    s.step("skills list")
        .step("skills list --discover")
        .step("skills doctor --discover");
    s.file("config.yaml", "discover: true\n");
    s.step("skills list --flat");
    s.matches("discover");
}

#[test]
fn folders_that_cannot_be_served_are_errors() {
    let mut s = Transcript::new();
    s.file("pdf/SKILL.md", PDF).file("dev.3md", "x");
    s.step("skills serve nowhere")
        .step("skills mcp pdf nowhere")
        .step("skills serve pdf/SKILL.md")
        .step("skills mcp 'pdf/*.md'")
        .step("skills mcp --strict pdf dev.3md");
    s.matches("paths");
}

#[test]
fn the_findings_of_skill_folders_have_a_cure() {
    let mut s = Transcript::new();
    s.file("config.yaml", "skills: ['a/**/*.md', 'b/**/*.md']\n")
        .file("a/pdf/SKILL.md", PDF)
        .file("b/pdf/SKILL.md", PDF)
        .file("a/mail/SKILL.md", PDF)
        .file("a/none/SKILL.md", "# None\n")
        .file("a/broken/SKILL.md", "---\nname: [\n---\n# Broken\n")
        .file(
            "a/colon/SKILL.md",
            "---\nname: colon\ndescription: Use: it\n---\n# Colon\n",
        )
        .file("a/My Skill/SKILL.md", PDF)
        .file("a/a_b.md", "# Plain\n")
        .file("empty.yaml", "{}\n");
    s.step("skills doctor")
        .step("skills doctor --json")
        .step("skills doctor --config empty.yaml a/pdf b");
    s.matches("doctor_folders");
}

#[test]
fn a_pattern_that_turns_a_file_off_is_not_reported_as_unused() {
    let s = Transcript::new();
    s.file(
        "config.yaml",
        "skills: ['docs/*.md']\nvisibility:\n  old: off\n  odl: manual\n",
    )
    .file("docs/old.md", "# Old\n");
    let report = s.run("skills doctor").stdout;
    assert!(report.contains("is off by the pattern `old`"), "{report}");
    assert!(!report.contains("the pattern `old` matches"), "{report}");
    assert!(
        report.contains("the pattern `odl` matches no skill"),
        "{report}"
    );
}

#[test]
fn skills_below_a_folder_with_the_name_of_the_index_are_listed() {
    let s = Transcript::new();
    s.run_with("skills register skills/a -", "# A\n");
    s.run_with("skills register other -", "# B\n");
    for prefix in ["skills", "skills/", "iii://skills/"] {
        let output = s.run(&format!("skills list {prefix} --flat"));
        assert!(
            output.stdout.starts_with("skills/a "),
            "{prefix}: {}",
            output.stdout
        );
        assert!(
            !output.stdout.contains("other"),
            "{prefix}: {}",
            output.stdout
        );
    }
}
