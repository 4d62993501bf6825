//! The placeholders of a command, and whether a value is safe where each of them stands.

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
    /// The placeholder in the template, with its braces.
    pub bytes: Range<usize>,
    /// Why no value is safe here.
    pub hazard: Option<Hazard>,
}

/// A context in which a value in single quotes is not safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// Inside quotes: the value's own quotes would close them.
    Quoted,
    /// After a backslash, which would escape the opening quote.
    Escaped,
    /// Inside backquotes, which end at a backquote even within quotes.
    Backquoted,
    /// After `$` or within an expansion such as `$((`, where quotes have another meaning.
    Expanded,
    /// After `<<`: quotes have no meaning in a here-document.
    HereDocument,
    /// In a comment, which a line feed in the value would end.
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
        let mut shell = ShellLexer::default();
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

/// A partial model of a shell's lexer that tracks where a value is safe.
///
/// After something it does not model (expansions, here-documents), nothing is safe.
#[derive(Default)]
struct ShellLexer {
    context: Context,
    escaped: bool,
    backquoted: bool,
    /// Set once by something that is not modelled.
    unknown: Option<Hazard>,
    previous: Option<char>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Context {
    #[default]
    Bare,
    Single,
    Double,
    Comment,
}

impl ShellLexer {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            self.next(c);
            self.previous = Some(c);
        }
    }

    fn next(&mut self, c: char) {
        let after = |p| self.previous == Some(p);
        match (self.context, c) {
            (Context::Comment, '\n') | (Context::Single, '\'') => self.context = Context::Bare,
            (Context::Comment | Context::Single, _) => {}
            _ if std::mem::take(&mut self.escaped) => {}
            (_, '\\') => self.escaped = true,
            (_, '`') => self.backquoted = !self.backquoted,
            (Context::Double, '"') => self.context = Context::Bare,
            // `$'`, `$"`, `${`, `$((` and `((` have rules of their own, and so has `<<`.
            (Context::Bare, '\'' | '"') | (_, '{') if after('$') => {
                self.unknown = Some(Hazard::Expanded);
            }
            (_, '(') if after('(') => self.unknown = Some(Hazard::Expanded),
            // Quotes nest inside a quoted `$(`, which is not modelled.
            (Context::Double, '(') if after('$') => self.unknown = Some(Hazard::Expanded),
            (Context::Bare, '<') if after('<') => self.unknown = Some(Hazard::HereDocument),
            (Context::Bare, '\'') => self.context = Context::Single,
            (Context::Bare, '"') => self.context = Context::Double,
            (Context::Bare, '#') if self.previous.is_none_or(|p| " \t\n;&|()".contains(p)) => {
                self.context = Context::Comment;
            }
            _ => {}
        }
    }

    /// A value was inserted: quoted text, after which the context is unchanged.
    fn fill(&mut self) {
        self.escaped = false;
        self.previous = Some('\'');
    }

    fn hazard(&self) -> Option<Hazard> {
        match self.context {
            _ if self.unknown.is_some() => self.unknown,
            Context::Comment => Some(Hazard::Comment),
            Context::Single | Context::Double => Some(Hazard::Quoted),
            Context::Bare if self.escaped => Some(Hazard::Escaped),
            Context::Bare if self.backquoted => Some(Hazard::Backquoted),
            Context::Bare if self.previous == Some('$') => Some(Hazard::Expanded),
            Context::Bare => None,
        }
    }
}
