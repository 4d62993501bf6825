//! Patterns of the configuration: where each starts, what it matches, and which folders
//! cannot hold a match.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use skills_core::{SKILL_MD, Skipped, quote};

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
    /// Who named it.
    pub origin: PatternOrigin,
    /// Of two files with the same id, the one of the lower rank is served.
    pub rank: usize,
    /// What follows the static prefix.
    glob: GlobSet,
    /// The text after the last wildcard, with which every match ends.
    ending: Box<[u8]>,
    /// Set if the ending decides a match.
    ending_only: Option<EndingOnly>,
    /// One matcher for each path component; `None` if the glob cannot be split.
    components: Option<Vec<ComponentMatcher>>,
}

/// Who named the files of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternOrigin {
    /// The configuration.
    Configuration,
    /// A person who named a folder: it stands for the files in it, without hidden ones.
    Folder,
    /// Nobody: agents keep skills there. It need not exist. A link to one of these folders is
    /// no problem, because that folder is searched itself.
    Place(Arc<[PathBuf]>),
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
            origin: PatternOrigin::Configuration,
            rank: 0,
        })
    }

    /// Every file below a folder that ends in `suffix`; the path is not a pattern.
    pub fn of_folder(root: &Path, suffix: &'static str) -> Result<Self, String> {
        Self::below(root, &format!("**/*{suffix}"), suffix)
    }

    /// Every `SKILL.md` below a place where agents keep skills, which is one of `places`.
    pub fn of_place(root: &Path, places: &Arc<[PathBuf]>) -> Result<Self, String> {
        Ok(Self {
            origin: PatternOrigin::Place(Arc::clone(places)),
            ..Self::below(root, &format!("**/{SKILL_MD}"), ".md")?
        })
    }

    /// One file that ends in `suffix`; the path is not a pattern.
    pub fn of_file(path: &Path, suffix: &'static str) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
        Ok(Self {
            literal: Some(name.clone().into_owned()),
            ..Self::below(
                folder.unwrap_or(Path::new(".")),
                &globset::escape(&name),
                suffix,
            )?
        })
    }

    fn below(root: &Path, glob: &str, suffix: &'static str) -> Result<Self, String> {
        Ok(Self {
            text: root.join(glob).to_string_lossy().into(),
            root: root.to_owned(),
            origin: PatternOrigin::Folder,
            ..Self::parse(glob, root, suffix)?
        })
    }

    /// Whether a name in its folders is left out: hidden names, packages of programs, and texts
    /// about the folder.
    pub fn leaves_out(&self, name: &OsStr) -> bool {
        let is_hidden = || name.as_encoded_bytes().starts_with(b".");
        self.origin != PatternOrigin::Configuration
            && (is_hidden() || name == "node_modules" || is_about_folder(name))
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

/// Whether a name is that of a text about its folder: `README.md`, `LICENSE.md`, `AGENTS.md` and
/// the like are in capitals. No id is.
fn is_about_folder(name: &OsStr) -> bool {
    let stem = name.to_str().and_then(|name| name.strip_suffix(".md"));
    stem.is_some_and(|stem| {
        let has = |is: fn(char) -> bool| stem.contains(is);
        name != SKILL_MD && has(char::is_uppercase) && !has(char::is_lowercase)
    })
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
mod tests;
