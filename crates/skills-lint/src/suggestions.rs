//! What dead links may have meant.

use std::collections::BTreeSet;

use skills_core::nearest;

use crate::limits::MAX_COMPARED_CHARS;

/// The suggestions of a run.
pub struct Suggestions {
    /// How many characters may be compared.
    left: usize,
}

impl Default for Suggestions {
    fn default() -> Self {
        Self {
            left: MAX_COMPARED_CHARS,
        }
    }
}

impl Suggestions {
    /// The target that is nearest to a dead one. A comparison with all targets that would cost
    /// more than what is left finds nothing.
    pub fn find<'a>(&mut self, dead: &str, targets: &'a BTreeSet<String>) -> Option<&'a str> {
        let cost = dead.len().saturating_mul(targets.len());
        self.left = self.left.checked_sub(cost)?;
        nearest(dead, targets.iter().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_budget_for_its_suggestions() {
        let targets: BTreeSet<_> = ["mail".to_owned(), "resend/email".to_owned()].into();
        // Each compares five letters with two targets.
        let mut suggestions = Suggestions { left: 25 };
        let found: Vec<_> = (0..3)
            .map(|_| suggestions.find("maill", &targets))
            .collect();
        assert_eq!(found, [Some("mail"), Some("mail"), None]);
        assert_eq!(suggestions.find("ml", &targets), None, "not near enough");
        assert_eq!(suggestions.left, 1);
    }
}
