//! Slugs: from a skill's name to a segment of an id, `[a-z0-9_-]{1,64}`.
//!
//! A name without a slug, or with the slug of another name, is an error: no letter is dropped or
//! transliterated.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::limits::SLUG_MAX;

/// Why a name has no slug of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlugError {
    /// A letter or number outside ASCII; without it the slug would be another word.
    #[error(
        "the name has {0:?}, which an id cannot contain; label the plane with ASCII letters and digits"
    )]
    Letter(char),
    /// Nothing but punctuation and spaces.
    #[error("the name has no letter or digit to make an id of")]
    Empty,
    /// Longer than [`SLUG_MAX`].
    #[error("the name makes an id of {0} characters; at most {SLUG_MAX} are allowed")]
    TooLong(usize),
    /// An earlier name has the same slug.
    #[error("the id `{slug}` is already that of the skill {first:?}")]
    Clash {
        /// The slug of both.
        slug: String,
        /// The earlier name.
        first: String,
    },
}

/// The slugs of a list of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slugs<'a> {
    /// The index and the slug of each name that has one.
    pub entries: Vec<(usize, String)>,
    /// The index, the name and the reason for each name without a slug.
    pub skipped: Vec<(usize, &'a str, SlugError)>,
}

/// The slug of a name: lowercase ASCII, with `-` for every run of other characters.
pub fn slug(name: &str) -> Result<String, SlugError> {
    let mut slug = String::new();
    let mut gap = false;
    for c in name.chars() {
        match c {
            'a'..='z' | '0'..='9' | 'A'..='Z' | '_' | '-' => {
                if std::mem::take(&mut gap) && !slug.is_empty() && !slug.ends_with('-') && c != '-'
                {
                    slug.push('-');
                }
                slug.push(c.to_ascii_lowercase());
            }
            c if c.is_alphanumeric() => return Err(SlugError::Letter(c)),
            _ => gap = true,
        }
    }
    if !slug.bytes().any(|b| b.is_ascii_alphanumeric()) {
        return Err(SlugError::Empty);
    }
    if slug.len() > SLUG_MAX {
        Err(SlugError::TooLong(slug.len()))
    } else {
        Ok(slug)
    }
}

/// The slug of each name. Of names with the same slug, the first one has it.
pub fn slugs<'a>(names: impl IntoIterator<Item = &'a str>) -> Slugs<'a> {
    let mut slugs = Slugs::default();
    let mut owner: HashMap<String, &str> = HashMap::new();
    for (at, name) in names.into_iter().enumerate() {
        let error = match slug(name) {
            Err(error) => error,
            Ok(slug) => match owner.entry(slug) {
                Entry::Occupied(taken) => {
                    let first = (*taken.get()).to_owned();
                    SlugError::Clash {
                        slug: taken.key().clone(),
                        first,
                    }
                }
                Entry::Vacant(free) => {
                    slugs.entries.push((at, free.key().clone()));
                    free.insert(name);
                    continue;
                }
            },
        };
        slugs.skipped.push((at, name, error));
    }
    slugs
}

#[cfg(test)]
mod tests {
    use super::{slug, slugs};

    #[track_caller]
    fn check(name: &str, expected: &str) {
        let got = slug(name).unwrap_or_else(|error| error.to_string());
        assert_eq!(got, expected, "for {name:?}");
    }

    #[test]
    fn names_become_segments() {
        check("search", "search");
        check("Code Review", "code-review");
        check("  Code / Review!  ", "code-review");
        check("a - b", "a-b");
        check("a_b-c", "a_b-c");
        check("--x--", "--x--");
        check("skill-4.5", "skill-4-5");
        check("skill--7", "skill--7");
        check("fix 🐛 fast", "fix-fast");
        check(&"a".repeat(64), &"a".repeat(64));
    }

    #[test]
    fn names_without_a_slug_are_errors_with_a_reason() {
        let letter = |c| {
            format!(
                "the name has {c:?}, which an id cannot contain; label the plane with ASCII letters and digits"
            )
        };
        check("café", &letter('é'));
        check("搜索", &letter('搜'));
        check("", "the name has no letter or digit to make an id of");
        check(" !? ", "the name has no letter or digit to make an id of");
        check("_-_", "the name has no letter or digit to make an id of");
        check(
            &"a".repeat(65),
            "the name makes an id of 65 characters; at most 64 are allowed",
        );
    }

    #[test]
    fn of_names_with_the_same_slug_the_first_has_it() {
        let found = slugs(["Code Review", "é", "code-review", "other"]);
        assert_eq!(
            found.entries,
            [(0, "code-review".to_owned()), (3, "other".to_owned())]
        );
        let skipped: Vec<_> = found
            .skipped
            .iter()
            .map(|(at, name, error)| format!("{at} {name}: {error}"))
            .collect();
        assert_eq!(
            skipped[1],
            "2 code-review: the id `code-review` is already that of the skill \"Code Review\""
        );
        assert_eq!(skipped.len(), 2);
    }
}
