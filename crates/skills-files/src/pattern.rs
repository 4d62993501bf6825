//! Patterns of the configuration: where each starts, what it matches, and which folders
//! cannot hold a match.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use skills_core::{Skipped, quote};

use crate::limits::{MAX_PATTERN_BRACES, MAX_PATTERN_BYTES};

/// Characters that end the static prefix of a pattern.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The patterns of one setting.
#[derive(Debug, Default)]
pub struct Patterns {
    /// Those that could be parsed.
    pub valid: Vec<Pattern>,
    /// Those that could not, with the reason.
    pub invalid: Vec<Skipped>,
}

/// A parsed pattern.
#[derive(Debug)]
pub struct Pattern {
    /// As it was written.
    pub text: Arc<str>,
    /// The folder of its static prefix; ids start below it.
    pub root: PathBuf,
    /// The suffix of the files it is for.
    pub suffix: &'static str,
    /// The file name, if the pattern names one file.
    pub literal: Option<String>,
    /// Whether it stands for a folder that a person named: hidden names are left out.
    pub is_folder: bool,
    /// What follows the static prefix.
    glob: GlobSet,
    /// The text after the last wildcard, with which every match ends.
    ending: Box<[u8]>,
    /// Set if the ending decides a match.
    ending_only: Option<EndingOnly>,
    /// One matcher for each path component; `None` if the glob cannot be split.
    components: Option<Vec<ComponentMatcher>>,
}

/// How much one pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternMatches {
    /// The pattern, as it was written.
    pub pattern: Arc<str>,
    /// The number of files it matches, including those that cannot be served.
    pub files: usize,
    /// How many of them an earlier pattern matches as well: that one gives the id.
    pub earlier: usize,
}

/// Globs that need no matcher, which are the most common ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndingOnly {
    /// `*.md`
    TopLevel,
    /// `**/*.md`
    AnyDepth,
}

#[derive(Debug)]
enum ComponentMatcher {
    /// `**`
    AnyFolders,
    One(GlobSet),
}

impl Patterns {
    /// Parses patterns for files that end in `suffix`; relative ones start at `base`.
    pub fn new(base: &Path, texts: &[String], suffix: &'static str) -> Self {
        let mut patterns = Self::default();
        for text in texts {
            match Pattern::parse(text, base, suffix) {
                Ok(pattern) => patterns.valid.push(pattern),
                Err(reason) => patterns.invalid.push(Skipped {
                    place: format!("pattern {}", quote(text)),
                    reason,
                }),
            }
        }
        patterns
    }

    /// Whether the setting is empty.
    pub fn is_empty(&self) -> bool {
        self.valid.is_empty() && self.invalid.is_empty()
    }
}

impl Pattern {
    /// Fails with the reason.
    fn parse(text: &str, base: &Path, suffix: &'static str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err(format!("is empty; name files, as in `docs/**/*{suffix}`"));
        }
        if text.len() > MAX_PATTERN_BYTES {
            return Err(format!(
                "is too long: {} bytes, at most {MAX_PATTERN_BYTES}; write several patterns",
                text.len()
            ));
        }
        let braces = text.matches('{').count();
        if braces > MAX_PATTERN_BRACES {
            return Err(format!(
                "has {braces} braces `{{`, at most {MAX_PATTERN_BRACES}; write several patterns"
            ));
        }
        let mut pattern = text.to_owned();
        if cfg!(windows) {
            pattern = pattern.replace('\\', "/");
        }
        let wildcard = pattern.find(WILDCARDS);
        let fixed = &pattern[..wildcard.unwrap_or(pattern.len())];
        let (prefix, _) = pattern.split_at(fixed.rfind('/').map_or(0, |at| at + 1));
        let mut glob = pattern[prefix.len()..].to_owned();
        while glob.contains("//") {
            glob = glob.replace("//", "/");
        }
        if glob.is_empty() {
            return Err(format!(
                "names a folder; write `{}/**/*{suffix}` for the files in it",
                text.trim_end_matches('/')
            ));
        }
        Ok(Self {
            text: text.into(),
            suffix,
            root: base.join(prefix),
            glob: compile(&glob)?,
            ending: ending(&glob).as_bytes().into(),
            ending_only: ending_only(&glob),
            components: components(&glob),
            literal: wildcard.is_none().then_some(glob),
            is_folder: false,
        })
    }

    /// Every file below a folder that ends in `suffix`; the path is not a pattern.
    pub fn of_folder(root: &Path, suffix: &'static str) -> Result<Self, String> {
        Ok(Self {
            root: root.to_owned(),
            is_folder: true,
            ..Self::parse(&format!("**/*{suffix}"), root, suffix)?
        })
    }

    /// Whether it matches a path below its root.
    pub fn matches(&self, relative: &Path) -> bool {
        let path = relative.as_os_str();
        if !self.may_match(path) {
            return false;
        }
        match self.ending_only {
            Some(EndingOnly::AnyDepth) => true,
            Some(EndingOnly::TopLevel) => {
                let mut bytes = path.as_encoded_bytes().iter();
                !bytes.any(|&byte| std::path::is_separator(char::from(byte)))
            }
            None => self.glob.is_match(relative),
        }
    }

    /// Whether a path with this file name could match. Much cheaper than
    /// [`Self::matches`].
    pub fn may_match(&self, name: &OsStr) -> bool {
        name.as_encoded_bytes().ends_with(&self.ending)
    }

    /// Whether a path below this folder, itself below the root, could match.
    pub fn may_match_below(&self, relative: &Path) -> bool {
        let Some(components) = &self.components else {
            return true;
        };
        let mut depth = 0;
        for component in relative.components() {
            let Component::Normal(name) = component else {
                return false;
            };
            match components.get(depth) {
                Some(ComponentMatcher::AnyFolders) => return true,
                Some(ComponentMatcher::One(glob)) if glob.is_match(name) => depth += 1,
                Some(ComponentMatcher::One(_)) | None => return false,
            }
        }
        depth < components.len()
    }
}

/// A set of one: `Glob::compile_matcher` panics if the glob is too large for its regex.
fn compile(glob: &str) -> Result<GlobSet, String> {
    let built = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    let set = built.and_then(|glob| GlobSetBuilder::new().add(glob).build());
    set.map_err(|error| format!("is not a valid pattern: {}", error.kind()))
}

/// The text after the last wildcard or slash.
fn ending(glob: &str) -> &str {
    let special = |c: char| WILDCARDS.contains(&c) || matches!(c, ']' | '}' | '/');
    glob.rfind(special).map_or(glob, |at| &glob[at + 1..])
}

fn ending_only(glob: &str) -> Option<EndingOnly> {
    match glob.strip_suffix(ending(glob))? {
        "*" => Some(EndingOnly::TopLevel),
        "**/*" => Some(EndingOnly::AnyDepth),
        _ => None,
    }
}

/// `None` if braces or brackets contain a slash or `**`, or if anything is escaped.
fn components(glob: &str) -> Option<Vec<ComponentMatcher>> {
    let mut open = 0_usize;
    let mut before = ' ';
    for c in glob.chars() {
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
    let component = |text: &str| match text {
        "**" => Some(ComponentMatcher::AnyFolders),
        text => compile(text).ok().map(ComponentMatcher::One),
    };
    glob.split('/').map(component).collect()
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
                parents.all(|parent| pattern.may_match_below(parent)),
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
    fn the_ending_decides_as_the_glob_does() {
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
            // A folder without wildcards in front would become the root.
            let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
            for name in names {
                let (name, glob) = (Path::new(name), &pattern.glob);
                assert_eq!(
                    pattern.matches(name),
                    glob.is_match(name),
                    "{text} {name:?}"
                );
            }
        }
        let ending_only = |text| {
            Pattern::parse(text, Path::new(""), ".md")
                .unwrap()
                .ending_only
        };
        assert_eq!(ending_only("docs/**/*.md"), Some(EndingOnly::AnyDepth));
        assert_eq!(ending_only("docs/*.md"), Some(EndingOnly::TopLevel));
        assert_eq!(ending_only("docs/a*.md"), None);
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let may_match = |text: &str, folder: &str| {
            let pattern = Pattern::parse(text, Path::new(""), ".md").unwrap();
            pattern.may_match_below(Path::new(folder))
        };
        assert!(!may_match("*.md", "a"));
        assert!(may_match("a*/*.md", "ab"));
        assert!(!may_match("a*/*.md", "b"));
        assert!(!may_match("a*/*.md", "ab/c"));
        assert!(may_match("a*/**/x.md", "ab/c/d"));
        assert!(!may_match("a*/**/x.md", "b/c/d"));
        assert!(may_match("{a/b,c}/*.md", "anything"));
    }

    #[test]
    fn an_invalid_pattern_has_a_reason() {
        let check = |text: &str, expected: &str| {
            let reason = Pattern::parse(text, Path::new(""), ".md").unwrap_err();
            assert!(reason.contains(expected), "for {text:?}: {reason}");
        };
        check("", "is empty");
        check("  ", "is empty");
        check("docs/", "names a folder; write `docs/**/*.md`");
        check(
            "docs/[a",
            "is not a valid pattern: unclosed character class",
        );
        check("docs/{a", "is not a valid pattern");
        check("docs/a}*", "is not a valid pattern");
    }

    /// 250 nested braces made the regex of a glob panic.
    #[test]
    fn a_pattern_has_few_braces_and_bytes() {
        let parse = |text: &str| Pattern::parse(text, Path::new(""), ".md");
        let nested = |n: usize| format!("docs/{}a{}.md", "{".repeat(n), "}".repeat(n));
        let braces = format!("docs/{}.md", "{a,b}".repeat(32));
        assert!(parse(&nested(32)).unwrap().matches(Path::new("a.md")));
        assert!(
            parse(&braces)
                .unwrap()
                .matches(Path::new(&format!("{}.md", "ab".repeat(16))))
        );
        for n in [33, 250, 2_000] {
            let reason = parse(&nested(n)).unwrap_err();
            let expected = format!("has {n} braces `{{`, at most 32; write several patterns");
            assert_eq!(reason, expected);
        }
        // Braces in a class do not close.
        assert!(parse(&"{[}]".repeat(100)).is_err());
        for long in ["a", "?", "*", "[a-z]", "[!a]", "é", "**/"] {
            let longest = long
                .repeat(4_096 / long.len())
                .trim_end_matches('/')
                .to_owned();
            let parsed = parse(&longest).map(drop);
            assert!(parsed.is_ok(), "{long}: {parsed:?}");
        }
        let reason = parse(&"a".repeat(4_097)).unwrap_err();
        assert!(
            reason.starts_with("is too long: 4097 bytes, at most 4096"),
            "{reason}"
        );
        let patterns = Patterns::new(Path::new(""), &[nested(250)], ".md");
        let place = &patterns.invalid[0].place;
        assert!(
            place.starts_with("pattern `docs/{{{{") && place.len() < 100,
            "{place}"
        );
    }
}
