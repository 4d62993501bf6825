//! One pattern of the configuration: where it starts, what it matches, and which
//! folders cannot hold a match.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

/// What ends the part of a pattern that is plain text.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A pattern that was understood.
#[derive(Debug)]
pub struct Pattern {
    /// As it was written.
    pub text: Arc<str>,
    /// The folder of its static prefix; ids start below it.
    pub root: PathBuf,
    /// How the files it is for end.
    pub suffix: &'static str,
    /// The file name, where the pattern names one file.
    pub literal: Option<String>,
    rest: GlobMatcher,
    /// The rest, folder by folder; none where it cannot be taken apart.
    steps: Option<Vec<Step>>,
}

#[derive(Debug)]
enum Step {
    /// `**`: any folders.
    Any,
    One(GlobMatcher),
}

impl Pattern {
    /// Understands a pattern for markdown files; a relative one starts at `base`. Fails
    /// with the reason.
    pub fn parse(text: &str, base: &Path) -> Result<Self, String> {
        Self::parse_as(text, base, ".md")
    }

    /// Understands a pattern for files that end in `suffix`.
    pub fn parse_as(text: &str, base: &Path, suffix: &'static str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err(format!("is empty; name files, as in `docs/**/*{suffix}`"));
        }
        let mut pattern = text.to_owned();
        if cfg!(windows) {
            pattern = pattern.replace('\\', "/");
        }
        let wild = pattern.find(WILD);
        let plain = &pattern[..wild.unwrap_or(pattern.len())];
        let (prefix, _) = pattern.split_at(plain.rfind('/').map_or(0, |at| at + 1));
        let mut rest = pattern[prefix.len()..].to_owned();
        while rest.contains("//") {
            rest = rest.replace("//", "/");
        }
        if rest.is_empty() {
            return Err(format!(
                "names a folder; write `{}/**/*{suffix}` for the files in it",
                text.trim_end_matches('/')
            ));
        }
        Ok(Self {
            text: text.into(),
            suffix,
            root: base.join(prefix),
            rest: compile(&rest)?,
            steps: steps(&rest),
            literal: wild.is_none().then_some(rest),
        })
    }

    /// Whether it matches a path below its root.
    pub fn matches(&self, relative: &Path) -> bool {
        self.rest.is_match(relative)
    }

    /// Whether something below this folder, itself below the root, could match.
    pub fn may_hold(&self, relative: &Path) -> bool {
        let Some(steps) = &self.steps else {
            return true;
        };
        let mut depth = 0;
        for part in relative.components() {
            let Component::Normal(name) = part else {
                return false;
            };
            match steps.get(depth) {
                Some(Step::Any) => return true,
                Some(Step::One(step)) if step.is_match(name) => depth += 1,
                Some(Step::One(_)) | None => return false,
            }
        }
        depth < steps.len()
    }
}

fn compile(glob: &str) -> Result<GlobMatcher, String> {
    let built = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    match built {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(format!("is no valid pattern: {}", error.kind())),
    }
}

/// None where a slash or `**` stands inside braces or brackets, or something is
/// escaped.
fn steps(rest: &str) -> Option<Vec<Step>> {
    let mut open = 0_usize;
    let mut before = ' ';
    for c in rest.chars() {
        match c {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            '/' if open > 0 => return None,
            '*' if open > 0 && before == '*' => return None,
            '\\' => return None,
            _ => {}
        }
        before = c;
    }
    let step = |part: &str| match part {
        "**" => Some(Step::Any),
        part => compile(part).ok().map(Step::One),
    };
    rest.split('/').map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, root: &str, matching: &[&str], other: &[&str]) {
        let pattern = Pattern::parse(text, Path::new("/base")).unwrap();
        assert_eq!(pattern.root, Path::new(root), "for {text}");
        for path in matching {
            assert!(pattern.matches(Path::new(path)), "{text} misses {path}");
            let mut parents = Path::new(path).ancestors().skip(1);
            assert!(
                parents.all(|parent| pattern.may_hold(parent)),
                "{text} prunes a folder of {path}"
            );
        }
        for path in other {
            assert!(!pattern.matches(Path::new(path)), "{text} matches {path}");
        }
    }

    #[test]
    fn patterns() {
        check(
            "my-skills/**/*.md",
            "/base/my-skills",
            &["foo.md", "foo/bar.md", "foo/bar/baz.md"],
            &["foo.txt"],
        );
        check("*.md", "/base", &["top.md"], &["a/top.md"]);
        check("docs/team-a.md", "/base/docs", &["team-a.md"], &["x.md"]);
        check("/abs/d?cs/*.md", "/abs", &["docs/a.md"], &["dcs/a.md"]);
        check("/**", "/", &["a", "a/b.md"], &[]);
        check("x/{a,b}/[cd].md", "/base/x", &["a/c.md"], &["a/e.md"]);
        check("x/{a/b,c}.md", "/base/x", &["a/b.md", "c.md"], &["a.md"]);
        check("x/{a,**}/y.md", "/base/x", &["a/y.md"], &[]);
        check("x/[!a].md", "/base/x", &["b.md"], &["a.md", "bb.md"]);
        check("x//y/**//z.md", "/base/x/y", &["a/z.md", "z.md"], &[]);
        check("a/b*/c.md", "/base/a", &["bb/c.md"], &["c.md", "b/d/c.md"]);
        check("../up/*.md", "/base/../up", &["a.md"], &[]);
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let holds = |text: &str, folder: &str| {
            let pattern = Pattern::parse(text, Path::new("")).unwrap();
            pattern.may_hold(Path::new(folder))
        };
        assert!(!holds("*.md", "a"));
        assert!(holds("a*/*.md", "ab"));
        assert!(!holds("a*/*.md", "b"));
        assert!(!holds("a*/*.md", "ab/c"));
        assert!(holds("a*/**/x.md", "ab/c/d"));
        assert!(!holds("a*/**/x.md", "b/c/d"));
        assert!(holds("{a/b,c}/*.md", "anything"));
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let check = |text: &str, expected: &str| {
            let reason = Pattern::parse(text, Path::new("")).unwrap_err();
            assert!(reason.contains(expected), "for {text:?}: {reason}");
        };
        check("", "is empty");
        check("  ", "is empty");
        check("docs/", "names a folder; write `docs/**/*.md`");
        check("docs/[a", "is no valid pattern: unclosed character class");
        check("docs/{a", "is no valid pattern");
        check("docs/a}*", "is no valid pattern");
    }
}
