//! Where the placeholders of a command stand, and whether a value is safe there.

use std::fmt;
use std::ops::Range;

/// A command with placeholders, `{name}`: an ASCII letter or `_`, then letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    text: &'a str,
    placeholders: Vec<Placeholder<'a>>,
}

/// One placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The name between the braces.
    pub name: &'a str,
    /// Where it stands in the template, braces included.
    pub bytes: Range<usize>,
    /// Why no value may be put here.
    pub hazard: Option<Hazard>,
}

/// A place where a value in single quotes could still break out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// Inside quotes: the value's own quotes would close them.
    Quoted,
    /// After a backslash, which would disarm the opening quote.
    Escaped,
    /// Inside backquotes, which end at a backquote even within quotes.
    Backquoted,
    /// After `$` or within an expansion such as `$((`, which read quotes differently.
    Expanded,
    /// After `<<`: quotes mean nothing in a here-document.
    HereDocument,
    /// In a comment, which a line break in the value would end.
    Comment,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quoted => "inside quotes",
            Self::Escaped => "after a backslash",
            Self::Backquoted => "inside backquotes",
            Self::Expanded => "in a shell expansion",
            Self::HereDocument => "after a here-document",
            Self::Comment => "in a comment",
        })
    }
}

impl<'a> Template<'a> {
    /// Finds the placeholders. Any text is a template.
    pub fn parse(text: &'a str) -> Self {
        let mut placeholders = Vec::new();
        let mut shell = Shell::default();
        let (mut at, mut read) = (0, 0);
        while let Some(offset) = text[at..].find('{') {
            let start = at + offset;
            at = start + 1;
            let Some(name) = name_at(text, at) else {
                continue;
            };
            shell.read(&text[read..start]);
            at += name.len() + 1;
            read = at;
            placeholders.push(Placeholder {
                name,
                bytes: start..at,
                hazard: shell.hazard(),
            });
            shell.fill();
        }
        Self { text, placeholders }
    }

    /// The template as written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The placeholders in order, each occurrence.
    pub fn placeholders(&self) -> &[Placeholder<'a>] {
        &self.placeholders
    }
}

/// The name that begins at `at` and is followed by a closing brace.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at..];
    let length = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    let digit_first = rest.starts_with(|c: char| c.is_ascii_digit());
    (length > 0 && !digit_first && rest[length..].starts_with('}')).then(|| &rest[..length])
}

/// As much of a shell's reading as it takes to know where a value is safe.
///
/// Where it does not follow (expansions, here-documents) it refuses everything that comes after.
#[derive(Default)]
struct Shell {
    place: Place,
    escaped: bool,
    backquoted: bool,
    /// Set for good by what this reading does not follow.
    lost: Option<Hazard>,
    previous: Option<char>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Bare,
    Single,
    Double,
    Comment,
}

impl Shell {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            self.next(c);
            self.previous = Some(c);
        }
    }

    fn next(&mut self, c: char) {
        let after = |p| self.previous == Some(p);
        match (self.place, c) {
            (Place::Comment, '\n') | (Place::Single, '\'') => self.place = Place::Bare,
            (Place::Comment | Place::Single, _) => {}
            _ if std::mem::take(&mut self.escaped) => {}
            (_, '\\') => self.escaped = true,
            (_, '`') => self.backquoted = !self.backquoted,
            (Place::Double, '"') => self.place = Place::Bare,
            // `$'`, `$"`, `${`, `$((` and `((` have rules of their own, and so has `<<`.
            (Place::Bare, '\'' | '"') | (_, '{') if after('$') => {
                self.lost = Some(Hazard::Expanded);
            }
            (_, '(') if after('(') => self.lost = Some(Hazard::Expanded),
            // Quotes nest inside a `$(` that is quoted itself; this reading does not.
            (Place::Double, '(') if after('$') => self.lost = Some(Hazard::Expanded),
            (Place::Bare, '<') if after('<') => self.lost = Some(Hazard::HereDocument),
            (Place::Bare, '\'') => self.place = Place::Single,
            (Place::Bare, '"') => self.place = Place::Double,
            (Place::Bare, '#') if self.previous.is_none_or(|p| " \t\n;&|()".contains(p)) => {
                self.place = Place::Comment;
            }
            _ => {}
        }
    }

    /// A value was put in: quoted text, which ends as it began.
    fn fill(&mut self) {
        self.escaped = false;
        self.previous = Some('\'');
    }

    fn hazard(&self) -> Option<Hazard> {
        match self.place {
            _ if self.lost.is_some() => self.lost,
            Place::Comment => Some(Hazard::Comment),
            Place::Single | Place::Double => Some(Hazard::Quoted),
            Place::Bare if self.escaped => Some(Hazard::Escaped),
            Place::Bare if self.backquoted => Some(Hazard::Backquoted),
            Place::Bare if self.previous == Some('$') => Some(Hazard::Expanded),
            Place::Bare => None,
        }
    }
}
