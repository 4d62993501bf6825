//! One map of the configuration: each setting is read on its own, and a bad one falls back alone.

use std::fmt;
use std::ops::RangeInclusive;

use skills_core::nearest;

use super::node::{Entry, Node, Place, Value};

/// What is wrong with the file, and where.
#[derive(Debug)]
pub struct Warning {
    place: Option<Place>,
    message: String,
}

impl Warning {
    pub(super) fn new(place: Option<Place>, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
        }
    }

    /// A warning about the whole file.
    pub(super) fn file(message: impl Into<String>) -> Self {
        Self::new(None, message)
    }
}

/// `3:9: message`, to follow the file's path and a colon.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => write!(f, " {}", self.message),
        }
    }
}

/// A map whose settings are taken out one by one.
pub struct Section<'w> {
    /// `mcp.`, or nothing for the whole file.
    prefix: &'static str,
    entries: Vec<Entry>,
    /// The names that were asked for.
    known: Vec<&'static str>,
    /// How many of them the map has.
    found: usize,
    warnings: &'w mut Vec<Warning>,
}

impl<'w> Section<'w> {
    pub fn new(prefix: &'static str, entries: Vec<Entry>, warnings: &'w mut Vec<Warning>) -> Self {
        Self {
            prefix,
            entries,
            known: Vec::new(),
            found: 0,
            warnings,
        }
    }

    /// Takes a setting: `expected` completes "must be". An empty one counts as absent, because a
    /// key whose values are all commented out is common.
    pub fn take<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Option<T> {
        let node = self.node(name)?;
        let value = read(&node);
        if value.is_none() {
            let message = format!("must be {expected}, not {node}; its default applies");
            self.warn(name, node.place, &message);
        }
        value
    }

    /// Takes a number in this range.
    pub fn take_number(
        &mut self,
        name: &'static str,
        range: &RangeInclusive<usize>,
    ) -> Option<usize> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        self.take(name, &expected, |node| {
            let number = usize::try_from(node.number()?).ok()?;
            range.contains(&number).then_some(number)
        })
    }

    /// Takes a map of settings.
    pub fn take_map(&mut self, name: &'static str) -> Option<Vec<Entry>> {
        let node = self.node(name)?;
        if let Value::Map(entries) = node.value {
            return Some(entries);
        }
        let message = format!("must be a map of settings, not {node}; its defaults apply");
        self.warn(name, node.place, &message);
        None
    }

    /// A section of this one. The closure reads it; absent or bad, it is empty.
    pub fn section<T>(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut Section<'_>) -> T,
    ) -> T {
        let entries = self.take_map(name).unwrap_or_default();
        let mut section = Section::new(prefix, entries, self.warnings);
        let value = read(&mut section);
        section.finish();
        value
    }

    /// Warns about a setting by its name.
    pub fn warn(&mut self, name: &str, place: Place, message: &str) {
        let prefix = self.prefix;
        let message = format!("`{prefix}{name}` {message}");
        self.push(Warning::new(Some(place), message));
    }

    /// Adds a warning.
    pub fn push(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// How many warnings there are so far.
    pub fn warning_count(&self) -> usize {
        self.warnings.len()
    }

    /// Warns about the settings that were not asked for; returns how many the others are.
    pub fn finish(mut self) -> usize {
        for entry in std::mem::take(&mut self.entries) {
            let known = self.known.iter().copied();
            let message = match nearest(&entry.name, known) {
                Some(name) => format!(
                    "is not a setting; ignored. Did you mean `{}{name}`?",
                    self.prefix
                ),
                None => "is not a setting; ignored".to_owned(),
            };
            self.warn(&entry.name, entry.place, &message);
        }
        self.found
    }

    fn node(&mut self, name: &'static str) -> Option<Node> {
        self.known.push(name);
        let found = self.entries.iter().position(|entry| entry.name == name)?;
        let node = self.entries.remove(found).node;
        self.found += 1;
        (!matches!(node.value, Value::Null)).then_some(node)
    }
}
