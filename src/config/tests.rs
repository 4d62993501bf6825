//! Configurations, valid and not.

use skills_core::Visibility;

use super::*;

#[track_caller]
fn check(text: &str, change: impl FnOnce(&mut Config), warning: &str) {
    let mut expected = Config::default();
    change(&mut expected);
    let (config, warnings) = Config::parse(text);
    assert_eq!(config, expected, "for {text:?}");
    let all = warnings.join("\n");
    assert!(
        all.contains(warning) && all.is_empty() == warning.is_empty(),
        "for {text:?}: {all}"
    );
}

#[test]
fn configurations() {
    check(
        "scopes:\n  skills: s\n",
        |c| c.scopes.skills = "s".into(),
        "",
    );
    check(
        "- scopes:\n    prompts: p\n  state_timeout_ms: 5\n",
        |c| {
            c.scopes.prompts = "p".into();
            c.state_timeout_ms = 5;
        },
        "",
    );
    check(
        "skills:\n  - a/**/*.md\n",
        |c| c.skills = vec!["a/**/*.md".into()],
        "",
    );
    check(
        "agents: [agents/*.3md]\n",
        |c| c.agents = vec!["agents/*.3md".into()],
        "",
    );
    check(
        "mcp:\n  hide: ['internal::', '']\n  require_expose: true\n",
        |c| {
            c.mcp.hide = vec!["internal::".into()];
            c.mcp.require_expose = true;
        },
        "empty prefix",
    );
    check("publish: true\n", |c| c.publish = true, "");
    check("mcp:\n  hied: []\n", |_| {}, "`mcp.hied` is not a setting");
    check("", |_| {}, "is empty");
    check("---\n# nothing yet\n", |_| {}, "is empty");
    check("colour: blue\n", |_| {}, "`colour` is not a setting");
    check("state_timeout_ms: soon\n", |_| {}, "defaults apply");
    check("state_timeout_ms: 0\n", |_| {}, "at least 1");
    check("state_timeout_ms: -4\n", |_| {}, "defaults apply");
    check(
        "scopes:\n  skills: ''\n",
        |_| {},
        "`scopes.skills` must be non-empty",
    );
    check(
        "scopes:\n  skills: x\n  prompts: x\n",
        |_| {},
        "both scopes are `x`",
    );
    check("- {}\n- {}\n", |_| {}, "2 maps");
    check("[]\n", |_| {}, "0 maps");
    check("skills: docs/*.md\n", |_| {}, "line 1 column 9");
    check("mcp:\n  hide: {}\n", |_| {}, "line 2 column 9");
    // A number where a text is expected is taken as text.
    check(
        "skills: [5]\nstate_timeout_ms: '7'\n",
        |c| (c.skills, c.state_timeout_ms) = (vec!["5".into()], 7),
        "",
    );
    check("discover: true\n", |c| c.discover = true, "");
    check("discover: 5\n", |_| {}, "defaults apply");
    check(
        "limits:\n  http_sessions: 7\n",
        |c| c.limits.http_sessions = 7,
        "",
    );
    check(
        "index:\n  max_bytes: 8192\n",
        |c| c.index.max_bytes = 8192,
        "",
    );
    check(
        "index:\n  max_bytes: 5\n",
        |_| {},
        "`index.max_bytes` must be a number from 4096 to 16777216, not 5; 32768 applies",
    );
    check(
        "index: {size: 5}\n",
        |_| {},
        "`index.size` is not a setting",
    );
    check(
        "visibility:\n  'b/**': off\n  a: pinned\n",
        |c| {
            c.visibility.add("b/**", Visibility::Off);
            c.visibility.add("a", Visibility::Pinned);
        },
        "",
    );
    check(
        "visibility:\n  a: pined\n",
        |_| {},
        "`visibility` of `a`: `pined` is not a visibility; did you mean `pinned`?",
    );
    check("visibility:\n  A: off\n", |_| {}, "which no id matches");
    check("visibility: off\n", |_| {}, "defaults apply");
    check("limits: 5\n", |_| {}, "defaults apply");
    check("{ not yaml", |_| {}, "defaults apply");
    check("just words\n", |_| {}, "defaults apply");
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_huge_file_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(mkfifo.arg(path("pipe.yaml")).status().unwrap().success());
    let huge = std::fs::File::create(path("huge.yaml")).unwrap();
    huge.set_len(1 << 40).unwrap();
    for (name, problem) in [
        ("pipe.yaml", "it is not a regular file; the defaults apply"),
        (
            "huge.yaml",
            "it is too large: 1099511627776 bytes, at most 1048576",
        ),
    ] {
        let loaded = Config::load(&path(name));
        assert_eq!(loaded.config, Config::default());
        assert!(
            loaded.warnings[0].contains(problem),
            "{:?}",
            loaded.warnings
        );
    }
}

#[test]
fn a_missing_file_is_a_warning_that_names_it() {
    let loaded = Config::load(Path::new("no/such/config.yaml"));
    assert_eq!(loaded.config, Config::default());
    assert!(
        loaded.warnings[0].starts_with("no/such/config.yaml: "),
        "{:?}",
        loaded.warnings
    );
    assert_eq!(loaded.base, Path::new("no/such"));
}
