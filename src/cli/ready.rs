//! What `skills serve` prints on a terminal once it is ready.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::humanize::count;
use super::log::print_line;
use crate::app::Ready;

/// Prints the addresses and the next step on stderr.
pub fn announce(ready: &Ready) {
    print_line(&text(ready));
}

fn text(ready: &Ready) -> String {
    let Ready { workers, mcp, .. } = ready;
    let header = if ready.has_token {
        " --header \"Authorization: Bearer $SKILLS_TOKEN\""
    } else {
        ""
    };
    let (skills, next) = match &ready.skills {
        Ok(counts) if counts.is_empty() => (
            "none yet".to_owned(),
            "`skills new NAME --in FOLDER` creates a skill, and `skills serve FOLDER` serves it",
        ),
        Ok(counts) => (
            numbers(counts),
            "open the page, connect a client with the line above, or `skills list`",
        ),
        Err(problem) => (
            format!("cannot be listed: {problem}"),
            "`skills doctor` shows what is wrong",
        ),
    };
    let mut text = format!("skills {} is ready\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<8} {value}");
    };
    if let Some(page) = &ready.page {
        line("page", page);
    }
    line("MCP", mcp);
    line(
        "",
        &format!("claude mcp add --transport http skills {mcp}{header}"),
    );
    line("workers", workers);
    line("data", &ready.data_dir.display().to_string());
    line("skills", &skills);
    line("next", next);
    line("stop", "Ctrl-C");
    text
}

/// "4 skills (3 from files, 1 registered)".
fn numbers(counts: &BTreeMap<&str, usize>) -> String {
    let origins = counts.iter().map(|(origin, number)| {
        let origin = match *origin {
            "state" => "registered",
            "fs" => "from files",
            "3md" => "from 3md documents",
            other => other,
        };
        format!("{number} {origin}")
    });
    let origins = origins.collect::<Vec<_>>().join(", ");
    format!("{} ({origins})", count(counts.values().sum(), "skill"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(skills: &[(&'static str, usize)]) -> Ready {
        Ready {
            workers: "ws://127.0.0.1:49134".into(),
            mcp: "http://127.0.0.1:49135/mcp".into(),
            page: Some("http://127.0.0.1:49135/".into()),
            data_dir: "/data".into(),
            skills: Ok(skills.iter().copied().collect()),
            has_token: false,
        }
    }

    #[test]
    fn a_new_registry_has_a_first_step() {
        let text = text(&ready(&[]));
        assert!(
            text.contains("MCP      http://127.0.0.1:49135/mcp\n"),
            "{text}"
        );
        assert!(
            text.contains("claude mcp add --transport http skills http://127.0.0.1:49135/mcp\n"),
            "{text}"
        );
        assert!(
            text.contains("page     http://127.0.0.1:49135/\n"),
            "{text}"
        );
        assert!(text.contains("skills   none yet\n"), "{text}");
        assert!(text.contains("skills new NAME"), "{text}");
    }

    #[test]
    fn skills_are_counted_by_origin_and_a_token_is_named() {
        let ready = Ready {
            has_token: true,
            ..ready(&[("fs", 3), ("state", 1)])
        };
        let text = text(&ready);
        assert!(
            text.contains("skills   4 skills (3 from files, 1 registered)\n"),
            "{text}"
        );
        assert!(text.contains("Bearer $SKILLS_TOKEN"), "{text}");
    }

    #[test]
    fn an_outage_is_not_an_empty_registry() {
        let ready = Ready {
            skills: Err("the state cannot be read".into()),
            ..ready(&[])
        };
        let text = text(&ready);
        assert!(
            text.contains("skills   cannot be listed: the state cannot be read\n"),
            "{text}"
        );
    }
}
