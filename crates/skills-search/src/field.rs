//! The fields of a document, and sets of them.

use std::fmt;

/// A part of a document with a weight of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// The id, split into words.
    Id,
    /// The title.
    Title,
    /// The description.
    Description,
    /// The trigger phrases.
    Triggers,
    /// The headings of the body.
    Headings,
    /// The body.
    Body,
    /// The meaning of a word: its vector, not its letters.
    Meaning,
}

/// How many fields contain words.
pub(crate) const FIELDS: usize = 6;

impl Field {
    /// The fields that contain words, in order.
    pub const WORDS: [Self; FIELDS] = [
        Self::Id,
        Self::Title,
        Self::Description,
        Self::Triggers,
        Self::Headings,
        Self::Body,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Title => "title",
            Self::Description => "description",
            Self::Triggers => "triggers",
            Self::Headings => "headings",
            Self::Body => "body",
            Self::Meaning => "meaning",
        }
    }
}

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(u8);

impl FieldSet {
    pub(crate) const BODY: Self = Self(1 << Field::Body as u8);
    pub(crate) const MEANING: Self = Self(1 << Field::Meaning as u8);

    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn insert(&mut self, field: usize) {
        self.0 |= 1 << field;
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it has no field.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fields, in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        let all = Field::WORDS.into_iter().chain([Field::Meaning]);
        all.filter(move |&field| self.0 & (1 << field as u8) != 0)
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, field) in self.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{}", field.as_str())?;
        }
        Ok(())
    }
}
