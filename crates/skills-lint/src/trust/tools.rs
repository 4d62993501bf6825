//! `allowed-tools` that grant too much.

use skills_core::front_matter::FrontMatter;
use skills_core::quote;

use crate::format::Place;
use crate::report::Sink;
use crate::rules::trust as rules;

const KEY: &str = "allowed-tools";

pub fn check(front_matter: &FrontMatter, place: &Place<'_>, sink: &mut Sink) {
    // Found once: a list may have as many tools as the front matter has lines.
    let line = place.key(KEY);
    for tool in front_matter
        .phrases(KEY)
        .iter()
        .flat_map(|phrase| split(phrase))
    {
        let (name, pattern) = tool.split_once('(').unwrap_or((tool, ""));
        let is_shell = ["bash", "shell", "execute", "terminal"].contains(&&*name.to_lowercase());
        let pattern = pattern.trim_end_matches(')');
        let is_all = name == "*"
            || name.eq_ignore_ascii_case("all")
            || is_shell
                && !pattern.is_empty()
                && pattern.chars().all(|c| matches!(c, '*' | ':' | ' '));
        if is_all {
            let message = || format!("{} grants everything", quote(tool));
            sink.add(rules::ALL_TOOLS, line.clone(), message)
                .help("name the tools that the skill needs");
        } else if is_shell && pattern.is_empty() {
            let message = || format!("{} grants every shell command", quote(tool));
            sink.add(rules::SHELL_TOOL, line.clone(), message)
                .help("name the commands, such as `Bash(git:*)`");
        }
    }
}

/// The tools of a list: white space and commas separate them, except in parentheses.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || c == ',')
    };
    list.split(is_separator)
        .filter(|tool| !tool.is_empty())
        .collect()
}
