//! What people type for an address or an id: `iii://x`, `x`, `x.md`, `./x.md`.

use skills_core::{ResourceUri, SCHEME, SkillId};

use super::CliError;

/// The address somebody means.
pub fn uri(text: &str) -> Result<ResourceUri, CliError> {
    let path = path(text);
    // A function, named as it is called.
    let is_function = path.contains("::") && !path.contains('/');
    let path = if is_function {
        format!("fn/{}", path.replace("::", "/"))
    } else {
        path
    };
    Ok(format!("{SCHEME}{path}").parse()?)
}

/// The id somebody means.
pub fn id(text: &str) -> Result<SkillId, CliError> {
    Ok(path(text).parse()?)
}

/// Without scheme, leading `./` and `.md`, which only say that it is a file.
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
        let got = uri(text).map_or_else(|stop| stop.message, |uri| uri.to_string());
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
