//! Patterns of the configuration: where one starts, what it matches, and which
//! folders cannot hold a match.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use skills_core::Skipped;

/// What ends the part of a pattern that is plain text.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The patterns of one setting.
#[derive(Debug, Default)]
pub struct Patterns {
    /// Those that were understood.
    pub good: Vec<Pattern>,
    /// Those that were not, and why.
    pub bad: Vec<Skipped>,
}

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
    /// What every match ends with, after the last wildcard.
    ending: Box<[u8]>,
    /// Set where the ending alone tells.
    plain: Option<Plain>,
    /// The rest, folder by folder; none where it cannot be taken apart.
    steps: Option<Vec<Step>>,
}

/// How much one pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternMatches {
    /// The pattern, as it was written.
    pub pattern: Arc<str>,
    /// How many files it matches, whether they can be served or not.
    pub files: usize,
    /// How many of them an earlier pattern matches already, and so gives.
    pub earlier: usize,
}

/// Patterns that need no glob, which are most of those that people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    /// `*.md`
    Here,
    /// `**/*.md`
    Anywhere,
}

#[derive(Debug)]
enum Step {
    /// `**`: any folders.
    Any,
    One(GlobMatcher),
}

impl Patterns {
    /// Understands patterns for files that end in `suffix`; relative ones start at `base`.
    pub fn new(base: &Path, texts: &[String], suffix: &'static str) -> Self {
        let mut patterns = Self::default();
        for text in texts {
            match Pattern::parse(text, base, suffix) {
                Ok(pattern) => patterns.good.push(pattern),
                Err(reason) => patterns.bad.push(Skipped {
                    place: format!("pattern `{text}`"),
                    reason,
                }),
            }
        }
        patterns
    }
}

impl Pattern {
    /// Understands a pattern for files that end in `suffix`; a relative one starts at
    /// `base`. Fails with the reason.
    fn parse(text: &str, base: &Path, suffix: &'static str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err(format!("is empty; name files, as in `docs/**/*{suffix}`"));
        }
        let mut pattern = text.to_owned();
        if cfg!(windows) {
            pattern = pattern.replace('\\', "/");
        }
        let wild = pattern.find(WILD);
        let fixed = &pattern[..wild.unwrap_or(pattern.len())];
        let (prefix, _) = pattern.split_at(fixed.rfind('/').map_or(0, |at| at + 1));
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
            ending: ending(&rest).as_bytes().into(),
            plain: plain(&rest),
            steps: steps(&rest),
            literal: wild.is_none().then_some(rest),
        })
    }

    /// Whether it matches a path below its root.
    pub fn matches(&self, relative: &Path) -> bool {
        let path = relative.as_os_str();
        if !self.may_match(path) {
            return false;
        }
        match self.plain {
            Some(Plain::Anywhere) => true,
            Some(Plain::Here) => {
                let mut bytes = path.as_encoded_bytes().iter();
                !bytes.any(|&byte| std::path::is_separator(char::from(byte)))
            }
            None => self.rest.is_match(relative),
        }
    }

    /// Whether a path with this file name could match: far cheaper than the answer.
    pub fn may_match(&self, name: &OsStr) -> bool {
        name.as_encoded_bytes().ends_with(&self.ending)
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

impl PatternMatches {
    /// That of a pattern which is the only one.
    pub fn of(pattern: &Pattern, files: usize) -> Self {
        Self {
            pattern: Arc::clone(&pattern.text),
            files,
            earlier: 0,
        }
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

/// The plain text after the last wildcard, within the file name.
fn ending(rest: &str) -> &str {
    let special = |c: char| WILD.contains(&c) || matches!(c, ']' | '}' | '/');
    rest.rfind(special).map_or(rest, |at| &rest[at + 1..])
}

fn plain(rest: &str) -> Option<Plain> {
    let before = rest.strip_suffix(ending(rest))?;
    match before {
        "*" => Some(Plain::Here),
        "**/*" => Some(Plain::Anywhere),
        _ => None,
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
        let pattern = Pattern::parse(text, Path::new("/base"), ".md").unwrap();
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
    fn the_short_way_answers_as_the_glob_does() {
        let names = [
            "a.md", ".md", "md", "a.MD", "a.mdx", "x/a.md", "x/.md", "x/y/a.md", "x.md/y", "b/a",
            "a]b.md", "a b.md",
        ];
        for text in [
            "*.md",
            "**/*.md",
            "*",
            "**/*",
            "**",
            "*/*.md",
            "a*.md",
            "**/a.md",
            "{a,b}.md",
            "[ab].md",
            "?.md",
            "x/**/*.md",
            "**/x/*",
            "{**/a,b}*.md",
            "a[]]b.md",
        ] {
            // A folder in front that is plain would become the root.
            let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
            for name in names {
                let (name, glob) = (Path::new(name), &pattern.rest);
                assert_eq!(
                    pattern.matches(name),
                    glob.is_match(name),
                    "{text} {name:?}"
                );
            }
        }
        let plain = |text| Pattern::parse(text, Path::new(""), ".md").unwrap().plain;
        assert_eq!(plain("docs/**/*.md"), Some(Plain::Anywhere));
        assert_eq!(plain("docs/*.md"), Some(Plain::Here));
        assert_eq!(plain("docs/a*.md"), None);
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let holds = |text: &str, folder: &str| {
            let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
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
            let reason = Pattern::parse(text, Path::new(""), ".md").unwrap_err();
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
