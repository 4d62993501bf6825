//! What each configuration means, and the warnings about it.

use skills_core::Visibility;

use super::*;

/// The warning is that of a bad setting, or of a bad file.
#[track_caller]
fn check(text: &str, change: impl FnOnce(&mut Config), warning: &str) {
    let mut expected = Config::default();
    change(&mut expected);
    let (config, warnings) = match Config::parse(text) {
        Ok(parsed) => (parsed.config, parsed.warnings),
        Err(warning) => (Config::default(), vec![warning]),
    };
    assert_eq!(config, expected, "for {text:?}");
    let all: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    let all = all.join("\n");
    assert!(
        all.contains(warning) && all.is_empty() == warning.is_empty(),
        "for {text:?}: {all}"
    );
}

/// What a misspelt `mcp` section leaves.
fn closed(config: &mut Config) {
    config.mcp.no_functions = true;
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
    check("http:\n  page: false\n", |c| c.http.page = false, "");
    check("mcp:\n  hide:\n", |_| {}, "");
    check("", |_| {}, "");
    check("---\n# nothing yet\n", |_| {}, "");
    check("colour: blue\n", |_| {}, "1:1: `colour` is not a setting");
    check(
        "state_timeout_ms: 5\nskils: [a]\n",
        |c| c.state_timeout_ms = 5,
        "2:1: `skils` is not a setting; ignored. Did you mean `skills`?",
    );
    check(
        "state_timeout_ms: soon\n",
        |_| {},
        "1:19: `state_timeout_ms` must be a number of milliseconds, at least 1, not the text `soon`",
    );
    check("state_timeout_ms: 0\n", |_| {}, "at least 1, not 0");
    check("state_timeout_ms: -4\n", |_| {}, "at least 1, not -4");
    check(
        "scopes:\n  skills: ''\n",
        |_| {},
        "2:11: `scopes.skills` must be a non-empty name",
    );
    check(
        "scopes:\n  skills: x\n  prompts: x\n",
        |_| {},
        "both scopes are `x`",
    );
    check("- {}\n- {}\n", |_| {}, "2 maps");
    check("[]\n", |_| {}, "0 maps");
    // A number where a text is expected is taken as text.
    check(
        "skills: [5]\nstate_timeout_ms: '7'\n",
        |c| (c.skills, c.state_timeout_ms) = (vec!["5".into()], 7),
        "",
    );
    check("discover: true\n", |c| c.discover = true, "");
    check("discover: 5\n", |_| {}, "must be true or false, not 5");
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
        "2:14: `index.max_bytes` must be a number from 4096 to 16777216, not 5",
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
        "2:6: `visibility` of `a`: `pined` is not a visibility; did you mean `pinned`?",
    );
    check("visibility:\n  A: off\n", |_| {}, "which no id matches");
    check(
        "visibility:\n  leg/: off\n",
        |_| {},
        "`visibility` has the pattern `leg/`, which no id matches, because a segment is empty; \
         write `leg/**`; ignored",
    );
    check("visibility: {/x: off}\n", |_| {}, "; write `x`; ignored");
    check(
        "visibility: {a//b: off}\n",
        |_| {},
        "; write `a/b`; ignored",
    );
    check("visibility: {/: off}\n", |_| {}, "; `**` matches every id");
    check("visibility: off\n", |_| {}, "must be a map of settings");
    check("limits: 5\n", |_| {}, "must be a map of settings, not 5");
    check("{ not yaml", |_| {}, "not valid YAML");
    check(
        "just words\n",
        |_| {},
        "1:1: it must be a map of settings, not the text `just words`",
    );
}

#[test]
fn a_bad_setting_falls_back_alone() {
    check(
        "skills: docs/*.md\nmcp:\n  hide: ['internal::']\n",
        |c| c.mcp.hide = vec!["internal::".into()],
        "1:9: `skills` must be a list of patterns, not the text `docs/*.md`",
    );
}

#[test]
fn a_mistake_in_mcp_hides_every_function() {
    check(
        "mcp:\n  hied: []\n",
        closed,
        "2:3: `mcp.hied` is not a setting; ignored. Did you mean `mcp.hide`?",
    );
    check(
        "mcp: 5\n",
        closed,
        "no function of the engine is an MCP tool",
    );
    check(
        "mcp:\n  hide: {}\n",
        closed,
        "2:9: `mcp.hide` must be a list",
    );
    check(
        "mcp:\n  hide: ['a::']\n  require_expose: sure\n",
        |c| {
            c.mcp.hide = vec!["a::".into()];
            closed(c);
        },
        "3:19: `mcp.require_expose` must be true or false",
    );
}

#[test]
fn the_default_file_may_be_absent_or_of_another_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.yaml");
    let check = |text: Option<&str>, warnings: usize| {
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let loaded = Config::load_default(&path);
        assert_eq!(loaded.warnings.len(), warnings, "{text:?}: {loaded:?}");
        assert_eq!(loaded.unusable, None, "{text:?}");
    };
    check(None, 0);
    check(Some("workers:\n  - name: a\n"), 0);
    check(Some("workers: []\nskills: 5\n"), 2);
    check(Some("{ not yaml"), 1);
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
        assert!(loaded.config.mcp.no_functions);
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
    assert!(loaded.config.mcp.no_functions);
    assert!(
        loaded.warnings[0].starts_with("no/such/config.yaml: "),
        "{:?}",
        loaded.warnings
    );
    assert_eq!(loaded.base, Path::new("no/such"));
}
