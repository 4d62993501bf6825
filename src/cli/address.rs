//! Addresses and ids on the command line: `iii://x`, `x`, `x.md`, `./x.md`, `a::b`.

use skills_core::{ResourceUri, SCHEME, SkillId};

use super::CliError;

/// Parses an address.
pub fn uri(text: &str) -> Result<ResourceUri, CliError> {
    let path = path(text);
    // The id of a function.
    let is_function = path.contains("::") && !path.contains('/');
    let path = if is_function {
        format!("fn/{}", path.replace("::", "/"))
    } else {
        path
    };
    Ok(format!("{SCHEME}{path}").parse()?)
}

/// Parses an id.
pub fn id(text: &str) -> Result<SkillId, CliError> {
    Ok(path(text).parse()?)
}

/// The path without scheme, leading `./` and `.md`.
fn path(text: &str) -> String {
    let text = text.trim();
    let head = text.get(..SCHEME.len());
    let path = if head.is_some_and(|head| head.eq_ignore_ascii_case(SCHEME)) {
        text[SCHEME.len()..].to_owned()
    } else {
        text.replace('\\', "/")
    };
    let path = path.trim_start_matches("./");
    path.strip_suffix(".md").unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = uri(text).map_or_else(|error| error.message, |uri| uri.to_string());
        assert!(got.contains(expected), "for {text:?}: {got}");
    }

    #[test]
    fn addresses() {
        check("iii://a/b", "iii://a/b");
        check("III://a", "iii://a");
        check("iii://a.md", "iii://a");
        check("a/b", "iii://a/b");
        check("a.md", "iii://a");
        check("./a/b.md", "iii://a/b");
        check(".\\a\\b.md", "iii://a/b");
        check(" a ", "iii://a");
        check("skills", "iii://skills");
        check("fn/a/b", "iii://fn/a/b");
        check("a::b", "iii://fn/a/b");
        check("", "non-empty");
        check("A", "lowercase");
        check("../a", "has '.'");
        check("https://x", "has ':'");
        check("state::get", "internal namespace");
    }

    #[test]
    fn ids() {
        assert_eq!(id("./a/b.md").unwrap().as_str(), "a/b");
        assert_eq!(id("iii://a").unwrap().as_str(), "a");
        assert!(id("skills").unwrap_err().message.contains("reserved"));
    }
}
