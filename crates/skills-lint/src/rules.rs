//! The table of all rules, by group.

pub mod format;
pub mod links;
pub mod routing;
pub mod trust;

use crate::rule::Rule;

/// Every rule, in order of their codes within each group.
pub const RULES: &[&[&Rule]] = &[format::RULES, links::RULES, routing::RULES, trust::RULES];

/// The rule with a code, in any case.
pub fn find_rule(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Every rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().flat_map(|group| group.iter().copied())
}
